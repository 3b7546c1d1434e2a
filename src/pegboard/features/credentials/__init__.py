"""Credentials of callers: stored, connected, found for calls, and refreshed."""

from pegboard.features.credentials.connections import Connections
from pegboard.features.credentials.parts import CredentialParts, CredentialTarget, FindTarget
from pegboard.features.credentials.resolver import CredentialResolver
from pegboard.features.credentials.service import Credentials

__all__ = [
    "Connections",
    "CredentialParts",
    "CredentialResolver",
    "CredentialTarget",
    "Credentials",
    "FindTarget",
]
