"""Tickets for `/ws`: what a web page brings instead of the token, which a browser cannot send."""

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
"""Where a ticket is good, and nowhere else."""

LIFETIME = 30.0
"""Seconds from the request for a ticket to the handshake that brings it."""

MAX_TICKETS = 1024
"""Tickets that wait to be used."""

_FIELD = "ticket"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ticket:
    principal: Principal
    origin: str | None
    until: float


class Tickets:
    """Gives tickets, and takes each back once.

    ```python
    tickets = Tickets()
    ticket = tickets.give(caller, origin="https://board.example")
    tickets.redeem(ticket, origin="https://board.example")  # the caller; None from now on
    ```

    What is kept of a ticket is its hash, so that nothing here opens a connection. It lives in this
    process: another server does not know it.

    Args:
        lifetime: Seconds for which a ticket is good.
        most: Tickets that wait to be used.
        now: Seconds that only grow.
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
        """A ticket for one connection of this caller.

        Args:
            principal: Whose calls those of the connection will be.
            origin: The page that asked, as its browser says; only that page may bring the ticket.
                None where no page asked: any may bring it.

        Raises:
            Overloaded: Too many tickets wait to be used.
        """
        now = self._now()
        self._forget_old(now)
        if len(self._given) >= self._most:
            oldest = next(iter(self._given.values()))
            raise Overloaded(
                f"{self._most} tickets wait to be used.", retry_after=oldest.until - now
            )
        ticket = secrets.token_urlsafe(32)
        until = now + self.lifetime
        self._given[_hash(ticket)] = _Ticket(principal=principal, origin=origin, until=until)
        return ticket

    def redeem(self, ticket: str, *, origin: str | None) -> Principal | None:
        """Who may connect with this ticket, if anybody; whatever comes of it, it is used now."""
        given = self._given.pop(_hash(ticket), None)
        if given is None or given.until <= self._now():
            return None
        return given.principal if given.origin in {None, origin} else None

    def _forget_old(self, now: float) -> None:
        """All live equally long, so that the oldest stand first."""
        for key in list(takewhile(lambda key: self._given[key].until <= now, self._given)):
            del self._given[key]


def take_ticket(scope: Scope) -> str | None:
    """The ticket of a handshake; it is gone from the address then, which a server may log."""
    if _FIELD.encode() not in scope.get("query_string", b""):
        return None
    fields = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    brought = [value for name, value in fields if name == _FIELD]
    others = [(name, value) for name, value in fields if name != _FIELD]
    scope["query_string"] = urlencode(others).encode("latin-1")
    return brought[-1] if brought else None


def _hash(ticket: str) -> bytes:
    return sha256(ticket.encode("utf-8", "surrogatepass")).digest()
