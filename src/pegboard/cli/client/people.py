"""The accounts of a board that the command has opened, or of a server."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pegboard.cli.client.port import Answer

if TYPE_CHECKING:
    from pegboard.features.identity import Identity


class LocalPeople:
    """Implements `PeopleClient` on the stored data of this machine, as the principal `local`.

    Args:
        identity: The accounts.
    """

    def __init__(self, identity: "Identity") -> None:
        self._identity = identity

    async def list(self) -> Answer:
        """All people."""
        from pegboard.core.principal import LOCAL
        from pegboard.features.identity.schemas import person_to_dict

        people = await self._identity.accounts.list(principal=LOCAL)
        return {"people": [person_to_dict(user) for user in people]}

    async def make_link(self, person: str, organisation: str, roles: Sequence[str]) -> Answer:
        """Make a link for the first account, or for a person who is locked out."""
        from pegboard.core.principal import LOCAL
        from pegboard.features.identity.accounts import LinkRequest
        from pegboard.features.identity.schemas import link_to_dict

        wanted = LinkRequest(person=person, organisation=organisation, roles=roles)
        new = await self._identity.accounts.make_link(wanted, principal=LOCAL)
        return link_to_dict(new, public_url="")

    async def change(self, person: str, *, disabled: bool) -> Answer:
        """Refused: only an operator who has signed in keeps people out."""
        from pegboard.core.principal import LOCAL
        from pegboard.features.identity.schemas import person_to_dict

        accounts = self._identity.accounts
        change = accounts.disable if disabled else accounts.enable
        return person_to_dict(await change(person, principal=LOCAL))


class RemotePeople:
    """Implements `PeopleClient` over the HTTP API.

    Args:
        ask: Sends a request; returns the status and the answer.
        check: Returns the answer, or raises the error that it describes.
    """

    def __init__(
        self,
        ask: Callable[..., Awaitable[tuple[int, Answer]]],
        check: Callable[[int, Answer], Answer],
    ) -> None:
        self._ask = ask
        self._check = check

    async def list(self) -> Answer:
        """The people that the caller may see."""
        return self._check(*await self._ask("GET", "/people"))

    async def make_link(self, person: str, organisation: str, roles: Sequence[str]) -> Answer:
        """Make a one-time link."""
        body: dict[str, Any] = {"person": person, "organisation": organisation, "roles": [*roles]}
        return self._check(*await self._ask("POST", "/people/links", body=body))

    async def change(self, person: str, *, disabled: bool) -> Answer:
        """Disable a person, or enable one again."""
        path = f"/people/{quote(person, safe='')}"
        return self._check(*await self._ask("PATCH", path, body={"disabled": disabled}))
