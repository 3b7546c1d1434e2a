"""Tools that somebody else describes, and a gate before them."""

from typing import Any

from pegboard.core.tool import Tool, ToolSpec
from pegboard.features.pins import PinCheck, Pins
from pegboard.registry import ToolRegistry
from pegboard.registry.pin_policy import NewPolicy, PinningPolicy
from pegboard.storage import MemoryStorage
from pegboard.tools import SchemaTool

TEXT = {"type": "string"}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"query": TEXT}, "required": ["query"]}
WIDER: dict[str, Any] = SCHEMA | {"properties": {"query": TEXT, "lang": TEXT}}
NARROWER: dict[str, Any] = WIDER | {"required": ["query", "lang"]}


def said(name: str = "find", **changes: Any) -> ToolSpec:
    """What an upstream says of a tool."""
    fields: dict[str, Any] = {
        "description": "Find pages.",
        "input_schema": SCHEMA,
        "source": "web",
        "handler": "mcp",
        "action": name,
    }
    return ToolSpec(name=f"web__{name}", **(fields | changes))


def foreign(upstream: ToolSpec | None = None, *, overridden: Any = (), **own: Any) -> Tool:
    """Its tool on the board, with what the operator says differently."""
    upstream = said() if upstream is None else upstream

    async def run(arguments: Any, ctx: Any) -> dict[str, Any]:
        return {"got": dict(arguments)}

    return SchemaTool(
        spec=upstream.replace(**own), run=run, upstream=upstream, overridden=overridden
    )


class Board:
    """A store, a gate under one policy, and the service."""

    def __init__(self, policy: PinningPolicy = "ask", *, new: NewPolicy = "accept") -> None:
        self.policy: PinningPolicy = policy
        self.new: NewPolicy = new
        self.store = MemoryStorage().pins
        self.registry = ToolRegistry()
        self.decided: list[str] = []
        self.gate = PinCheck(
            self.registry, self.store, policy=lambda _: self.policy, new=lambda _: self.new
        )
        self.pins = Pins(self.registry, self.store, decided=self._decided)

    async def lists(self, *tools: Tool) -> list[ToolSpec]:
        """What comes through of a list of the source `web`."""
        judged = await self.gate.check("web", tools)
        return [tool.spec for tool in judged.tools]

    async def _decided(self, source: str) -> None:
        self.decided.append(source)
