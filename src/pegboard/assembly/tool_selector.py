"""`ToolSelector`: which tools a model is shown for one message, and what stays as it was."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from msgspec import Struct, json, structs

from pegboard.assembly.meta_tools import META_TOOLS, RESERVED_NAMES, describe_tools
from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.model_messages import ModelTool
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
        skipped: Stages of the search that failed: `("meaning",)` where it was by words alone.
    """

    basis: str = ""
    tools: tuple[ModelTool, ...] = ()
    reached: tuple[str, ...] = ()
    appended: tuple[str, ...] = ()
    note: str = ""
    skipped: tuple[str, ...] = ()


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
        limits = self._limits
        if sum(1 for _ in islice(self._visible(), limits.list_all + 1)) > limits.list_all:
            self._toolset = await self._toolset.prepare_search(question, self._principal)

    def select(self, question: str) -> ModelToolList:
        """What the model is shown for a question: the steps `select` and `disclose`."""
        chosen, is_whole = self._choose(question)
        shown = self._show(chosen, is_whole=is_whole)
        return structs.replace(shown, skipped=() if is_whole else self._toolset.prepared.skipped)

    def _show(self, chosen: Sequence[Tool], *, is_whole: bool) -> ModelToolList:
        kept = self._kept
        if kept is None or kept.basis != self._basis or self._has_withdrawn(kept):
            return self._make_list(chosen, is_whole=is_whole)
        known = {tool.name for tool in kept.tools} | set(kept.appended)
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

    def _choose(self, question: str) -> tuple[Sequence[Tool], bool]:
        """The tools for a question, and whether these are all; none with a reserved name."""
        limits = self._limits
        first = list(islice(self._visible(), limits.list_all + 1))
        if len(first) <= limits.list_all:
            return first, True
        always = list(self._list_always())
        with log_and_continue(_LOG, "assembly: the tools for a question are not selected"):
            chosen = self._toolset.search(question, limit=limits.select, principal=self._principal)
            by_name = {tool.spec.name: tool for tool in (*always, *chosen)}
            return [by_name[name] for name in by_name if name not in RESERVED_NAMES], False
        every = list(islice(self._visible(), _MOST + 1))
        return (every, True) if self._fits(every) else (always, False)

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


def _name_entries(item: MetaTool) -> Iterator[str]:
    return (f"{item.name}:{name}" for name in item.entries)


def _write_note(tools: Iterable[Tool], entries: Mapping[str, str]) -> str:
    parts: list[str] = []
    if text := describe_tools(tools):
        parts.append(f"(More tools that may help, to be called by call_tool:)\n{text}")
    if entries:
        parts.append("\n".join(["(New, to be reached by:)", *entries.values()]))
    return "\n\n".join(parts)
