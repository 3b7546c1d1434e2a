"""The tools of a registry by name, by id and by alias."""

from collections import deque
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from operator import itemgetter
from threading import Lock
from typing import TYPE_CHECKING, Literal, get_args

from pegboard.access.visibility import ResourceIndex
from pegboard.core.principal import Principal
from pegboard.core.text.suggestions import nearest_names
from pegboard.core.tool import Tool
from pegboard.core.wire_names import is_wire_name
from pegboard.errors import DuplicateTool, InvalidRequest, ToolNotFound
from pegboard.registry.change_notifier import ChangeNotifier
from pegboard.registry.tool_visibility import ToolGroups, ToolsBySource
from pegboard.registry.version_specifiers import fits_pin
from pegboard.registry.versions import Versions

if TYPE_CHECKING:
    from pegboard.registry.search_index import Meanings, SearchIndex

OnConflict = Literal["error", "replace"]
_MAX_PATTERNS, _MAX_LOG = 1_000, 10_000
_MANY_CHANGES = 50
"""Changed tools that are indexed at once on the event loop: 10 ms."""


def check_on_conflict(on_conflict: OnConflict) -> OnConflict:
    """Validate the value of `on_conflict`.

    Raises:
        InvalidRequest: There is no such value.
    """
    if on_conflict not in get_args(OnConflict):
        raise InvalidRequest(f"on_conflict is 'error' or 'replace', not {on_conflict!r}")
    return on_conflict


