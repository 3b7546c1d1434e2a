"""`Toolset`: the tools that one caller may and needs to see in one request."""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.model_messages import ModelTool, ToolCall
from pegboard.core.principal import Principal
from pegboard.core.provider_schema import provider_schema
from pegboard.core.result import ToolResult
from pegboard.core.tool import Tool
from pegboard.execution.wait_for_source import wait_for_source
from pegboard.registry.prepared_search import BY_WORDS, PreparedSearch
from pegboard.registry.registry import ToolRegistry
from pegboard.registry.search import ToolQuery

if TYPE_CHECKING:
    from pegboard.execution import CallEnvironment


class Reply(Struct, frozen=True):
    """The answer of a meta-tool that calls nothing."""

    text: str


class Delegation(Struct, frozen=True):
    """A task for another agent."""

    agent: str
    task: str


Routed = ToolCall | Reply | Delegation
"""Where the call of a meta-tool leads; a `ToolCall` is the call of the inner tool."""
Route = Callable[["Toolset", ToolCall, Principal], Routed]
"""Reads the call of a meta-tool. Raises `InvalidRequest` where its arguments do not fit."""


def _none(_shown: frozenset[str]) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class MetaTool:
    """A tool that leads to others, and is none of the registry.

    Attributes:
        render: Makes what a model is shown.
        route: Where a call of it leads.
        entries: The names of what it reaches; their withdrawal changes the list of a conversation.
        describe: Makes a text for each of them.
        is_always_listed: Whether it is listed wherever it has entries, as those that lead to
            something else than inner tools.
        reaches_beyond: Whether it reaches a tool that is not among the listed ones, by name.
        untrusted: One of its entries whose description is text of a person whom the caller need not
            trust; empty for none.
    """

    name: str
    render: Callable[[], ModelTool]
    route: Route
    entries: tuple[str, ...] = ()
    describe: Callable[[], Mapping[str, str]] = dict[str, str]
    is_always_listed: bool = False
    reaches_beyond: Callable[[frozenset[str]], bool] = _none
    untrusted: str = ""


