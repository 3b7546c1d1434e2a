"""The caller's credentials on a board that the command has opened, or on a server."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pegboard.cli.client.port import Answer

if TYPE_CHECKING:
    from pegboard.core.principal import Principal
    from pegboard.features.credentials import Credentials


class LocalCredentials:
    """Implements `CredentialsClient` on the board of this machine.

    Args:
        service: The credentials of the board.
        principal: The caller.
    """

    def __init__(self, service: "Credentials", principal: "Principal") -> None:
        self._service = service
        self._principal = principal

    async def list(self) -> Answer:
        """The credentials of the caller."""
        from pegboard.features.credentials.schemas import credential_to_dict

        found = await self._service.list(principal=self._principal)
        return {"credentials": [credential_to_dict(item) for item in found]}

    async def add(self, wanted: Mapping[str, Any]) -> Answer:
        """Store a credential."""
        from pegboard.features.credentials.schemas import AddCredential, credential_to_dict

        new = AddCredential.model_validate(dict(wanted)).to_new()
        return credential_to_dict(await self._service.add(new, principal=self._principal))

    async def choose(self, id: str) -> Answer:  # noqa: A002 - it is known by its id
        """Make a credential the default of its source."""
        from pegboard.features.credentials.schemas import credential_to_dict
        from pegboard.features.credentials.service import CredentialChange

        wanted = CredentialChange(is_default=True)
        return credential_to_dict(await self._service.change(id, wanted, principal=self._principal))

    async def remove(self, id: str) -> Answer:  # noqa: A002 - it is known by its id
        """Remove a credential."""
        from pegboard.features.credentials.schemas import credential_to_dict

        return credential_to_dict(await self._service.remove(id, principal=self._principal))

    async def rotate(self) -> Answer:
        """Encrypt all credentials with the newest master key."""
        return {"rotated": await self._service.rotate(principal=self._principal)}


class RemoteCredentials:
    """Implements `CredentialsClient` over the HTTP API.

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
        """The credentials of the caller."""
        return self._check(*await self._ask("GET", "/credentials"))

    async def add(self, wanted: Mapping[str, Any]) -> Answer:
        """Store a credential."""
        return self._check(*await self._ask("POST", "/credentials", body=dict(wanted)))

    async def choose(self, id: str) -> Answer:  # noqa: A002 - as above
        """Make a credential the default of its source."""
        path = f"/credentials/{quote(id, safe='')}"
        return self._check(*await self._ask("PATCH", path, body={"is_default": True}))

    async def remove(self, id: str) -> Answer:  # noqa: A002 - as above
        """Remove a credential."""
        path = f"/credentials/{quote(id, safe='')}"
        return self._check(*await self._ask("DELETE", path))

    async def rotate(self) -> Answer:
        """Encrypt all credentials with the newest master key."""
        return self._check(*await self._ask("POST", "/credentials/rotate"))
