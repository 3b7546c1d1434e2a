"""Starts runs of graphs and of single calls, under an optional idempotency key."""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Any

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.context import ToolContext
from pegboard.core.event import digest_of
from pegboard.core.graph import Graph, Node, is_large
from pegboard.core.ports.run_store import RunStore, StoredRun
from pegboard.core.principal import Principal
from pegboard.errors import GraphInvalid, IdempotencyConflict, RunNotFound, ToolNotFound
from pegboard.execution.wait_for_source import wait_for_graph_sources
from pegboard.features.permissions import may_see_plan, may_see_run
from pegboard.features.plans.service import fill_params
from pegboard.graphs import GraphRunner, write_graph
from pegboard.graphs.documents.plan_locations import invalid_plan
from pegboard.graphs.documents.read import read_in_thread
from pegboard.graphs.expressions.references import escape
from pegboard.registry import ToolRegistry


class RunStarter:
    """Starts runs of graphs.

    Args:
        registry: The tools that runs call.
        store: Stores plans and runs.
        runner: Executes graphs.
    """

    def __init__(self, registry: ToolRegistry, store: RunStore, runner: GraphRunner) -> None:
        self._registry = registry
        self._store = store
        self._runner = runner

    async def start(
        self,
        graph: Graph,
        params: Mapping[str, Any],
        principal: Principal,
        *,
        key: str = "",
        as_plan: bool = False,
    ) -> StoredRun:
        """Start a run, or return the run that was started under the same key.

        Args:
            graph: The graph to run.
            params: Values of its parameters.
            principal: The caller.
            key: An idempotency key; empty for a new run.
            as_plan: Whether the author wrote a plan: faults are then located in that plan.

        Raises:
            GraphInvalid: The graph cannot run on this board; lists every fault.
            InvalidRequest: The parameters do not match.
            IdempotencyConflict: The key was used for another run.
        """
        given = fill_params(graph, params)
        ctx: ToolContext[Any] = ToolContext(principal=principal)
        run_id = run_id_for(principal, key)
        try:
            run_id = await self._runner.start(graph, given, ctx=ctx, run_id=run_id)
        except GraphInvalid as error:
            if not as_plan:
                raise
            raise invalid_plan(graph, error) from error
        run = await self._store.get(run_id)
        if run is None or not may_see_run(principal, run):
            raise RunNotFound(f"There is no run '{run_id}'.")
        if key:
            await in_thread(partial(check_same, run, graph, given), is_large=is_large(graph))
        return run

    async def resolve_plan(self, graph: Graph, *, principal: Principal) -> Graph:
        """Return the graph with the id of the stored plan that it equals, else without that id.

        A run never belongs to a plan that differs, or that its caller may not see.
        """
        kept = await self._store.plan(graph.id) if graph.id else None
        if kept is None:
            return graph
        is_it = (
            may_see_plan(principal, kept.created_by) and await read_in_thread(kept.graph) == graph
        )
        return graph if is_it else graph.replace(id="")

    async def prepare_call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        principal: Principal,
        *,
        seconds: float | None = None,
        account: str = "",
    ) -> Graph:
        """Return the graph of one call, after waiting for the tool's source.

        Raises:
            ToolNotFound: The tool does not exist, or the caller may not see it.
        """
        graph = call_graph(tool, arguments, seconds=seconds, account=account)
        await wait_for_graph_sources(self._registry.environment, graph, find=self._registry.find)
        if self._registry.find_for(tool, principal) is None:
            raise ToolNotFound(tool, self._registry.nearest(tool, principal))
        return graph


def call_graph(
    tool: str, arguments: Mapping[str, Any], *, seconds: float | None = None, account: str = ""
) -> Graph:
    """Return a graph that consists of one tool call; its output is the call's.

    Args:
        tool: Wire name of the tool.
        arguments: Passed as they are: no text in them is read as a path expression.
        seconds: Time limit of the whole run; None for no limit.
        account: The name of the credential to call with; empty for the default.
    """
    config = {"account": account} if account else {}
    node = Node(id="call", tool=tool, input=escape(dict(arguments)), config=config)
    return Graph(nodes=(node,), name=tool, output="$.steps.call.output", timeout=seconds)


def run_id_for(principal: Principal, key: str) -> str:
    """Return the id of the run that this caller starts under a key; empty without a key."""
    if not key:
        return ""
    digest = sha256(f"{principal.owner}\n{key}".encode()).hexdigest()
    return f"r_{digest[:24]}"


def check_same(run: StoredRun, graph: Graph, params: Mapping[str, Any]) -> None:
    """Refuse to reuse the key of another run.

    Raises:
        IdempotencyConflict: The graph or the parameters differ.
    """
    wanted = digest_of({"graph": write_graph(graph), "params": params})
    if wanted != digest_of({"graph": run.start.graph, "params": run.start.params}):
        raise IdempotencyConflict("This idempotency key was used for another run.")
