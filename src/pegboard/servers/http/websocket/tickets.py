"""Tickets for `/ws`: one-time credentials of web pages, since browsers cannot send the token."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from itertools import takewhile
from urllib.parse import parse_qsl, urlencode

from starlette.types import Scope

from pegboard.core.principal import Principal
from pegboard.errors import Overloaded

SOCKET_PATHS = ("/ws", "/v1/ws")
"""Paths that accept a ticket."""

LIFETIME = 30.0
"""Seconds between the request for a ticket and its use."""

MAX_TICKETS = 1024
"""Maximum number of unused tickets."""

_FIELD = "ticket"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ticket:
    principal: Principal
    origin: str | None
    until: float


class Tickets:
    """Issues tickets, and accepts each of them once.

    ```python
    tickets = Tickets()
    ticket = tickets.give(caller, origin="https://board.example")
    tickets.redeem(ticket, origin="https://board.example")  # the caller; None from now on
    ```

    Only the hash of a ticket is stored. Tickets are valid in this process: other servers do not
    know them.

    Args:
        lifetime: Seconds until a ticket expires.
        most: Maximum number of unused tickets.
        now: Monotonic clock.
    """

    def __init__(
        self,
        *,
        lifetime: float = LIFETIME,
        most: int = MAX_TICKETS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lifetime = lifetime
        self._most = most
        self._now = now
        self._given: dict[bytes, _Ticket] = {}

    def give(self, principal: Principal, *, origin: str | None) -> str:
        """Issue a ticket for one connection of this caller.

        Args:
            principal: The caller of the connection.
            origin: Origin of the page that asked; only that page may use the ticket. None, if no
                page asked, allows any.

        Raises:
            Overloaded: There are too many unused tickets.
        """
        now = self._now()
        self._forget_old(now)
        if len(self._given) >= self._most:
            oldest = next(iter(self._given.values()))
            raise Overloaded(
                f"{self._most} unused tickets are the maximum.", retry_after=oldest.until - now
            )
        ticket = secrets.token_urlsafe(32)
        until = now + self.lifetime
        self._given[_hash(ticket)] = _Ticket(principal=principal, origin=origin, until=until)
        return ticket

    def redeem(self, ticket: str, *, origin: str | None) -> Principal | None:
        """The caller of a ticket, or None if it is invalid; the ticket is used up in any case."""
        given = self._given.pop(_hash(ticket), None)
        if given is None or given.until <= self._now():
            return None
        return given.principal if given.origin in {None, origin} else None

    def _forget_old(self, now: float) -> None:
        """Drop expired tickets; all live equally long, so the oldest come first."""
        for key in list(takewhile(lambda key: self._given[key].until <= now, self._given)):
            del self._given[key]


def take_ticket(scope: Scope) -> str | None:
    """The ticket of a handshake; it is removed from the URL, which a server may log."""
    if _FIELD.encode() not in scope.get("query_string", b""):
        return None
    fields = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    brought = [value for name, value in fields if name == _FIELD]
    others = [(name, value) for name, value in fields if name != _FIELD]
    scope["query_string"] = urlencode(others).encode("latin-1")
    return brought[-1] if brought else None


def _hash(ticket: str) -> bytes:
    return sha256(ticket.encode("utf-8", "surrogatepass")).digest()
