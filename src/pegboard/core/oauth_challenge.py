"""What a protected server says of the token that a request has lacked (RFC 6750, section 3)."""

import re
from collections.abc import Mapping

_PARAMETER = re.compile(r'\b([a-z_]+)\s*=\s*(?:"([^"]*)"|([^\s",]+))', re.IGNORECASE)
_MAX_HEADER = 4_000


def read_challenge(header: str) -> Mapping[str, str]:
    """The parameters of a `WWW-Authenticate` header, by their names in lower case."""
    found = _PARAMETER.finditer(header[:_MAX_HEADER])
    return {match[1].lower(): match[2] or match[3] or "" for match in found}


def find_missing_scopes(header: str) -> tuple[str, ...]:
    """The scopes that a request has lacked (403); empty where it was refused for another reason."""
    asked = read_challenge(header)
    if asked.get("error") != "insufficient_scope":
        return ()
    return tuple(asked.get("scope", "").split())
