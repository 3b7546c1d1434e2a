"""Making a plan: a goal, capabilities or a chain of tools become a graph."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.core.graph import Edge, Fallback, Graph, Node
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.text.suggestions import nearest_names
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.errors import CannotPlan
from pegboard.planning.available_tools import AvailableTools, Prerequisites
from pegboard.planning.candidates import Candidate, rank
from pegboard.planning.goal_matching import tool_for
from pegboard.planning.input_mapping import params_given, share_of_inputs
from pegboard.planning.plan_builder import PlanBuilder
from pegboard.planning.request import PlanRequest
from pegboard.planning.result import Choice, Plan
from pegboard.planning.tool_health import NoToolHealth, ToolHealthSource
from pegboard.registry import ToolRegistry


class Planner:
    """Turns requests into graphs; runs nothing and asks no model.

    ```python
    plan = Planner(registry).plan(
        PlanRequest(goal="summarize_webpage", params={"url": "https://..."})
    )
    plan.graph.nodes
    ```

    Args:
        registry: The tools, and who may call them.
        knowledge: How tools are doing; None for a registry that keeps no records.
        prerequisites: None takes what the specs say (`ToolSpec.dependencies`).
        new_id: Makes the plan's id.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        knowledge: ToolHealthSource | None = None,
        prerequisites: Prerequisites | None = None,
        new_id: Callable[[], str] | None = None,
    ) -> None:
        self._registry = registry
        self._knowledge = knowledge or NoToolHealth()
        self._prerequisites = prerequisites or self._dependencies_of
        self._new_id = new_id or _new_id

    def plan(self, request: PlanRequest, *, principal: Principal = LOCAL) -> Plan:
        """A graph of tools that this caller may call.

        Raises:
            CannotPlan: No tool answers the goal or has a capability; says which, and what is near.
            ToolNotFound: A chain names a tool that there is not.
        """
        stock = AvailableTools(self._registry, principal, self._prerequisites)
        drafting = _PlanDraft(request, stock, self._knowledge)
        if request.goal:
            mode = drafting.goal(request.goal)
        elif request.capabilities:
            mode = "capabilities"
            drafting.capabilities(request.capabilities)
        else:
            mode = "chain"
            chain = [self._registry.get(link.tool, principal=principal) for link in request.chain]
            drafting.chain(chain)
        graph = Graph(
            nodes=drafting.draft.nodes(),
            id=self._new_id(),
            task_id=request.task_id,
            params=request.schema,
        )
        draft = drafting.draft
        draft.note_unused_params()
        return Plan(graph=graph, mode=mode, choices=draft.choices(), notes=draft.notes())

    def choose(
        self, capability: str, arguments: Mapping[str, Any], *, principal: Principal = LOCAL
    ) -> Tool | None:
        """The best tool with a capability for a call with these arguments; None for none."""
        stock = AvailableTools(self._registry, principal, self._prerequisites)
        tools = [tool for tool in stock.tools if capability in tool.spec.capabilities]
        fits = {tool.spec.name: share_of_inputs(tool.spec, arguments) for tool in tools}
        ranked = rank(tools, self._knowledge, fits)
        return ranked[0].tool if ranked else None

    def _dependencies_of(self, tool_id: str) -> Sequence[str]:
        tool = self._registry.find(tool_id)
        return () if tool is None else tool.spec.dependencies


