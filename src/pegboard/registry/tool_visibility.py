"""Which tools a caller may see, judged source by source."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any

from pegboard.access import decide
from pegboard.access.visibility import ResourceIndex
from pegboard.core.decision import Action, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool

if TYPE_CHECKING:
    from pegboard.execution import CallEnvironment


def may_see(tool: Tool, principal: Principal, environment: "CallEnvironment") -> bool:
    """Whether a caller may see a tool."""
    policy, switches = environment.policy, environment.switches
    return decide(principal, tool.spec, Action.LIST, policy=policy, switches=switches).allowed


def make_filter(principal: Principal, environment: "CallEnvironment") -> Callable[[Tool], bool]:
    """Return `may_see` for many tools, which judges each source once."""
    policy, switches = environment.policy, environment.switches
    verdict, is_listed = Verdict.ALLOW, Action.LIST

    def is_allowed(tool: Tool) -> bool:
        found = decide(principal, tool.spec, is_listed, policy=policy, switches=switches)
        return found.verdict is verdict

    if not principal.user:
        return is_allowed
    hides = cache(partial(policy.resource_index.hides, principal))
    return lambda tool: not hides(tool.spec.source) and is_allowed(tool)


class SourceTools:
    """The tools of one source; it never changes.

    Attributes:
        tools: By name: a number that grows in the order of registration, and the tool.
    """

    __slots__ = ("__weakref__", "tools")

    def __init__(self, tools: Mapping[str, tuple[int, Tool]]) -> None:
        self.tools = tools

    def __iter__(self) -> Iterator[Tool]:
        return (tool for _, tool in self.tools.values())

    def __len__(self) -> int:
        return len(self.tools)

    @property
    def first(self) -> int:
        """The number of its first tool."""
        return next(iter(self.tools.values()))[0]


ToolGroups = Mapping[str, SourceTools]


@dataclass(frozen=True, slots=True)
class _Known:
    """Which sources were found, for whom, and from what."""

    principal: Principal | None
    groups: ToolGroups
    index: ResourceIndex
    revision: int
    found: ToolGroups

    def holds(self, principal: Principal | None, groups: ToolGroups, index: ResourceIndex) -> bool:
        """Whether the same would be found again."""
        return (
            self.principal is principal
            and self.groups is groups
            and self.index is index
            and self.revision == index.revision
        )


class ToolsBySource:
    """The tools of a registry by their source; a change costs as much as its own source is large.

    What a caller sees is found by the sources that it may know of, so that the tools of others
    cost nothing.

    Args:
        tools: The tools by name, which change.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._numbers: dict[str, int] = {}
        self._next = 0
        self._sources: dict[str, str] = {}
        self._groups: ToolGroups = {}
        self._changed: deque[str] = deque()
        self._lock = Lock()
        self._open: _Known | None = None
        self._known: _Known | None = None

    def put(self, name: str) -> None:
        """Note that a tool was added or replaced; its source is read when it is needed."""
        if name not in self._numbers:
            self._numbers[name] = self._next
            self._next += 1
        self._changed.append(name)

    def remove(self, name: str) -> None:
        """Note that a tool was removed."""
        self._numbers.pop(name, None)
        self._changed.append(name)

    def list_groups(self) -> ToolGroups:
        """All sources, by name, in the order of registration."""
        if self._changed:
            with self._lock:
                self._update()
        return self._groups

    def list_visible(self, principal: Principal, index: ResourceIndex) -> ToolGroups:
        """The sources that a caller may know of, in the order of registration.

        Where these are all, it is the same object as that of `list_groups`. The last answer is
        kept for the same `Principal`, since one request asks several times.

        Args:
            principal: The caller.
            index: Who may see which source.
        """
        groups = self.list_groups()
        if not principal.user:
            return groups
        known = self._known
        if known is None or not known.holds(principal, groups, index):
            found = self._find_visible(groups, principal, index)
            self._known = known = _Known(principal, groups, index, index.revision, found)
        return known.found

    def _find_visible(
        self, groups: ToolGroups, principal: Principal, index: ResourceIndex
    ) -> ToolGroups:
        found = self._list_open(groups, index)
        own = {name: groups[name] for name in index.list_sources(principal) if name in groups}
        if len(found) + len(own) == len(groups):
            return groups
        if not own:
            return found
        return dict(sorted(chain(found.items(), own.items()), key=lambda item: item[1].first))

    def _list_open(self, groups: ToolGroups, index: ResourceIndex) -> ToolGroups:
        """The sources that belong to nobody; kept until tools or resources change."""
        known = self._open
        if known is None or not known.holds(None, groups, index):
            found = {name: group for name, group in groups.items() if index.is_open(name)}
            self._open = known = _Known(None, groups, index, index.revision, found)
        return known.found

    def _update(self) -> None:
        changed: dict[str, dict[str, tuple[int, Tool]]] = {}

        def change(source: str) -> dict[str, tuple[int, Tool]]:
            if source not in changed:
                known = self._groups.get(source)
                changed[source] = {} if known is None else dict(known.tools)
            return changed[source]

        while self._changed:
            name = self._changed.popleft()
            tool, number = self._tools.get(name), self._numbers.get(name)
            before = self._sources.pop(name, None)
            if before is not None:
                entry = change(before).get(name)
                if tool is None or before != tool.spec.source or (entry and entry[0] != number):
                    change(before).pop(name, None)
            if tool is not None and number is not None:
                self._sources[name] = tool.spec.source
                change(tool.spec.source)[name] = (number, tool)
        groups = dict(self._groups)
        for source, tools in changed.items():
            groups.pop(source, None) if not tools else groups.update({source: SourceTools(tools)})
        self._groups = groups


class VisiblePostings(dict[str, dict[int, float]]):
    """What a search index knows of some of its tools: for each term, those of them that have it.

    It is filled term by term. So ranks depend on no tool that the caller may not see, and a search
    does not read what others have.

    Args:
        postings: What is gained by each term, by the numbers of tools.
        numbers: Those of the visible tools.
    """

    def __init__(self, postings: Mapping[str, dict[int, float]], numbers: AbstractSet[int]) -> None:
        super().__init__()
        self._all = postings
        self._visible = numbers

    def __missing__(self, term: str) -> dict[int, float]:
        gains, visible = self._all.get(term, {}), self._visible
        if len(visible) < len(gains):
            found = {number: gains[number] for number in visible if number in gains}
        else:
            found = {number: gain for number, gain in gains.items() if number in visible}
        self[term] = found
        return found

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and bool(self[term])

    def get(self, key: str, default: Any = None, /) -> Any:
        return self[key] or default
