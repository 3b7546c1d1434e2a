"""The tools of a registry by name and by id."""

from collections.abc import Callable, Iterator
from typing import Literal, get_args

from pegboard.core.suggestions import nearest_names
from pegboard.core.tool import Tool
from pegboard.core.wire_names import is_wire_name
from pegboard.errors import DuplicateTool, InvalidRequest, ToolNotFound
from pegboard.registry.change_notifier import ChangeNotifier
from pegboard.registry.search import SearchIndex
from pegboard.registry.version_specifiers import fits_pin
from pegboard.registry.versions import Versions

OnConflict = Literal["error", "replace"]


def check_on_conflict(on_conflict: OnConflict) -> OnConflict:
    """Validate the value of `on_conflict`.

    Raises:
        InvalidRequest: There is no such value.
    """
    if on_conflict not in get_args(OnConflict):
        raise InvalidRequest(f"on_conflict is 'error' or 'replace', not {on_conflict!r}")
    return on_conflict


class NameIndex:
    """Tools by wire name and by id; may be changed by one thread while others read.

    Attributes:
        version: Grows with each change, to invalidate what was derived from the tools.
        versions: Older versions of the tools; None for none.
    """

    def __init__(self, changes: ChangeNotifier) -> None:
        self._changes = changes
        self._tools: dict[str, Tool] = {}
        self._ids: dict[str, str] | None = None
        self._index: tuple[int, SearchIndex] | None = None
        self.version = 0
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
        self._mark_changed()
        if ids is not None and (known is None or known.spec.id == tool.spec.id):
            # kept: a lookup by id between two of ten thousand additions must not rebuild it
            if known is None:
                ids[tool.spec.id] = name
            self._ids = ids

    def remove(self, name: str) -> Tool:
        """Remove a tool.

        Raises:
            ToolNotFound: No such tool.
        """
        tool = self._tools.pop(name, None)
        if tool is None:
            raise ToolNotFound(name, self.nearest(name))
        self._mark_changed()
        return tool

    def find(self, name: str) -> Tool | None:
        """The tool of a wire name, an id or a pin (`search@1.2`); None when there is none."""
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

    def nearest(
        self, name: str, may_name: Callable[[Tool], bool] = lambda _: True
    ) -> tuple[str, ...]:
        """At most three similar names, of tools that may be named."""
        tools = dict(self._tools)
        return nearest_names(name, tools, may_name=lambda wire: may_name(tools[wire]))

    def index(self) -> SearchIndex:
        """The search index; built on first use, and again after a change."""
        known = self._index
        if known is None or known[0] != self.version:
            self._index = known = (self.version, SearchIndex(self))
        return known[1]

    def names(self) -> tuple[str, ...]:
        """All wire names in the order of registration."""
        return tuple(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(list(self._tools.values()))

    def items(self) -> list[tuple[str, Tool]]:
        """A snapshot of names and tools."""
        return list(self._tools.items())

    def __len__(self) -> int:
        return len(self._tools)

    def _by_id(self) -> dict[str, str]:
        known = self._ids
        if known is None:
            self._ids = known = {tool.spec.id: name for name, tool in self.items()}
        return known

    def _mark_changed(self) -> None:
        self._ids = None
        self.version += 1
        self._changes.notify("tools")


def _origin(tool: Tool) -> str:
    source = tool.spec.source
    if source:
        return f"source '{source}'"
    function = getattr(tool, "function", None)
    where = getattr(function, "__module__", None)
    return f"module '{where}'" if where else type(tool).__name__