class _PlanDraft:
    """One plan in the making."""

    def __init__(
        self, request: PlanRequest, stock: AvailableTools, knowledge: ToolHealthSource
    ) -> None:
        self._request = request
        self._available = stock
        self._knowledge = knowledge
        self._before_others: set[str] = set()
        self.draft = PlanBuilder(params_given(request.schema))

    def goal(self, goal: str) -> str:
        """Direct mapping, or by the capability that the goal equals; return the mode."""
        named, answering = self._available.find(goal), list[Tool]()
        if named is None:
            named, answering = tool_for(goal, self._available.tools)
        if named is not None:
            self._step(named, wanted=goal, reason=f"the goal names '{named.spec.name}'")
            return "direct"
        if not answering:
            self.capabilities([goal])
            return "capabilities"
        best, *others = self._rank(answering)
        reason = f"'{goal}' is one of its supported_tasks: {best.reason}"
        self._step(best.tool, wanted=goal, reason=reason, others=others)
        return "direct"

    def capabilities(self, wanted: Sequence[str]) -> None:
        """Capability matching; the order follows what the tools take and give."""
        having = {item: self._having(item) for item in dict.fromkeys(wanted)}
        missing = [item for item, tools in having.items() if not tools]
        if missing:
            raise CannotPlan(self._nobody_has(missing))
        left = list(having)
        while left:
            ranks = {item: self._rank(having[item]) for item in left}
            item = self._next([ranks[one][0].spec for one in left], left)
            left.remove(item)
            if self._is_there(ranks[item]):
                continue
            after = [ranks[one][0].tool for one in left]
            best, *others = self._put_prerequisites_first(ranks[item], after)
            reason = f"it has the capability '{item}': {best.reason}"
            self._step(best.tool, wanted=item, reason=reason, others=others)
        self._note_order()

    def _note_order(self) -> None:
        """Say which writing steps have no order with other steps, since a list sets none."""
        nodes = self.draft.nodes()
        needed = {edge.node for node in nodes for edge in node.edges}
        for node in nodes:
            tool = self._available.find(node.tool)
            is_alone = not node.edges and node.id not in needed and len(nodes) > 1
            if tool is not None and tool.spec.effect is not Effect.READ and is_alone:
                self.draft.note(
                    f"Step '{node.id}' is of effect {tool.spec.effect.value} and takes nothing "
                    "from other steps: a list of capabilities sets no order. Add an edge to the "
                    "plan if it must run before or after one."
                )

    def chain(self, tools: Sequence[Tool]) -> None:
        """A fallback chain: one step, several tools."""
        links = self._request.chain
        first, *others = tools
        fallbacks = [
            Fallback(
                tool=self._available.id_of(tool),
                input=self.draft.wire(
                    tool.spec, given=link.input, is_whole=self._available.is_whole(tool.spec)
                ).input,
            )
            for tool, link in zip(others, links[1:], strict=True)
        ]
        self._step(
            first,
            wanted=links[0].tool,
            reason="the chain begins with it",
            given=links[0].input,
            fallbacks=fallbacks,
        )

    def _step(
        self,
        tool: Tool,
        *,
        wanted: str,
        reason: str,
        others: Sequence[Candidate] = (),
        given: Mapping[str, Any] | None = None,
        fallbacks: Sequence[Fallback] = (),
    ) -> None:
        before = self._before(tool, under=())
        spec = tool.spec
        wiring = self.draft.wire(spec, given=given, is_whole=self._available.is_whole(spec))
        tried = [*fallbacks, *self._fallbacks(others)]
        id_ = self.draft.new_id(spec)
        node = Node(
            id=id_,
            title=spec.title,
            tool=self._available.id_of(tool),
            input=wiring.input,
            edges=_edges((*before, *wiring.steps)),
            fallbacks=tuple(tried),
            inferred=wiring.inferred,
        )
        choice = Choice(
            step=id_,
            wanted=wanted,
            tool=spec.name,
            reason=reason,
            alternatives=tuple(item.spec.name for item in others),
            scores={item.spec.name: item.score for item in others},
        )
        self.draft.add(node, spec, choice, wiring)

    def _before(self, tool: Tool, *, under: tuple[ToolSpec, ...]) -> list[str]:
        """Steps for what the tool needs to have run, made where they are not there yet."""
        way, name = (*under, tool.spec), tool.spec.name
        if any(spec.id == tool.spec.id for spec in under):
            raise CannotPlan(f"Tools need each other: {' needs '.join(spec.name for spec in way)}.")
        ids: list[str] = []
        for item in self._available.prerequisites_of(tool.spec):
            if isinstance(item, str):
                self.draft.note(f"'{name}' needs '{item}', which is not there; it is left out.")
                continue
            if not self._available.may_call(item):
                self.draft.note(
                    f"'{name}' needs '{item.spec.name}', which the caller may not call."
                )
                continue
            known = self.draft.step_of(item.spec.id)
            if known is None:
                self._before(item, under=way)
                self._step_before(item, name)
                known = self.draft.step_of(item.spec.id)
            ids += [known] if known is not None else []
        return ids

    def _step_before(self, tool: Tool, other: str) -> None:
        """A step that another needs; it has fallbacks where it has what was asked for as well."""
        asked = [item for item in self._request.capabilities if item in tool.spec.capabilities]
        reason = f"'{other}' needs it to have run"
        if asked:
            reason += f", and it has the capability {', '.join(map(repr, asked))}"
        alike = [
            item
            for item in self._available.tools
            if item is not tool and asked and set(asked) <= set(item.spec.capabilities)
        ]
        self._step(tool, wanted=other, reason=reason, others=self._rank(alike))
        self._before_others.add(tool.spec.id)

    def _is_there(self, candidates: Sequence[Candidate]) -> bool:
        """Whether there is a step that has the capability, so that another would do it twice."""
        best = candidates[0]
        return any(
            item is best or item.spec.id in self._before_others
            for item in candidates
            if self.draft.step_of(item.spec.id)
        )

    def _put_prerequisites_first(
        self, candidates: Sequence[Candidate], after: Sequence[Tool]
    ) -> list[Candidate]:
        """The candidates, one that has to run in any case before all others."""
        needed = {item for tool in after for item in self._available.runs_before(tool)}
        return sorted(candidates, key=lambda item: item.spec.id not in needed)

    def _fallbacks(self, others: Sequence[Candidate]) -> list[Fallback]:
        """The next best ones, with inputs of their own; one that misses some is no help."""
        found: list[Fallback] = []
        for item in others:
            wiring = self.draft.wire(item.spec, is_whole=self._available.is_whole(item.spec))
            if not wiring.missing and len(found) < self._request.fallbacks:
                found.append(Fallback(tool=self._available.id_of(item.tool), input=wiring.input))
        return found

    def _next(self, specs: Sequence[ToolSpec], left: Sequence[str]) -> str:
        """Which capability comes next: one that waits for no other, and can be given the most.

        Between equals the order in which they were asked for holds.
        """

        def key(place: int) -> tuple[int, float, int]:
            others = [spec for spec in specs if spec is not specs[place]]
            return (self.draft.waits(specs[place], others), -self._fit(specs[place]), place)

        return left[min(range(len(left)), key=key)]

    def _having(self, capability: str) -> list[Tool]:
        return [tool for tool in self._available.tools if capability in tool.spec.capabilities]

    def _rank(self, tools: Sequence[Tool]) -> list[Candidate]:
        fits = {tool.spec.name: self._fit(tool.spec) for tool in tools}
        return rank(tools, self._knowledge, fits)

    def _fit(self, spec: ToolSpec) -> float:
        return self.draft.wire(spec, is_whole=self._available.is_whole(spec)).fit

    def _nobody_has(self, missing: Sequence[str]) -> str:
        known = sorted({item for tool in self._available.tools for item in tool.spec.capabilities})
        parts: list[str] = []
        for item in missing:
            near = nearest_names(item, known)
            parts.append(f"'{item}'" + (f" (near: {', '.join(near)})" if near else ""))
        return f"No tool that the caller may call has the capability {', '.join(parts)}."


def _edges(steps: Sequence[str]) -> tuple[Edge, ...]:
    return tuple(Edge(node=step) for step in dict.fromkeys(steps))


def _new_id() -> str:
    from secrets import token_hex

    return f"plan_{token_hex(8)}"
