"""What a protected server says of the token that a request has lacked (RFC 6750, section 3)."""

import re
from collections import ChainMap
from collections.abc import Mapping

_PART = re.compile(r'([a-z0-9_-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s",]+)))?', re.IGNORECASE)
"""A parameter, or the name of a scheme, which has no value."""
_MAX_HEADER = 4_000


def read_challenge(header: str) -> Mapping[str, str]:
    """The parameters of a `WWW-Authenticate` header, by their names in lower case.

    Of several challenges, the first that has a parameter says its value.
    """
    return dict(ChainMap(*_read_challenges(header)))


def find_missing_scopes(header: str) -> tuple[str, ...]:
    """The scopes that a request has lacked (403); empty where it was refused for another reason."""
    for asked in _read_challenges(header):
        if asked.get("error") == "insufficient_scope":
            return tuple(asked.get("scope", "").split())
    return ()


def _read_challenges(header: str) -> list[dict[str, str]]:
    """The parameters of each challenge: servers offer several schemes in one header."""
    header, end = header[:_MAX_HEADER], 0
    challenges: list[dict[str, str]] = [{}]
    for match in _PART.finditer(header):
        name, quoted, token = match.groups()
        if quoted is not None or token is not None:
            challenges[-1].setdefault(name.lower(), quoted or token or "")
        elif "," in header[end : match.start()]:  # else the rest of a value without quotes
            challenges.append({})
        end = match.end()
    return challenges
