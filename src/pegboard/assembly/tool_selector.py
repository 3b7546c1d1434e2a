"""`ToolSelector`: which tools a model is shown for one message, and what stays as it was."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from msgspec import Struct, json, structs

from pegboard.assembly.meta_tools import META_TOOLS, RESERVED_NAMES, describe_tools
from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.model_messages import ModelTool, ModelUsage
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool
from pegboard.core.wire_names import is_glob
from pegboard.registry.tool_visibility import make_filter
from pegboard.registry.toolset import MetaTool, Toolset, render_tool

_LOG = logging.getLogger("pegboard.assembly")
_MOST = 128
"""Tools that a model is shown at most; providers refuse more."""
_BYTES_PER_TOKEN = 4
_MOST_OF_A_TEXT = 300
_CANDIDATES = 20
"""Tools that fit best, of which a model may choose those that are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionLimits:
    """How many tools a model is shown.

    Attributes:
        list_all: Up to so many tools are all listed.
        select: Of more, so many that fit the question.
        always_listed: Names and globs of tools that are listed beyond these.
        window: The context window of the model, in tokens; None for unknown.
    """

    list_all: int = 12
    select: int = 6
    always_listed: tuple[str, ...] = ()
    window: int | None = None


class ModelToolList(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a model is shown of its tools; recorded, and kept for the conversation.

    Attributes:
        basis: What it was made for: the agent, and the start of the conversation that it is shown.
        tools: The list, as it was rendered.
        reached: What the descriptions of its meta-tools name, as `connector:shop`.
        appended: The names of tools, and of what meta-tools reach, that messages have described
            since.
        note: The message that describes tools for this question; empty for none.
        skipped: Stages of the selection that failed: `meaning` where the search was by words alone,
            `rerank` where no model has re-ordered what it found.
        usage: Of the model that re-ordered the tools for this question.
    """

    basis: str = ""
    tools: tuple[ModelTool, ...] = ()
    reached: tuple[str, ...] = ()
    appended: tuple[str, ...] = ()
    note: str = ""
    skipped: tuple[str, ...] = ()
    usage: ModelUsage = ModelUsage()


class ToolSelector:
    """Chooses the tools that a model is shown, for one message of one caller.

    Args:
        toolset: What the agent may reach.
        principal: The caller.
        limits: How many tools are listed.
        basis: What a list is made for; a list of another basis is made anew.
        kept: The list of the message before; None for none.
        goes_on: Whether later messages may keep the list.
    """

    def __init__(
        self,
        toolset: Toolset,
        *,
        principal: Principal,
        limits: SelectionLimits,
        basis: str = "",
        kept: ModelToolList | None = None,
        goes_on: bool = False,
    ) -> None:
        self._toolset = toolset
        self._principal = principal
        self._limits = limits
        self._basis = basis
        self._kept = kept
        self._goes_on = goes_on

    async def prepare(self, question: str) -> None:
        """Bring search up to date before `select`, where it will search."""
        if len(self._list_first()) > self._limits.list_all:
            self._toolset = await self._toolset.prepare_search(question, self._principal)

    def find_candidates(self, question: str) -> list[Tool]:
        """The tools that fit a question, best first, for a model to re-order before `select`.

        None where another order would change nothing: all are listed, or the model knows them.
        """
        limits = self._limits
        if not limits.select or len(self._list_first()) <= limits.list_all:
            return []
        with log_and_continue(_LOG, "assembly: the tools for a question are not found"):
            found = self._search(question, limit=max(_CANDIDATES, limits.select))
            kept = self._find_kept_list()
            known = frozenset[str]() if kept is None else _list_known_names(kept)
            is_open = any(tool.spec.name not in known for tool in found)
            return found if is_open and len(found) > limits.select else []
        return []

    def select(self, question: str, order: Sequence[str] = ()) -> ModelToolList:
        """What the model is shown for a question: the steps `select` and `disclose`.

        Args:
            question: The message.
            order: Names that come first among the candidates; of others nothing is shown.
        """
        chosen, is_whole = self._choose(question, order)
        shown = self._show(chosen, is_whole=is_whole)
        return structs.replace(shown, skipped=() if is_whole else self._toolset.prepared.skipped)

    def _show(self, chosen: Sequence[Tool], *, is_whole: bool) -> ModelToolList:
        if (kept := self._find_kept_list()) is None:
            return self._make_list(chosen, is_whole=is_whole)
        known = _list_known_names(kept)
        new = [tool for tool in chosen if tool.spec.name not in known]
        entries = self._find_new_entries(kept)
        names = [*(tool.spec.name for tool in new), *entries]
        note = _write_note(new, entries)
        return structs.replace(kept, appended=(*kept.appended, *names), note=note)

    def assemble(self, shown: ModelToolList) -> Toolset:
        """The tools of a request with this list, without what was withdrawn since."""
        listed = tuple(self._find_listed(shown))
        wanted = {tool.name for tool in shown.tools}
        meta_tools = tuple(
            item for item in (*self._toolset.meta_tools, *META_TOOLS) if item.name in wanted
        )
        names = {tool.spec.name for tool in listed} | {item.name for item in meta_tools}
        rendered = tuple(tool for tool in shown.tools if tool.name in names)
        return self._toolset.replace(listed=listed, rendered=rendered, meta_tools=meta_tools)

    def _make_list(self, chosen: Sequence[Tool], *, is_whole: bool) -> ModelToolList:
        """A list with the meta-tools that reach what is not listed, and those always listed."""
        names = frozenset(tool.spec.name for tool in chosen)
        own = [
            item
            for item in self._toolset.meta_tools
            if item.is_always_listed or (not is_whole and item.reaches_beyond(names))
        ]
        added = own if is_whole and not self._goes_on else [*own, *META_TOOLS]
        return ModelToolList(
            basis=self._basis,
            tools=(*map(render_tool, chosen), *(item.render() for item in added)),
            reached=tuple(key for item in own for key in _name_entries(item)),
        )

    def _find_new_entries(self, kept: ModelToolList) -> dict[str, str]:
        """What the meta-tools of a list reach since it was made, with a line for each."""
        shown, known = {tool.name for tool in kept.tools}, {*kept.reached, *kept.appended}
        found: dict[str, str] = {}
        for item in self._toolset.meta_tools:
            if item.name not in shown or known.issuperset(_name_entries(item)):
                continue
            for name, text in item.describe().items():
                if (key := f"{item.name}:{name}") not in known:
                    found[key] = f"- {item.name}: {name}: {text[:_MOST_OF_A_TEXT]}"
        return found

    def _choose(self, question: str, order: Sequence[str]) -> tuple[Sequence[Tool], bool]:
        """The tools for a question, and whether these are all; none with a reserved name."""
        limits = self._limits
        first = self._list_first()
        if len(first) <= limits.list_all:
            return first, True
        always = list(self._list_always())
        with log_and_continue(_LOG, "assembly: the tools for a question are not selected"):
            count = max(_CANDIDATES, limits.select) if order else limits.select
            found = _put_first(self._search(question, limit=count), order)
            by_name = {tool.spec.name: tool for tool in (*always, *found[: limits.select])}
            return [by_name[name] for name in by_name if name not in RESERVED_NAMES], False
        every = list(islice(self._visible(), _MOST + 1))
        return (every, True) if self._fits(every) else (always, False)

    def _search(self, question: str, *, limit: int) -> list[Tool]:
        return self._toolset.search(question, limit=limit, principal=self._principal)

    def _list_first(self) -> list[Tool]:
        """The first tools: one more than are all listed, if there are so many."""
        return list(islice(self._visible(), self._limits.list_all + 1))

    def _visible(self) -> Iterator[Tool]:
        toolset, registry = self._toolset, self._toolset.registry
        return (
            tool
            for tool in registry.iterate_known(self._principal)
            if tool.spec.name not in RESERVED_NAMES
            and toolset.is_inner(tool)
            and toolset.is_reachable(tool)
            and registry.may_see(tool, self._principal)
        )

    def _list_always(self) -> Iterator[Tool]:
        toolset, registry = self._toolset, self._toolset.registry
        is_visible = make_filter(self._principal, registry.environment)
        for pattern in self._limits.always_listed:
            for name in registry.match_names(pattern) if is_glob(pattern) else (pattern,):
                tool = registry.find(name)
                if tool is not None and is_visible(tool) and toolset.is_reachable(tool):
                    yield tool

    def _find_kept_list(self) -> ModelToolList | None:
        """The list of the message before, if it can stay."""
        kept = self._kept
        if kept is None or kept.basis != self._basis or self._has_withdrawn(kept):
            return None
        return kept

    def _has_withdrawn(self, kept: ModelToolList) -> bool:
        entries = {key for item in self._toolset.meta_tools for key in _name_entries(item)}
        if not entries.issuperset(kept.reached):
            return True
        count = sum(1 for tool in kept.tools if tool.name not in RESERVED_NAMES)
        return count != sum(1 for _ in self._find_listed(kept))

    def _find_listed(self, shown: ModelToolList) -> Iterator[Tool]:
        toolset = self._toolset
        for rendered in shown.tools:
            tool = None if rendered.name in RESERVED_NAMES else toolset.find(rendered.name)
            if tool is not None and toolset.registry.may_see(tool, self._principal):
                yield tool

    def _fits(self, tools: Sequence[Tool]) -> bool:
        if len(tools) > _MOST:
            return False
        if self._limits.window is None:
            return True
        size = sum(len(json.encode(render_tool(tool))) for tool in tools)
        return size / _BYTES_PER_TOKEN <= self._limits.window / 4


def _put_first(tools: Sequence[Tool], order: Sequence[str]) -> list[Tool]:
    """The tools with those of some names first; a name of none of them is left out."""
    places = {name: place for place, name in enumerate(order)}
    return sorted(tools, key=lambda tool: places.get(tool.spec.name, len(places)))


def _list_known_names(kept: ModelToolList) -> frozenset[str]:
    """The names that a model has been shown."""
    return frozenset(tool.name for tool in kept.tools).union(kept.appended)


def _name_entries(item: MetaTool) -> Iterator[str]:
    return (f"{item.name}:{name}" for name in item.entries)


def _write_note(tools: Iterable[Tool], entries: Mapping[str, str]) -> str:
    parts: list[str] = []
    if text := describe_tools(tools):
        parts.append(f"(More tools that may help, to be called by call_tool:)\n{text}")
    if entries:
        parts.append("\n".join(["(New, to be reached by:)", *entries.values()]))
    return "\n\n".join(parts)
