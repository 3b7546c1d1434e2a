"""The ticket of a WebSocket's handshake."""

from urllib.parse import parse_qsl, urlencode

from starlette.types import Scope

SOCKET_PATHS = ("/ws", "/v1/ws")
"""Paths that accept a ticket."""

_FIELD = "ticket"


def take_ticket(scope: Scope) -> str | None:
    """The ticket of a handshake; it is removed from the URL, which a server may log."""
    if _FIELD.encode() not in scope.get("query_string", b""):
        return None
    fields = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    brought = [value for name, value in fields if name == _FIELD]
    others = [(name, value) for name, value in fields if name != _FIELD]
    scope["query_string"] = urlencode(others).encode("latin-1")
    return brought[-1] if brought else None
