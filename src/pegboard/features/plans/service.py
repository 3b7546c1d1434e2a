"""The `Plans` service: makes, checks, stores and returns plans."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from msgspec import convert

from pegboard.concurrency.cooperative import Slices, run_at_once, run_cooperatively
from pegboard.core.graph import Graph, is_large
from pegboard.core.ports.run_store import RunStore, StoredPlan
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool
from pegboard.errors import GraphInvalid, PlanNotFound, SourceUnavailable
from pegboard.features.key_limits import limit_keys
from pegboard.features.permissions import PLANS_SCOPE, may_see_plan
from pegboard.graphs import KINDS, Fault, Preview, read_graph, write_graph
from pegboard.graphs.checks.context import CheckContext, HealthOf, WasThere
from pegboard.graphs.documents.plan_locations import faults_in_plan
from pegboard.graphs.documents.read import is_plan, read_in_thread
from pegboard.graphs.dry_run import DurationOf, preview_in_slices
from pegboard.graphs.engine.graph_execution import validate_params
from pegboard.graphs.failover import SubstituteFinder, for_caller
from pegboard.graphs.node_kind import NodeKind
from pegboard.graphs.runner import EnvOf
from pegboard.planning import Choice, Planner, PlanRequest
from pegboard.registry import ToolRegistry


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPlan:
    """A graph, and what a run of it would do.

    Attributes:
        graph: None if the document cannot be read; the faults say why.
        preview: Its faults, layers, effects, and the approvals that it would need.
    """

    graph: Graph | None
    preview: Preview

    @property
    def is_runnable(self) -> bool:
        """Whether nothing but notes was found."""
        return self.graph is not None and all(fault.is_note for fault in self.preview.faults)

    @property
    def is_large(self) -> bool:
        """Whether rendering it takes long."""
        return self.graph is not None and is_large(self.graph)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadePlan:
    """A stored plan.

    Attributes:
        id: The id by which it is run.
        mode: How it was made.
        choices: Why each step was chosen.
        notes: What the planner left open.
    """

    id: str
    task_id: str
    graph: Graph
    preview: Preview
    created_at: float
    mode: str = ""
    choices: tuple[Choice, ...] = ()
    notes: tuple[str, ...] = ()


# a plan runs nothing, and what it would run is checked at each step
@limit_keys("plans", reads=("make", "check", "check_in_slices", "get"), instead=PLANS_SCOPE)
class Plans:
    """Makes, checks and stores plans; runs nothing.

    ```python
    request = PlanRequest(goal="summarize_webpage", params={"url": "..."})
    made = await board.plans.make(request, principal=LOCAL)
    made.preview.faults
    ```

    Args:
        registry: The tools of the board.
        store: Stores plans.
        planner: Makes the graphs.
        duration: Returns how many seconds a tool usually takes; None if unknown.
        env: Values of `$.env` for a principal.
        health: Returns the health of a tool by name; None if unknown.
        stand_in: Returns the best replacement of a tool for a caller; None if unknown.
        heal: Returns the substitute that a run calls for unavailable tools; None for none.
        was_there: Whether a missing tool existed before: its name is then no mistake.
        kinds: Node kinds by name, those of the runner.
    """

    def __init__(  # noqa: PLR0913 - what is known of tools, and none of it is needed
        self,
        registry: ToolRegistry,
        store: RunStore,
        *,
        planner: Planner,
        duration: DurationOf | None = None,
        env: EnvOf | None = None,
        health: HealthOf | None = None,
        stand_in: Callable[[str, Principal], str] | None = None,
        heal: SubstituteFinder | None = None,
        was_there: WasThere | None = None,
        kinds: Mapping[str, NodeKind] = KINDS,
    ) -> None:
        self._kinds = kinds
        self._registry = registry
        self._store = store
        self._planner = planner
        self._duration = duration
        self._env = env
        self._health = health
        self._stand_in = stand_in
        self._heal = heal
        self._was_there = was_there

    def choose_tool(
        self, capability: str, arguments: Mapping[str, Any], *, principal: Principal
    ) -> Tool | None:
        """Choose the tool with a capability for one call, as a plan would; None for none.

        It is the one whose required inputs are given, that is healthy, reliable, fast and cheap.
        """
        return self._planner.choose(capability, arguments, principal=principal)

    async def make(self, request: PlanRequest, *, principal: Principal) -> MadePlan:
        """Make a plan and store it, even if it has faults; they are part of the result.

        The parameters of the request become the defaults of the plan's runs.

        Raises:
            CannotPlan: No tools match; says which part failed, and what is near.
            InvalidRequest: The parameters do not match their schema.
            ToolNotFound: A chain names an unknown tool.
            TypeError: `request` is not a `PlanRequest`.
        """
        if not isinstance(cast("object", request), PlanRequest):
            raise TypeError(
                f"make takes a PlanRequest, not a {type(request).__name__}: write "
                "PlanRequest(goal=...) of pegboard.planning"
            )
        made = self._planner.plan(request, principal=principal)
        graph = made.graph
        if request.params_schema is not None and request.params:
            _refuse_mismatches(request)
        graph = graph.replace(params=_add_defaults(graph.params, request.params))
        kept = StoredPlan(
            id=graph.id,
            graph=write_graph(graph),
            created_at=self._registry.environment.now(),
            task_id=graph.task_id,
            created_by=principal.owner,
            mode=made.mode,
            choices=tuple(map(asdict, made.choices)),
            notes=made.notes,
        )
        await self._store.put_plan(kept)
        return MadePlan(
            id=graph.id,
            task_id=graph.task_id,
            graph=graph,
            preview=_as_plan(graph, await self._preview(graph, principal)),
            created_at=kept.created_at,
            mode=made.mode,
            choices=made.choices,
            notes=made.notes,
        )

    def check(self, document: Mapping[str, Any], *, principal: Principal) -> CheckedPlan:
        """Return every fault of a plan or graph document, with its path; nothing is stored."""
        try:
            graph = read_graph(document)
        except GraphInvalid as error:
            return CheckedPlan(graph=None, preview=_unreadable(error))
        found = run_at_once(self._previewing(graph, principal))
        return CheckedPlan(graph=graph, preview=_locate_faults(document, graph, found))

    async def check_in_slices(
        self, document: Mapping[str, Any], *, principal: Principal
    ) -> CheckedPlan:
        """As `check`, while other tasks run; for servers."""
        try:
            graph = await read_in_thread(document)
        except GraphInvalid as error:
            return CheckedPlan(graph=None, preview=_unreadable(error))
        found = await self._preview(graph, principal)
        return CheckedPlan(graph=graph, preview=_locate_faults(document, graph, found))

    async def get(self, id: str, *, principal: Principal) -> MadePlan:  # noqa: A002 - a plan is known by its id
        """Return a stored plan, checked against the board as it is now.

        Raises:
            PlanNotFound: The plan does not exist, or the caller may not see it.
        """
        kept = await self._store.plan(id)
        if kept is None or not may_see_plan(principal, kept.created_by):
            raise PlanNotFound(f"There is no plan '{id[:100]}'.")
        graph = await read_in_thread(kept.graph)
        return MadePlan(
            id=kept.id,
            task_id=kept.task_id,
            graph=graph,
            preview=_as_plan(graph, await self._preview(graph, principal)),
            created_at=kept.created_at,
            mode=kept.mode,
            choices=tuple(convert(kept.choices, tuple[Choice, ...])),
            notes=tuple(kept.notes),
        )

    async def _preview(self, graph: Graph, principal: Principal) -> Preview:
        return await run_cooperatively(self._previewing(graph, principal), is_large=is_large(graph))

    def _previewing(self, graph: Graph, principal: Principal) -> Slices[Preview]:
        known = self._stand_in
        terms = CheckContext(
            board=self._registry,
            principal=principal,
            kinds=self._kinds,
            env={} if self._env is None else self._env(principal),
            health=self._health,
            stand_in=None if known is None else lambda name: known(name, principal),
            heal=for_caller(self._heal, principal),
            was_there=self._was_there,
        )
        return preview_in_slices(graph, terms, self._duration)


def _locate_faults(document: Mapping[str, Any], graph: Graph, found: Preview) -> Preview:
    return _as_plan(graph, found) if is_plan(document) else found


def _as_plan(graph: Graph, found: Preview) -> Preview:
    """Locate the faults of a graph in the plan that its author wrote."""
    return replace(found, faults=faults_in_plan(graph, found.faults))


def _refuse_mismatches(request: PlanRequest) -> None:
    """Check parameters against their schema; missing ones may be given to the run."""
    schema: dict[str, Any] = {**request.schema, "required": []}
    with suppress(SourceUnavailable):  # a broken schema is reported with the plan's faults
        validate_params(Graph(nodes=(), name="The plan", params=schema), request.params)


def _add_defaults(schema: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the parameters, with the given values as defaults."""
    properties = cast("Mapping[str, Any]", schema.get("properties") or {})
    nodes = {
        name: {**_as_object(node), "default": params[name]} if name in params else node
        for name, node in properties.items()
    }
    nodes |= {name: {"default": value} for name, value in params.items() if name not in nodes}
    return {**schema, "properties": nodes} if nodes else dict(schema)


def _as_object(node: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", node) if isinstance(node, Mapping) else {}


def fill_params(graph: Graph, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a run: the given ones, and the graph's defaults for the rest."""
    properties = cast("Mapping[str, Any]", graph.params.get("properties") or {})
    nodes = {name: _as_object(node) for name, node in properties.items()}
    known = {name: node["default"] for name, node in nodes.items() if "default" in node}
    return {**known, **params}


def _unreadable(error: GraphInvalid) -> Preview:
    return Preview(
        faults=tuple(
            Fault(code=f"document_{item.kind}", place=item.path, message=item.message)
            for item in error.problems
        ),
        layers=(),
        effects={},
        approvals=(),
        seconds=None,
        longest=None,
    )
