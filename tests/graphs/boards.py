"""A board of tools of all kinds, for graphs that are checked and never run."""

from typing import Any

from tests.graphs.made import after

from pegboard import SchemaTool, ToolRegistry, ToolSpec
from pegboard.access import Policy
from pegboard.core.graph import Graph, Node
from pegboard.core.health import Health, HealthStatus
from pegboard.core.tool import Effect, Status

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
PAGE = {
    "type": "object",
    "properties": {
        "content": TEXT,
        "words": WHOLE,
        "links": {"type": "array", "items": TEXT},
        "ok": {"type": "boolean"},
        "meta": {"type": "object", "additionalProperties": True},
    },
    "required": ["content"],
}


def closed(*required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def a_tool(name: str, takes: Any = None, gives: Any = None, **changes: Any) -> SchemaTool:
    async def run(_arguments: Any, _ctx: Any) -> None:
        raise AssertionError("a check runs nothing")

    fields: dict[str, Any] = {"effect": Effect.READ, "input_schema": takes or closed()}
    return SchemaTool(spec=ToolSpec(name=name, output_schema=gives, **(fields | changes)), run=run)


BOARD = ToolRegistry(
    [
        a_tool("web__fetch", closed("url", url=TEXT), PAGE, version="1.2.3"),
        a_tool(
            "text__sum", closed("text", text=TEXT, most={"type": "integer", "minimum": 1}), TEXT
        ),
        a_tool("text__count", closed("n", n=WHOLE, tags={"type": "array", "items": TEXT}), WHOLE),
        a_tool("any__thing", {"type": "object", "additionalProperties": True}),
        a_tool("shop__pay", closed(), effect=Effect.ADMIN),
        a_tool("old__tool", status=Status.DEPRECATED),
        a_tool("off__tool", status=Status.DISABLED),
        a_tool("gone__tool", unavailable="the server is down"),
        a_tool("secret__tool", scopes=("secret",)),
        a_tool("denied__tool"),
    ],
    policy=Policy(deny=("denied__*",)),
)
HEALTH = {
    "web__fetch": Health(status=HealthStatus.UNHEALTHY, reason="no answer"),
    "text__sum": Health(status=HealthStatus.DEGRADED, reason="slow"),
}


def fetch(id: str = "fetch", *names: str, **changes: Any) -> Node:
    fields: dict[str, Any] = {"tool": "web__fetch", "input": {"url": "u"}, "edges": after(*names)}
    return Node(id=id, **(fields | changes))


def any_(id: str = "any", *names: str, **changes: Any) -> Node:
    fields: dict[str, Any] = {"tool": "any__thing", "edges": after(*names)}
    return Node(id=id, **(fields | changes))


PARAMS = {"type": "object", "properties": {"url": TEXT, "n": WHOLE, "deep": closed(x=TEXT)}}
INNER = Graph(nodes=(any_("a", input={"x": "$.params.q"}),), params=closed("q", q=TEXT))
