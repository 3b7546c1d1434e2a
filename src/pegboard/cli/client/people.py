"""The accounts of a board that the command has opened, or of a server."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pegboard.cli.client.port import Answer
from pegboard.cli.client.rights import LocalQuotas, LocalRoles, RemoteQuotas, RemoteRoles
from pegboard.core.ports.accounts.identity_store import PersonChange
from pegboard.core.principal import LOCAL, Principal

if TYPE_CHECKING:
    from pegboard.features.identity import Identity

_NO_CONTENT = 204


class LocalPeople:
    """Implements `PeopleClient` on the stored data of this machine.

    Args:
        identity: The accounts.
        principal: The caller; `local` makes links, and changes nobody.
    """

    def __init__(self, identity: "Identity", principal: Principal = LOCAL) -> None:
        self._identity = identity
        self._principal = principal

    @property
    def quotas(self) -> LocalQuotas:
        """The quotas of accounts and organisations."""
        return LocalQuotas(self._identity, self._principal)

    @property
    def roles(self) -> LocalRoles:
        """The roles of organisations."""
        return LocalRoles(self._identity, self._principal)

    async def list(self) -> Answer:
        """The people that the caller may see."""
        from pegboard.features.identity.schemas import person_to_dict

        people = await self._identity.accounts.list(principal=self._principal)
        return {"people": [person_to_dict(user) for user in people]}

    async def make_link(self, person: str, organisation: str, roles: Sequence[str]) -> Answer:
        """Make a one-time link."""
        from pegboard.features.identity.accounts import LinkRequest
        from pegboard.features.identity.schemas import link_to_dict

        wanted = LinkRequest(person=person, organisation=organisation, roles=roles)
        new = await self._identity.accounts.make_link(wanted, principal=self._principal)
        return link_to_dict(new, public_url="")

    async def change(self, person: str, change: PersonChange) -> Answer:
        """Disable a person, enable one again, or make one an operator or not."""
        from pegboard.features.identity.schemas import person_to_dict

        changed = await self._identity.accounts.change(person, change, principal=self._principal)
        return person_to_dict(changed)

    async def list_sessions(self) -> Answer:
        """The browsers in which the caller is signed in."""
        from pegboard.features.identity.account_schemas import session_to_dict

        found = await self._identity.own.list_sessions(session=None, principal=self._principal)
        return {"sessions": [session_to_dict(item) for item in found]}

    async def end_session(self, session: str) -> None:
        """Sign the caller out of one browser; an empty id means all."""
        own = self._identity.own
        if session:
            await own.end_session(session, principal=self._principal)
        else:
            await own.end_other_sessions(session=None, principal=self._principal)


class RemotePeople:
    """Implements `PeopleClient` over the HTTP API.

    Args:
        ask: Sends a request; returns the status and the answer.
        check: Returns the answer, or raises the error that it describes.
        url: The address of the server, for links.
    """

    def __init__(
        self,
        ask: Callable[..., Awaitable[tuple[int, Answer]]],
        check: Callable[[int, Answer], Answer],
        *,
        url: str,
    ) -> None:
        self._ask = ask
        self._check = check
        self._url = url.rstrip("/")

    @property
    def quotas(self) -> RemoteQuotas:
        """The quotas of accounts and organisations."""
        return RemoteQuotas(self._ask, self._check)

    @property
    def roles(self) -> RemoteRoles:
        """The roles of organisations."""
        return RemoteRoles(self._ask, self._check)

    async def list(self) -> Answer:
        """The people that the caller may see."""
        return self._check(*await self._ask("GET", "/people"))

    async def make_link(self, person: str, organisation: str, roles: Sequence[str]) -> Answer:
        """Make a one-time link."""
        body: dict[str, Any] = {"person": person, "organisation": organisation, "roles": [*roles]}
        made = self._check(*await self._ask("POST", "/people/links", body=body))
        return {**made, "url": made["url"] or f"{self._url}{made['path']}"}

    async def change(self, person: str, change: PersonChange) -> Answer:
        """Disable a person, enable one again, or make one an operator or not."""
        path = f"/people/{quote(person, safe='')}"
        body = {"disabled": change.disabled, "operator": change.operator}
        return self._check(*await self._ask("PATCH", path, body=body))

    async def list_sessions(self) -> Answer:
        """The browsers in which the caller is signed in."""
        return self._check(*await self._ask("GET", "/account/sessions"))

    async def end_session(self, session: str) -> None:
        """Sign the caller out of one browser; an empty id means all."""
        path = f"/account/sessions/{quote(session, safe='')}" if session else "/account/sessions"
        status, answer = await self._ask("DELETE", path)
        if status != _NO_CONTENT:
            self._check(status, answer)
