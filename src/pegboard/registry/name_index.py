"""The tools of a registry by name: one flat dict, with origins and an order."""

from collections.abc import Callable, Iterator
from typing import Literal, get_args

from pegboard.core.suggestions import nearest_names
from pegboard.core.tool import Tool
from pegboard.core.wire_names import is_wire_name
from pegboard.errors import DuplicateTool, InvalidRequest, ToolNotFound
from pegboard.registry.change_notifier import Changes
from pegboard.registry.search import SearchIndex
from pegboard.registry.version_specifiers import fits_pin
from pegboard.registry.versions import Versions

OnConflict = Literal["error", "replace"]


def checked(on_conflict: OnConflict) -> OnConflict:
    """What to do about a name that is taken, if there is such a thing.

    Raises:
        InvalidRequest: There is not.
    """
    if on_conflict not in get_args(OnConflict):
        raise InvalidRequest(f"on_conflict is 'error' or 'replace', not {on_conflict!r}")
    return on_conflict


class NameIndex:
    """Tools by wire name and by id; may change in one thread while others look.

    Attributes:
        version: Grows with each change, so that what was derived can be kept until then.
        versions: Where older versions of its tools are found; None for nowhere.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._tools: dict[str, Tool] = {}
        self._ids: dict[str, str] | None = None
        self._index: tuple[int, SearchIndex] | None = None
        self.version = 0
        self.versions: Versions | None = None

    def add(self, name: str, tool: Tool, *, on_conflict: OnConflict) -> None:
        """Put a tool on the board.

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
        self._changed()
        if ids is not None and (known is None or known.spec.id == tool.spec.id):
            # kept: who asks by id between any two of ten thousand new tools must not pay for all
            if known is None:
                ids[tool.spec.id] = name
            self._ids = ids

    def remove(self, name: str) -> Tool:
        """Take a tool off the board.

        Raises:
            ToolNotFound: There is none.
        """
        tool = self._tools.pop(name, None)
        if tool is None:
            raise ToolNotFound(name, self.nearest(name))
        self._changed()
        return tool

    def find(self, name: str) -> Tool | None:
        """The tool of a wire name or an id, or of one with a pin; None when there is none."""
        tool = self._tools.get(name)
        if tool is not None:
            return tool
        wire = self._by_id().get(name)
        if wire is not None:
            return self._tools.get(wire)
        if "@" in name:
            return self._pinned(*name.split("@", 1))
        plain, _, major = name.rpartition("_v")
        return self._pinned(plain, major) if major.isdecimal() and plain in self._tools else None

    def _pinned(self, plain: str, pin: str) -> Tool | None:
        """The tool of `search@1.2`: the one on the board if that fits, or else another version.

        A version that is named in full is that one, whatever else begins with its numbers.

        `search_v1` is found so too, once `search` has gone on to `search_v2`.
        """
        tool = self._tools.get(plain) or self._tools.get(self._by_id().get(plain, ""))
        if tool is None or tool.spec.version == pin:
            return tool
        known = None if self.versions is None else self.versions.before(tool, pin)
        return tool if known is None and fits_pin(tool.spec.version, pin) else known

    def nearest(
        self, name: str, may_name: Callable[[Tool], bool] = lambda _: True
    ) -> tuple[str, ...]:
        """At most three names that were perhaps meant, of tools that may be named."""
        tools = dict(self._tools)
        return nearest_names(name, tools, may_name=lambda wire: may_name(tools[wire]))

    def index(self) -> SearchIndex:
        """Finds tools by words; made when somebody searches, and again once they have changed."""
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
        """Names and tools, as of now."""
        return list(self._tools.items())

    def __len__(self) -> int:
        return len(self._tools)

    def _by_id(self) -> dict[str, str]:
        known = self._ids
        if known is None:
            self._ids = known = {tool.spec.id: name for name, tool in self.items()}
        return known

    def _changed(self) -> None:
        self._ids = None
        self.version += 1
        self._changes.tell("tools")


def _origin(tool: Tool) -> str:
    source = tool.spec.source
    if source:
        return f"source '{source}'"
    function = getattr(tool, "function", None)
    where = getattr(function, "__module__", None)
    return f"module '{where}'" if where else type(tool).__name__