class NameIndex:
    """Tools by wire name, id and alias; may be changed by one thread while others read.

    Attributes:
        versions: Older versions of the tools; None for none.
    """

    def __init__(self, changes: ChangeNotifier) -> None:
        self._changes = changes
        self._tools: dict[str, Tool] = {}
        self._by_source = ToolsBySource(self._tools)
        self._ids: dict[str, str] | None = None
        self._index: SearchIndex | None = None
        self._index_lock = Lock()
        self._not_indexed: deque[str] = deque()
        self._matches: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._name_log: list[str] = []
        self._version = 0
        self._snapshot: tuple[int, list[Tool]] | None = None
        self.versions: Versions | None = None

    def add(self, name: str, tool: Tool, *, on_conflict: OnConflict) -> None:
        """Add a tool.

        Raises:
            DuplicateTool: The name is taken and `on_conflict` is `error`.
            InvalidRequest: The name is not a wire name.
        """
        if not is_wire_name(name):
            raise InvalidRequest(
                f"'{name}' is not a tool name: at most 64 letters, digits, '_' and '-'"
            )
        known = self._tools.get(name)
        if known is not None and known is not tool and on_conflict != "replace":
            raise DuplicateTool(name, _origin(known), _origin(tool))
        ids = self._ids
        self._tools[name] = tool
        self._by_source.put(name)
        if known is None:
            self._log_name(name)
        self._mark_changed(name)
        if ids is not None and (known is None or known.spec.id == tool.spec.id):
            # kept: a lookup by id between two of ten thousand additions must not rebuild it
            if known is None:
                ids[tool.spec.id] = name
                if tool.spec.alias:
                    ids.setdefault(tool.spec.alias, name)
            self._ids = ids

    def remove(self, name: str) -> Tool:
        """Remove a tool.

        Raises:
            ToolNotFound: No such tool.
        """
        tool = self._tools.pop(name, None)
        if tool is None:
            raise ToolNotFound(name, self.nearest(name))
        self._by_source.remove(name)
        self._log_name(name)
        self._mark_changed(name)
        return tool

    def find(self, name: str) -> Tool | None:
        """The tool of a wire name, an id, an alias or a pin (`search@1.2`); None for none."""
        tool = self._tools.get(name)
        if tool is not None:
            return tool
        wire = self._by_id().get(name)
        if wire is not None:
            return self._tools.get(wire)
        if "@" in name:
            return self._find_pinned(*name.split("@", 1))
        plain, _, major = name.rpartition("_v")
        return (
            self._find_pinned(plain, major) if major.isdecimal() and plain in self._tools else None
        )

    def _find_pinned(self, plain: str, pin: str) -> Tool | None:
        """The tool of a pin: the current one where the pin matches it, otherwise another version.

        A version in full means exactly that version. `search_v1` is found here too, once the
        current tool is `search_v2`.
        """
        tool = self._tools.get(plain) or self._tools.get(self._by_id().get(plain, ""))
        if tool is None or tool.spec.version == pin:
            return tool
        known = None if self.versions is None else self.versions.before(tool, pin)
        return tool if known is None and fits_pin(tool.spec.version, pin) else known

    def list_sources(self, principal: Principal, index: ResourceIndex) -> ToolGroups:
        """The sources with tools that a caller may know of, in the order of registration."""
        return self._by_source.list_visible(principal, index)

    def iterate(self, sources: ToolGroups) -> Iterator[Tool]:
        """The tools of some sources, in the order of registration."""
        if sources is self._by_source.list_groups():
            return iter(self)
        entries = [entry for group in sources.values() for entry in group.tools.values()]
        entries.sort(key=itemgetter(0))
        return (tool for _, tool in entries)

    def nearest(
        self,
        name: str,
        may_name: Callable[[Tool], bool] = lambda _: True,
        *,
        sources: ToolGroups | None = None,
    ) -> tuple[str, ...]:
        """At most three similar names, of tools that may be named.

        Args:
            name: The unknown name.
            may_name: Whether a tool may be named.
            sources: The sources whose tools may be; None for all.
        """
        if sources is None or sources is self._by_source.list_groups():
            tools = dict(self._tools)
        else:
            groups = sources.values()
            tools = {wire: tool for group in groups for wire, (_, tool) in group.tools.items()}
        return nearest_names(name, tools, may_name=lambda wire: may_name(tools[wire]))

    def search(
        self,
        question: str,
        keep: Callable[[Tool], bool],
        limit: int,
        *,
        prefer: Callable[[Tool], float] | None = None,
        meanings: "Meanings | None" = None,
        sources: ToolGroups | None = None,
    ) -> list[Tool]:
        """The best matching tools, among those that `keep` accepts, as in `SearchIndex`."""
        with self._index_lock:
            index = self._update_index()
            if sources is self._by_source.list_groups():
                sources = None
            return index.search(
                question, keep, limit, prefer=prefer, meanings=meanings, sources=sources
            )

    @property
    def not_indexed(self) -> int:
        """Changes that the search index does not know yet."""
        return len(self._not_indexed)

    async def prepare_index(self) -> None:
        """Bring the search index up to date, in a thread where that takes long."""
        from pegboard.concurrency.cooperative import in_thread

        def update() -> None:
            with self._index_lock:
                self._update_index()

        await in_thread(update, is_large=self.not_indexed > _MANY_CHANGES)

    def _update_index(self) -> "SearchIndex":
        from pegboard.registry.search_index import SearchIndex

        index = self._index
        if index is None:
            index = self._index = SearchIndex()
        while self._not_indexed:
            name = self._not_indexed.popleft()
            tool = self._tools.get(name)
            if tool is None:
                index.remove(name)
            else:
                index.put(name, tool)
        return index

    @property
    def revision(self) -> int:
        """Grows with each change."""
        return self._version

    def names(self) -> tuple[str, ...]:
        """All wire names in the order of registration."""
        return tuple(self._tools)

    def match(self, pattern: str) -> tuple[str, ...]:
        """The wire names that a glob matches, in the order of registration.

        They are kept, and follow single changes.
        """
        log, (count, known) = self._name_log, self._matches.get(pattern, (0, None))
        if known is not None and count == len(log):
            return known
        now = len(log)
        if known is None or not 0 <= now - count <= _MANY_CHANGES:
            found = [name for name in list(self._tools) if fnmatchcase(name, pattern)]
        else:
            new = dict.fromkeys(log[count:now])
            found = [name for name in known if name not in new]
            found += [name for name in new if name in self._tools and fnmatchcase(name, pattern)]
        if len(self._matches) >= _MAX_PATTERNS:
            self._matches.clear()
        self._matches[pattern] = (now, tuple(found))
        return self._matches[pattern][1]

    def __iter__(self) -> Iterator[Tool]:
        version, known = self._version, self._snapshot
        if known is None or known[0] != version:
            self._snapshot = known = (version, list(self._tools.values()))
        return iter(known[1])

    def items(self) -> list[tuple[str, Tool]]:
        """A snapshot of names and tools."""
        return list(self._tools.items())

    def __len__(self) -> int:
        return len(self._tools)

    def _by_id(self) -> dict[str, str]:
        known = self._ids
        if known is None:
            items = self.items()
            known = {tool.spec.id: name for name, tool in items}
            for name, tool in items:
                if tool.spec.alias:
                    known.setdefault(tool.spec.alias, name)
            self._ids = known
        return known

    def _log_name(self, name: str) -> None:
        """Note a name that is new or gone, for what globs match."""
        if len(self._name_log) >= _MAX_LOG:
            self._matches, self._name_log = {}, []
        self._name_log.append(name)

    def _mark_changed(self, name: str) -> None:
        self._ids = None
        self._version += 1
        self._not_indexed.append(name)
        self._changes.notify("tools")


def _origin(tool: Tool) -> str:
    source = tool.spec.source
    if source:
        return f"source '{source}'"
    function = getattr(tool, "function", None)
    where = getattr(function, "__module__", None)
    return f"module '{where}'" if where else type(tool).__name__
