"""Approved and held definitions of a board that the command has opened, or of a server."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from pegboard.cli.client.port import Answer
from pegboard.errors import DefinitionNotHeld

if TYPE_CHECKING:
    from pegboard.core.principal import Principal
    from pegboard.features.pins import Pins

_PAGE = 500


class LocalPins:
    """Implements `PinsClient` on the board of this machine.

    Args:
        service: The definitions of the board.
        principal: The caller.
    """

    def __init__(self, service: "Pins", principal: "Principal") -> None:
        self._service = service
        self._principal = principal

    async def list(self, *, source: str, limit: int, cursor: str) -> Answer:
        """One page of approved definitions."""
        from pegboard.features.pins.schemas import pins_to_dict

        return pins_to_dict(
            await self._service.list_pins(
                source=source, limit=limit, cursor=cursor, principal=self._principal
            )
        )

    async def list_held(self, *, source: str, state: str, limit: int, cursor: str) -> Answer:
        """One page of held definitions."""
        from pegboard.features.pins.schemas import definitions_to_dict

        page = await self._service.list_held(
            source=source, state=state, limit=limit, cursor=cursor, principal=self._principal
        )
        return definitions_to_dict(page)

    async def show(self, source: str, tool: str) -> Answer:
        """The held definition of a tool."""
        from pegboard.features.pins.schemas import definition_to_dict

        return definition_to_dict(await self._service.get(source, tool, principal=self._principal))

    async def decide(
        self, source: str, tool: str, decision: Literal["approve", "reject"], *, digest: str
    ) -> Answer:
        """Approve or reject a held definition."""
        from pegboard.features.pins.schemas import definition_to_dict

        pins, caller = self._service, self._principal
        wanted = digest or (await pins.get(source, tool, principal=caller)).digest
        held = await pins.decide(source, tool, decision, digest=wanted, principal=caller)
        state = "approved" if decision == "approve" else "rejected"
        return definition_to_dict(held, state=state)

    async def approve_all(self, source: str) -> Sequence[Answer]:
        """Approve all definitions of a source that wait."""
        from pegboard.features.pins.schemas import definition_to_dict

        done = await self._service.approve_all(source, principal=self._principal)
        return [definition_to_dict(item, state="approved") for item in done]


class RemotePins:
    """Implements `PinsClient` over the HTTP API.

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

    async def list(self, *, source: str, limit: int, cursor: str) -> Answer:
        """One page of approved definitions."""
        query = {"source": source, "limit": limit, "cursor": cursor}
        return self._check(*await self._ask("GET", "/pins", query=query))

    async def list_held(self, *, source: str, state: str, limit: int, cursor: str) -> Answer:
        """One page of held definitions."""
        query = {"source": source, "state": state, "limit": limit, "cursor": cursor}
        return self._check(*await self._ask("GET", "/tools/held", query=query))

    async def show(self, source: str, tool: str) -> Answer:
        """The held definition of a tool."""
        return self._check(*await self._ask("GET", _path_of(source, tool)))

    async def decide(
        self, source: str, tool: str, decision: Literal["approve", "reject"], *, digest: str
    ) -> Answer:
        """Approve or reject a held definition."""
        wanted = digest or (await self.show(source, tool))["digest"]
        body = {"decision": decision, "digest": wanted}
        return self._check(*await self._ask("POST", _path_of(source, tool), body=body))

    async def approve_all(self, source: str) -> Sequence[Answer]:
        """Approve all definitions of a source that wait, one after the other."""
        page = await self.list_held(source=source, state="waiting", limit=_PAGE, cursor="")
        if not page["held"]:
            raise DefinitionNotHeld(
                f"No definition of the source '{source[:100]}' is waiting for approval."
            )
        waiting = page["held"]
        while page["next_cursor"]:
            page = await self.list_held(
                source=source, state="waiting", limit=_PAGE, cursor=page["next_cursor"]
            )
            waiting += page["held"]
        return [
            await self.decide(source, item["name"], "approve", digest=item["digest"])
            for item in waiting
        ]


def _path_of(source: str, tool: str) -> str:
    return f"/tools/held/{quote(source, safe='')}/{quote(tool, safe='')}"
