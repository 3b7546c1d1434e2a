"""Accounts for the tests of this room: Ada founds Acme, Bob is a member of it."""

from collections.abc import Awaitable, Sequence
from typing import Any

import pytest
from argon2 import PasswordHasher

from pegboard import ToolRegistry
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.event import BoardChanged, Event
from pegboard.core.ports.accounts.identity_store import IdentityStore, User
from pegboard.core.ports.audit_store import Prove, skip_proof
from pegboard.core.ports.authenticator import AuthenticatedCaller, SentCredentials
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccountNotFound
from pegboard.execution.environment import CallEnvironment
from pegboard.features.identity import Identity
from pegboard.features.identity.accounts import LinkRequest, NewAccount
from pegboard.features.identity.passwords import Passwords
from pegboard.storage.memory.roles import MemoryRoles
from pegboard.testing import FakeClock

PASSWORD = "correct horse"
HOME = "192.0.2.1"


class WatchedStore:
    """A store that notes what it is asked for."""

    def __init__(self, store: IdentityStore) -> None:
        self._store = store
        self.asked: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)

        def ask(*args: Any, **kwargs: Any) -> Any:
            self.asked.append((name, f"{args} {kwargs}"))
            return found(*args, **kwargs)

        return ask

    async def take(self, refused: Awaitable[Any]) -> list[tuple[str, str]]:
        """What it was asked for until something that is not there was refused."""
        self.asked.clear()
        with pytest.raises(AccountNotFound):
            await refused
        return list(self.asked)


class Server:
    """The accounts of one server, over a store that others may share."""

    def __init__(
        self, store: IdentityStore, clock: FakeClock, *, prove: Prove = skip_proof
    ) -> None:
        environment = CallEnvironment(now=clock.time, monotonic=clock.monotonic)
        self.registry = ToolRegistry(environment=environment)
        self.events: list[BoardChanged] = []
        self.registry.environment.emitter.add(self)
        self.identity = Identity(
            store,
            lambda: self.registry.environment,
            roles=MemoryRoles(ClosableLock()),
            prove=prove,
            passwords=cheap_passwords(),
        )

    def on_event(self, event: Event) -> None:
        if isinstance(event, BoardChanged):
            self.events.append(event)

    async def found(self, **changes: Any) -> User:
        """Make the first account: Ada's, with Acme."""
        new = await self.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
        return await self.identity.accounts.join(an_account(new.token, **changes))

    async def invite(
        self, handle: str, *, roles: Sequence[str] = ("member",), organisation: str = "acme"
    ) -> Principal:
        """Make an account by an invitation, and sign it in."""
        new = await self.identity.accounts.make_link(
            LinkRequest(organisation=organisation, roles=roles), principal=await self.caller("ada")
        )
        account = an_account(new.token, handle=handle, email="", organisation="")
        await self.identity.accounts.join(account)
        return await self.caller(handle)

    async def caller(self, handle: str, password: str = PASSWORD) -> Principal:
        """The principal of a person who signs in."""
        session = await self.identity.sign_ins.sign_in(handle, password, address=HOME)
        return (await self.caller_of(cookie=session.cookie)).principal

    async def caller_of(self, *, key: str | None = None, cookie: str = "") -> AuthenticatedCaller:
        """The caller of a key or a cookie; fails where there is none."""
        found = await self.identify(key=key, cookie=cookie)
        assert isinstance(found, AuthenticatedCaller), found
        return found

    async def identify(self, *, key: str | None = None, cookie: str = "") -> Any:
        """The caller of a key or a cookie, or why there is none."""
        sent = SentCredentials(bearer=key, cookies=(cookie,) if cookie else ())
        return await self.identity.callers.identify(sent)


def cheap_passwords() -> Passwords:
    """Hashes as they are made, only faster."""
    return Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


def an_account(link: str, **changes: Any) -> NewAccount:
    fields: dict[str, Any] = {
        "handle": "ada",
        "password": PASSWORD,
        "name": "Ada L.",
        "email": "ada@acme.example",
        "organisation": "acme",
    }
    return NewAccount(link=link, **(fields | changes))
