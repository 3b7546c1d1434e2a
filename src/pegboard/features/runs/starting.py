"""What runs are started from: the graph of one call, and the id behind an idempotency key."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pegboard.core.event import digest_of
from pegboard.core.graph import Graph, Node
from pegboard.core.ports.run import StoredRun
from pegboard.core.principal import Principal
from pegboard.errors import IdempotencyConflict
from pegboard.execution.call import owner_of
from pegboard.graphs import write_graph


def call_graph(tool: str, arguments: Mapping[str, Any], *, seconds: float | None = None) -> Graph:
    """A graph that is one call of one tool; its output is the call's.

    Args:
        tool: Its wire name.
        arguments: As they are: no text in them is taken for a path.
        seconds: For the whole run; None for no limit.
    """
    node = Node(id="call", tool=tool, input=_literal(dict(arguments)))
    return Graph(nodes=(node,), name=tool, output="$.steps.call.output", timeout=seconds)


def run_id_for(principal: Principal, key: str) -> str:
    """The id of the run that this caller starts under this idempotency key; empty without one."""
    if not key:
        return ""
    digest = sha256(f"{owner_of(principal)}\n{key}".encode()).hexdigest()
    return f"r_{digest[:24]}"


def check_same(run: StoredRun, graph: Graph, params: Mapping[str, Any]) -> None:
    """Refuse what is started under the key of another run.

    Raises:
        IdempotencyConflict: It is another graph, or is given something else.
    """
    wanted = digest_of({"graph": write_graph(graph), "params": params})
    if wanted != digest_of({"graph": run.start.graph, "params": run.start.params}):
        raise IdempotencyConflict("This idempotency key was used for another run.")


def _literal(value: Any) -> Any:
    match value:
        case str() if value.startswith("$") and value.lstrip("$").startswith("."):
            return f"${value}"
        case list():
            return [_literal(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - any JSON array
        case dict():
            return {key: _literal(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType] - any JSON object
        case _:
            return value
