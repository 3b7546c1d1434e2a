"""The registry: one flat list of tools, and the way to call them."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from pegboard.access import Explanation, Policy, Switches, explain, may_know
from pegboard.access.namesakes import Namesakes
from pegboard.core.context import Arguments, ToolContext
from pegboard.core.ports.listener import Listener
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.provider_formats import openai_tool
from pegboard.core.result import ToolResult
from pegboard.core.tool import Tool, ToolSpec, is_for_models
from pegboard.core.wire_names import is_glob
from pegboard.errors import ConfigError, ToolNotFound
from pegboard.registry.change_notifier import ChangeNotifier
from pegboard.registry.name_index import NameIndex, OnConflict, check_on_conflict
from pegboard.registry.prepared_search import BY_WORDS, PreparedSearch
from pegboard.registry.renamed_tool import RenamedTool
from pegboard.registry.resources_and_prompts import ResourcesAndPrompts
from pegboard.registry.search import ToolQuery, matches
from pegboard.registry.tool_usage import ToolUsage
from pegboard.registry.tool_visibility import make_filter, may_see
from pegboard.registry.versions import Versions
from pegboard.tools import as_tool
from pegboard.tools.example_checks import check_examples
from pegboard.tools.function_tool import FunctionTool

if TYPE_CHECKING:  # loaded by the first registry: they bring asyncio, half of what an import costs
    from pegboard.execution import CallEnvironment
    from pegboard.execution.results.paging import ResultPage
    from pegboard.registry.tool_meanings import ToolMeanings


class ToolRegistry:
    """Tools by name, and the way to call them.

    ```python
    registry = ToolRegistry([letter_counter, other_tool])
    result = await registry.call("letter_counter", {"word": "pear", "letter": "e"})
    result.unwrap()  # 1
    ```

    Args:
        tools: Functions, methods, `BaseTool`s, subclasses of it or `Tool`s.
        on_conflict: What to do when a name is taken: `error`, or `replace` (the last one wins).
        policy: Who may call what; None for the defaults of a library.
        listeners: Receive an event for each call.
        environment: Policy, stores, clocks and limits for calls; for programs that run a board.
            Cannot be combined with `policy` and `listeners`.

    Attributes:
        offers: Resources and prompts.
        changes: Notifies listeners when something is added, removed or changed.
        versions: Older versions of tools, which are called by a pin: `search@1.2`.
        usage: What search prefers among tools that match nearly as well; a board fills it.
        meanings: Vectors of the tools; None where search is by words alone.
    """

    def __init__(
        self,
        tools: Iterable[Any] = (),
        on_conflict: OnConflict = "error",
        *,
        policy: Policy | None = None,
        listeners: Sequence[Listener] = (),
        environment: "CallEnvironment | None" = None,
    ) -> None:
        from pegboard.execution import CallEnvironment, Pipeline
        from pegboard.execution.emitter import Emitter

        self.changes = ChangeNotifier()
        self._catalogue = NameIndex(self.changes)
        self._on_conflict: OnConflict = check_on_conflict(on_conflict)
        if environment is not None and (policy is not None or listeners):
            raise ConfigError(
                "ToolRegistry: 'policy' and 'listeners' cannot be combined with 'environment'; "
                "set them there"
            )
        if isinstance(policy, Mapping):
            raise ConfigError("ToolRegistry: write policy=Policy(deny=(...)), not a mapping")
        if not hasattr(tools, "__iter__"):
            raise ConfigError("ToolRegistry takes several tools: write ToolRegistry([...])")
        self.usage = ToolUsage()
        self.meanings: ToolMeanings | None = None
        self._namesakes = Namesakes()
        self._environment = self._bind(
            environment
            or CallEnvironment(policy=policy or Policy(), emitter=Emitter(guests=listeners))
        )
        self.versions = self._catalogue.versions = Versions(self._environment.now)
        self.offers = ResourcesAndPrompts(self._environment, self.changes)
        self._pipeline = Pipeline(self._catalogue.find, self.nearest, self._environment)
        for item in tools:
            self.add(item)

    @property
    def environment(self) -> "CallEnvironment":
        """Policy, stores, clocks and limits for calls."""
        return self._environment

    @property
    def switches(self) -> Switches:
        """Kill switches; a change holds from the next call on."""
        return self._environment.switches

    def apply(self, environment: "CallEnvironment") -> None:
        """Use another environment from now on; running calls keep the one they began with."""
        from pegboard.execution import Pipeline

        self._environment = self._bind(environment)
        self._pipeline = Pipeline(self._catalogue.find, self.nearest, self._environment)
        self.offers.apply(self._environment)

    # registration and lookup

    def add(
        self, candidate: Any, *, replace: bool = False, on_conflict: OnConflict | None = None
    ) -> Tool:
        """Register a tool, or an object that can become one.

        Args:
            candidate: A function, a tool, or a class of tools.
            replace: Take the place of a tool with this name; the same as `on_conflict="replace"`.
            on_conflict: As for the registry, for this tool only.

        Raises:
            DuplicateTool: The name is taken; names both origins.
            ToolSignatureError: It cannot become a tool, or an example does not fit its schema.
        """
        made = as_tool(candidate)
        # the spec of a function is built on first use; its name is known before
        known = made if isinstance(made, FunctionTool) else made.spec
        name, target = known.name, known.target
        if known.examples and not made.spec.unavailable:  # whose schema may be unknown
            check_examples(made.spec, getattr(made, "arguments", None))
        on_conflict = "replace" if replace else on_conflict or self._on_conflict
        self._catalogue.add(name, made, on_conflict=on_conflict)
        self._forget_paths(name, made)
        if self._namesakes.put(name, target):
            self._decide_again()
        return made

    def remove(self, name: str) -> Tool:
        """Remove a tool.

        Raises:
            ToolNotFound: No such tool; suggests similar names.
        """
        tool = self._catalogue.remove(name)
        self._forget_paths(name, tool)
        if self._namesakes.remove(name):
            self._decide_again()
        return tool

    def _bind(self, environment: "CallEnvironment") -> "CallEnvironment":
        """The environment with a policy that knows which tools here run the same."""
        policy, index = environment.policy, environment.resource_index
        bound = policy.bind(self._namesakes, now=environment.now, resources=index)
        return replace(environment, policy=bound)

    def _decide_again(self) -> None:
        """Let the policy decide anew, because tools that run the same have come or gone."""
        self._environment.policy.forget_decisions()
        self._pipeline.forget_all()

    def _forget_paths(self, name: str, tool: Tool) -> None:
        """Forget the compiled paths of a tool, and of another one that had its id."""
        if self._pipeline.has_paths:  # else a function need not build its spec
            self._pipeline.forget(name)
            self._pipeline.forget(tool.spec.id)

    def get(self, name: str, *, principal: Principal = LOCAL) -> Tool:
        """The tool of a wire name or an id, hidden tools included.

        Raises:
            ToolNotFound: No such tool, or one of a source that this caller may not know of;
                suggests similar names that this caller may see.
        """
        tool = self.find_for(name, principal)
        if tool is None:
            raise ToolNotFound(name, self.nearest(name, principal))
        return tool

    def nearest(
        self,
        name: str,
        principal: Principal = LOCAL,
        *,
        keep: Callable[[Tool], bool] = lambda _: True,
    ) -> tuple[str, ...]:
        """At most three similar names; hidden tools are never suggested.

        Args:
            name: The name.
            principal: The caller.
            keep: Whether a tool may be suggested.
        """
        return self._catalogue.nearest(
            name, lambda tool: keep(tool) and self.may_see(tool, principal)
        )

    def find(self, name: str) -> Tool | None:
        """The tool of a wire name or an id; None when there is none."""
        return self._catalogue.find(name)

    def find_for(self, name: str, principal: Principal) -> Tool | None:
        """The same, and None for a tool of a source that this caller may not know of."""
        tool = self._catalogue.find(name)
        hides = self._environment.resource_index.hides
        return None if tool is None or hides(principal, tool.spec.source) else tool

    def names(self) -> tuple[str, ...]:
        """All names, in the order of registration."""
        return self._catalogue.names()

    def match_names(self, pattern: str) -> tuple[str, ...]:
        """The names that a glob as `crm__*` matches, in the order of registration."""
        return self._catalogue.match(pattern)

    @property
    def revision(self) -> int:
        """Grows with each change of the tools."""
        return self._catalogue.revision

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._catalogue)

    def __len__(self) -> int:
        return len(self._catalogue)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._catalogue.find(name) is not None

    def __repr__(self) -> str:
        return f"ToolRegistry({len(self)} tools)"

    # visibility and search

    def visible(self, principal: Principal = LOCAL) -> list[Tool]:
        """The tools that this caller may see, in the order of registration."""
        return list(filter(make_filter(principal, self._environment), self._catalogue))

    def may_see(self, tool: Tool, principal: Principal = LOCAL) -> bool:
        """Whether a caller may see a tool."""
        return may_see(tool, principal, self._environment)

    def visible_to_models(self, principal: Principal = LOCAL) -> list[Tool]:
        """Those of them that a model may be shown: no model gets an agent as a tool."""
        return [tool for tool in self.visible(principal) if is_for_models(tool)]

    def search(
        self,
        query: str | ToolQuery,
        *,
        principal: Principal = LOCAL,
        keep: Callable[[Tool], bool] | None = None,
        prepared: PreparedSearch = BY_WORDS,
    ) -> list[Tool]:
        """The matching tools, the best first, without those that the caller may not see.

        Args:
            query: Words to rank by, or a query with filters.
            principal: The caller.
            keep: Whether a tool may be found; None for every tool.
            prepared: What `prepare_search` has made for these words.
        """
        wanted = ToolQuery(query=query) if isinstance(query, str) else query
        has_filters = wanted != ToolQuery(query=wanted.query, limit=wanted.limit)
        is_visible = make_filter(principal, self._environment)

        def is_wanted(tool: Tool) -> bool:
            return (
                (keep is None or keep(tool))
                and is_visible(tool)
                and (not has_filters or matches(tool.spec, wanted))
            )

        accept = is_visible if keep is None and not has_filters else is_wanted
        if not wanted.query.strip():
            return list(islice(filter(accept, self._catalogue), wanted.limit))
        words, prefer = wanted.query, self.usage.prefer(principal)
        meanings = prepared.find_meanings(words)
        return self._catalogue.search(words, accept, wanted.limit, prefer=prefer, meanings=meanings)

    async def prepare_search(
        self, question: str = "", *, principal: Principal = LOCAL
    ) -> PreparedSearch:
        """Bring the search index up to date before a search, in a thread where that takes long.

        Args:
            question: The words of the search, whose meaning is looked up where a board does that.
            principal: The caller.
        """
        await self._catalogue.prepare_index()
        meanings = self.meanings if question.strip() else None
        return BY_WORDS if meanings is None else await meanings.prepare(question, principal)

    def unavailable(
        self, query: ToolQuery | None = None, *, principal: Principal = LOCAL
    ) -> list[ToolSpec]:
        """The tools that pass the filters and that no caller can use now, with the reason.

        A tool that is turned off is among them only for a caller who may know of it.

        Args:
            query: The filters; its words and its limit do not count.
            principal: For whom; hidden tools are never among them.
        """
        from pegboard.registry.health import list_unavailable

        environment, filters = self._environment, replace(query or ToolQuery(), query="")
        policy, switches = environment.policy, environment.switches
        found = (it for it in list_unavailable(self._catalogue, switches) if matches(it, filters))
        return [it for it in found if may_know(principal, it, policy=policy, switches=switches)]

    def explain(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        principal: Principal = LOCAL,
        asker: Principal | None = None,
    ) -> Explanation:
        """Why this caller may or may not call a tool, hidden tools included.

        Args:
            name: Wire name or id.
            arguments: Those of a call, for rules that look at them; None for any call.
            principal: The caller.
            asker: Who is told; None for the caller.

        Raises:
            ToolNotFound: No such tool, or one of a source that only its owner's side and operators
                may know of.
            ToolArgumentError: The arguments do not fit.
        """
        from pegboard.execution.compiled_tool import CompiledTool

        asker = asker or principal
        tool = (self.find(name) if asker.is_operator else None) or self.get(name, principal=asker)
        read = None if arguments is None else CompiledTool(tool, keyed=False).read(arguments)
        kit = self._environment
        why = kit.quotas.explain(principal) if kit.quotas else ""
        return explain(
            principal, tool.spec, read, policy=kit.policy, switches=kit.switches, quota=why
        )

    def openai_tools(self, *, principal: Principal = LOCAL) -> list[dict[str, Any]]:
        """The tools that this caller may see, in the format of OpenAI's chat completions API."""
        return [openai_tool(tool.spec) for tool in self.visible_to_models(principal)]

    # calling

    def call(
        self, name: str, arguments: Arguments = None, ctx: ToolContext[Any] | None = None
    ) -> Coroutine[Any, Any, ToolResult]:
        """Call one tool. A failure is a result too; only cancellation is raised.

        Args:
            name: Wire name or id.
            arguments: A mapping, or JSON text.
            ctx: Caller, deadline and idempotency key; None for the local user.

        Raises:
            TypeError: `ctx` is not a `ToolContext`.
        """
        return self._pipeline.call(name, arguments, ctx)

    def refuse_unknown(
        self,
        name: str,
        arguments: Arguments,
        ctx: ToolContext[Any] | None,
        nearest: Iterable[str] = (),
    ) -> Coroutine[Any, Any, ToolResult]:
        """Answer and record a call as one of an unknown tool, whatever tools there are.

        Args:
            name: The name that was called.
            arguments: Of the call.
            ctx: As of `call`.
            nearest: Similar names to suggest.
        """
        return self._pipeline.refuse_unknown(name, arguments, ctx, nearest)

    async def call_many(
        self, calls: Sequence[tuple[str, Arguments]], ctx: ToolContext[Any] | None = None
    ) -> list[ToolResult]:
        """Run a batch concurrently; results in the order of the calls, failures isolated."""
        return await self._pipeline.call_many(calls, ctx)

    def call_sync(
        self, name: str, arguments: Arguments = None, ctx: ToolContext[Any] | None = None
    ) -> ToolResult:
        """`call` from code without an event loop, or from a notebook.

        Raises:
            SyncUse: The tool is an async function: use `await registry.call(...)`.
        """
        from pegboard.registry.sync_bridge import LOOP_THREAD, refuse_async

        refuse_async(self._catalogue.find, [name])
        return LOOP_THREAD.run(self._pipeline.call_apart(name, arguments, ctx))

    def call_many_sync(
        self, calls: Sequence[tuple[str, Arguments]], ctx: ToolContext[Any] | None = None
    ) -> list[ToolResult]:
        """`call_many` from code without an event loop.

        Raises:
            SyncUse: One of the tools is an async function.
        """
        from pegboard.registry.sync_bridge import LOOP_THREAD, refuse_async

        refuse_async(self._catalogue.find, [name for name, _ in calls])
        return LOOP_THREAD.run(self._pipeline.call_many(calls, ctx))

    async def read_result(
        self, handle: str, *, page: int = 1, ctx: ToolContext[Any] | None = None
    ) -> "ResultPage":
        """Read a page of a stored result; only its owner may.

        Raises:
            HandleNotFound: Unknown, expired, owned by another caller, or no such page.
        """
        principal = (ctx or ToolContext()).principal
        size = self._environment.settings.max_result_bytes
        from pegboard.execution.results.paging import read_page

        return await read_page(handle, self._environment.results, principal, page=page, size=size)

    # views, which change nothing; their calls are recorded like all others

    def only(self, *names: str) -> "ToolRegistry":
        """A view with only these tools, by names, ids or globs as `crm__*`.

        Raises:
            ToolNotFound: There is no such tool, or none that a glob matches.
        """
        chosen = {tool.spec.name: tool for name in names for tool in self._named(name)}
        return self._view(chosen.items())

    def exclude(self, *names: str) -> "ToolRegistry":
        """A view without these tools, by names, ids or globs as `crm__*`.

        Raises:
            ToolNotFound: There is no such tool, or none that a glob matches.
        """
        left_out = {tool.spec.name for name in names for tool in self._named(name)}
        return self._view((n, tool) for n, tool in self._catalogue.items() if n not in left_out)

    def filter_by_category(self, *categories: str) -> "ToolRegistry":
        """A view with the tools of these categories."""
        items = self._catalogue.items()
        return self._view((name, tool) for name, tool in items if tool.spec.category in categories)

    def prefixed(self, prefix: str) -> "ToolRegistry":
        """A view in which every name has this prefix."""
        return self.renamed({name: f"{prefix}{name}" for name in self.names()})

    def renamed(self, names: Mapping[str, str]) -> "ToolRegistry":
        """A view in which some tools have other names."""
        new = {self.get(name).spec.name: wanted for name, wanted in names.items()}
        return self._view(
            (new[n], RenamedTool(tool, new[n])) if n in new else (n, tool)
            for n, tool in self._catalogue.items()
        )

    def with_policy(self, policy: Policy) -> "ToolRegistry":
        """A view with another policy."""
        return self._view(
            self._catalogue.items(), environment=replace(self._environment, policy=policy)
        )

    def _named(self, name: str) -> list[Tool]:
        if not is_glob(name):
            return [self.get(name)]
        # a glob that matches nothing is taken for a name, whose error says that there is none
        return [self.get(known) for known in self.match_names(name) or (name,)]

    def _view(
        self, tools: Iterable[tuple[str, Tool]], *, environment: "CallEnvironment | None" = None
    ) -> "ToolRegistry":
        view = ToolRegistry(
            on_conflict=self._on_conflict, environment=environment or self._environment
        )
        view.usage, view.meanings = self.usage, self.meanings
        view.versions = view._catalogue.versions = self.versions
        view._namesakes.update(self._namesakes)
        for name, tool in tools:
            view._catalogue.add(name, tool, on_conflict="error")
        return view