def _every(_tool: Tool) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Toolset:
    """A view of a registry for one request; it never changes.

    It takes the place of a registry for engines, the planner and graphs. Calls go through the
    registry's own pipeline, with the rights of the moment: a toolset narrows what is reachable and
    grants nothing.

    Attributes:
        registry: Where the tools are.
        listed: The tools that a model is shown, in the order in which it sees them.
        reaches: Whether a tool that is not listed can be called all the same.
        is_inner: Whether a reachable tool may be listed and found; others are reached by a
            meta-tool of their own.
        missing: Why a tool or source that belongs here is missing, by name.
        rendered: What a model is shown, where that is more than the listed tools or was rendered
            before; None to render the listed tools.
        meta_tools: Those that `rendered` has; before a list is made, those that may join it.
        knowledge: The names and ids of the knowledge bases that its calls may reach; None for all.
        accounts: By source, the name of the caller's credential that its calls act with.
        instructions: What the system prompt of a model says beside its own, as inline skills.
        prepared: What is known of the meaning of a question that is searched for.
    """

    registry: ToolRegistry
    listed: tuple[Tool, ...]
    reaches: Callable[[Tool], bool] = _every
    is_inner: Callable[[Tool], bool] = _every
    missing: Mapping[str, str] = field(default_factory=dict[str, str])
    rendered: tuple[ModelTool, ...] | None = None
    meta_tools: tuple[MetaTool, ...] = ()
    instructions: str = ""
    knowledge: frozenset[str] | None = None
    accounts: Mapping[str, str] = field(default_factory=dict[str, str])
    prepared: PreparedSearch = BY_WORDS

    @property
    def environment(self) -> "CallEnvironment":
        """The call environment of the registry."""
        return self.registry.environment

    @cached_property
    def model_tools(self) -> tuple[ModelTool, ...]:
        """What models are shown; rendered once."""
        if self.rendered is not None:
            return self.rendered
        return tuple(render_tool(tool) for tool in self.listed)

    def find_meta_tool(self, name: str) -> MetaTool | None:
        """The meta-tool of a name, if a model is shown it here; None otherwise."""
        return next((item for item in self.meta_tools if item.name == name), None)

    def add_missing(self, name: str, reason: str) -> "Toolset":
        """A copy that gives the reason why a tool, a source or a step is missing."""
        return self.replace(missing={**self.missing, name: reason})

    def narrow(self, reaches: Callable[[Tool], bool]) -> "Toolset":
        """A copy that reaches only those of its tools that also fit here."""
        before = self.reaches

        def both(tool: Tool) -> bool:
            return before(tool) and reaches(tool)

        return self.replace(reaches=both)

    def replace(self, **changes: Any) -> "Toolset":
        """A copy with some fields replaced."""
        return replace_fields(self, **changes)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)

    def find(self, name: str) -> Tool | None:
        """The tool of a name or id, if it is reachable here; None otherwise."""
        tool = self.registry.find(name)
        return tool if tool is not None and self.is_reachable(tool) else None

    async def prepare_search(self, question: str, principal: Principal) -> "Toolset":
        """A copy that knows the meaning of a question, where the registry has vectors."""
        prepared = await self.registry.prepare_search(question, principal=principal)
        return self if prepared is self.prepared else self.replace(prepared=prepared)

    def search(self, query: str, *, limit: int, principal: Principal) -> list[Tool]:
        """The tools that fit best, of those that are reachable here and that the caller may see."""
        wanted = ToolQuery(query=query, limit=limit)

        def keep(tool: Tool) -> bool:
            return self.is_inner(tool) and self.is_reachable(tool)

        return self.registry.search(wanted, principal=principal, keep=keep, prepared=self.prepared)

    def nearest(self, name: str, principal: Principal) -> tuple[str, ...]:
        """At most three similar names of reachable tools that this caller may see."""
        return self.registry.nearest(name, principal, keep=self.is_reachable)

    def call(
        self, name: str, arguments: Arguments = None, ctx: ToolContext[Any] | None = None
    ) -> Coroutine[Any, Any, ToolResult]:
        """Call a tool; one that is not reachable here is answered, and recorded, as unknown."""
        if self.knowledge is not None:
            ctx = structs.replace(ctx or ToolContext(), knowledge=self.knowledge)
        if self.accounts:
            ctx = structs.replace(ctx or ToolContext(), accounts=self.accounts)
        principal = (ctx or ToolContext()).principal
        tool, environment = self.registry.find_for(name, principal), self.environment
        if tool is None and environment.pending_source(name) is not None:
            return self._call_coming(name, arguments, ctx or ToolContext())
        if tool is None and environment.why_missing(name):
            return self.registry.call(name, arguments, ctx)  # which says why
        if tool is not None and self.is_reachable(tool):
            return self.registry.call(name, arguments, ctx)
        return self.registry.refuse_unknown(name, arguments, ctx, self.nearest(name, principal))

    async def _call_coming(
        self, name: str, arguments: Arguments, ctx: ToolContext[Any]
    ) -> ToolResult:
        """Call a tool once its source has answered: only then is known whether it is reachable."""
        await wait_for_source(self.environment, name, deadline=ctx.deadline)
        if self.environment.pending_source(name) is None:
            return await self.call(name, arguments, ctx)
        nearest = self.nearest(name, ctx.principal)
        return await self.registry.refuse_unknown(name, arguments, ctx, nearest)

    def is_reachable(self, tool: Tool) -> bool:
        """Whether a tool of the registry can be called here, listed or not."""
        return tool.spec.name in self._listed_names or self.reaches(tool)

    @cached_property
    def _listed_names(self) -> frozenset[str]:
        return frozenset(tool.spec.name for tool in self.listed)


def render_tool(tool: Tool) -> ModelTool:
    """A tool as a model is shown it."""
    spec = tool.spec
    return ModelTool(
        name=spec.name,
        description=spec.model_description,
        parameters=provider_schema(spec.input_schema),
    )
