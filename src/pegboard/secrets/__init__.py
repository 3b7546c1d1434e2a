"""Credentials at rest, and tokens of OAuth 2 servers."""

from pegboard.secrets.envelope import EnvelopeSealer
from pegboard.secrets.master_keys import FileKeys, GivenKeys, MasterKeys, MemoryKeys, read_keys
from pegboard.secrets.oauth_discovery import HttpOAuthDiscovery
from pegboard.secrets.token_endpoint import HttpTokenEndpoint

__all__ = [
    "EnvelopeSealer",
    "FileKeys",
    "GivenKeys",
    "HttpOAuthDiscovery",
    "HttpTokenEndpoint",
    "MasterKeys",
    "MemoryKeys",
    "read_keys",
]
