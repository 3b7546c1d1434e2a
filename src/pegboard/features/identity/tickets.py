"""Tickets for WebSockets: one-time credentials of web pages, since browsers cannot send a token."""

from pegboard.core.ports.accounts.identity_store import TemporaryRecord
from pegboard.core.principal import Principal
from pegboard.errors import Overloaded
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.secrets import create_secret, digest_of

LIFETIME = 30.0
"""Seconds between the request for a ticket and its use."""

MAX_TICKETS = 256
"""Unused tickets of one caller."""

_KIND = "ticket"


class SocketTickets:
    """Issues tickets, and accepts each of them once, on every server.

    ```python
    ticket = await tickets.give(caller, credential, origin="https://board.example")
    await tickets.redeem(ticket, origin="https://board.example")  # the credential; then None
    ```

    Only the digest of a ticket is stored. It names the key or session with which it was asked for,
    so that a connection has the rights of the moment in which it begins.

    Args:
        parts: The store and the clock.
    """

    def __init__(self, parts: IdentityParts) -> None:
        self._parts = parts

    async def give(self, principal: Principal, credential: str, *, origin: str | None) -> str:
        """Issue a ticket for one connection of this caller.

        Args:
            principal: The caller of the connection.
            credential: By which key or session it is the caller; empty for `local`.
            origin: Origin of the page that asked; only that page may use the ticket. None, if no
                page asked, allows any.

        Raises:
            Overloaded: The caller has too many unused tickets.
        """
        now, name = self._parts.now(), f"ticket:{principal.owner}"
        wait = await self._parts.store.count_attempt({name: MAX_TICKETS}, at=now, window=LIFETIME)
        if wait:
            raise Overloaded(f"{MAX_TICKETS} unused tickets are the maximum.", retry_after=wait)
        ticket = create_secret()
        body = {"credential": credential, "origin": origin, "name": name}
        await self._parts.store.put_record(
            TemporaryRecord(kind=_KIND, id=digest_of(ticket), expires_at=now + LIFETIME, body=body)
        )
        return ticket

    async def redeem(self, ticket: str, *, origin: str | None) -> str | None:
        """The credential of a ticket, or None if it is invalid; it is used up in any case."""
        digest, store = digest_of(ticket), self._parts.store
        found = await store.take_record(_KIND, digest, at=self._parts.now()) if digest else None
        if found is None:
            return None
        await store.take_back_attempt(found.body["name"])
        allowed = found.body["origin"]
        return found.body["credential"] if allowed in {None, origin} else None
