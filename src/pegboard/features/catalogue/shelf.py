"""The registered tools of a board as they stand: in the registry, and what is kept of them."""

import logging
from collections.abc import Callable
from datetime import UTC, date, datetime

from pegboard.core.ports.catalogue import ToolVersion
from pegboard.core.tool import Tool
from pegboard.errors import AccessDenied, DuplicateTool, PegboardError, ToolNotFound
from pegboard.features.catalogue.drafts import Draft
from pegboard.features.catalogue.views import Registered
from pegboard.registry import ToolRegistry

_LOG = logging.getLogger("pegboard.catalogue")


class Shelf:
    """Keeps the registry as the registrations say; nothing of it is stored here.

    Args:
        registry: The board's tools.
        owner_of_name: Which source a name belongs to; empty when it is free.

    Attributes:
        stored: The versions of each name, the oldest first.
        active: The names that mean one of them now.
    """

    def __init__(self, registry: ToolRegistry, owner_of_name: Callable[[str], str]) -> None:
        self._registry = registry
        self._owner_of_name = owner_of_name
        self.stored: dict[str, list[ToolVersion]] = {}
        self.active: set[str] = set()

    def check_free(self, name: str) -> None:
        """Refuse a name that is somebody else's.

        Raises:
            DuplicateTool: It belongs to a source, or to the board file.
        """
        owner = self._owner_of_name(name)
        if owner:
            raise DuplicateTool(name, f"source '{owner}'", "this registration")
        known = None if name in self.active else self._registry.find(name)
        if known is not None and known.spec.name == name:
            raise DuplicateTool(name, "the board", "this registration")

    def version_of(self, name: str) -> str:
        """The version that a name means now; empty when it means nothing."""
        return self._registry.versions.current(name).version if name in self.active else ""

    def put(self, draft: Draft, kept: ToolVersion) -> Registered:
        """Put on the board what is kept."""
        versions, name = self._registry.versions, kept.name
        if draft.is_new:
            tool = versions.register(draft.tool)
            self.stored.setdefault(name, []).append(kept)
        elif versions.is_rolled_back(name):
            tool = versions.current(name).tool
        else:
            tool = versions.use(name, kept.version, tool=draft.tool)
        self.swap(name, tool)
        shown = versions.get(name, kept.version)
        return Registered(
            spec=shown.tool.spec,
            version=kept.version,
            change=shown.kind.value if draft.is_new and shown.kind is not None else "",
            is_new=draft.is_new,
            is_current=tool.spec.version == kept.version,
        )

    def take_off(self, name: str) -> None:
        """Let a name mean nothing; its versions stay."""
        self.active.discard(name)
        if name in self._registry:
            self._registry.remove(name)

    def swap(self, name: str, tool: Tool) -> None:
        """Let a name mean this tool."""
        self._registry.add(tool, on_conflict="replace")
        self.active.add(name)

    def recall(self, item: ToolVersion, tool: Tool) -> None:
        """Take in a stored version of a tool."""
        versions = self._registry.versions
        versions.register(Draft.numbered(tool, item.version))
        self.stored.setdefault(item.name, []).append(item)
        if item.status == "deprecated":
            versions.deprecate(item.name, item.version, on=_day(item.deprecated_until))

    def recalled(self, name: str, version: str) -> None:
        """Let a name mean what it meant."""
        versions = self._registry.versions
        try:
            self.check_free(name)
            if versions.current(name).version != version:
                versions.roll_back(name, version)
            self._registry.add(versions.current(name).tool, on_conflict="replace")
        except PegboardError as error:
            _LOG.warning("%s is not put on the board: %s", name, error)
            return
        self.active.add(name)

    def forget(self) -> None:
        """Take everything off the board, before it is read again."""
        for name in self.active:
            if name in self._registry:
                self._registry.remove(name)
        for name in self.stored:
            self._registry.versions.forget(name)
        self.stored.clear()
        self.active.clear()

    def wire(self, name: str) -> str:
        """The wire name of a name or id, also of a tool that was removed."""
        tool = self._registry.find(name)
        if tool is not None:
            return tool.spec.name
        plain, _, major = name.rpartition("_v")
        return plain if name not in self.stored and major.isdecimal() else name

    def own(self, name: str) -> str:
        """The wire name of a tool that was registered here.

        Raises:
            ToolNotFound: There is no such tool.
            AccessDenied: It comes from a source or from the board file.
        """
        wire = self.wire(name)
        if wire in self.stored:
            return wire
        tool = self._registry.find(name)
        if tool is None:
            raise ToolNotFound(name, self._registry.nearest(name))
        where = f"the source '{tool.spec.source}'" if tool.spec.source else "the board file"
        raise AccessDenied(name, f"it was not registered here, it comes from {where}")


def _day(at: float | None) -> date | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).date()
