"""The tools registered by API: their place in the registry, and what is stored of them."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from msgspec import structs

from pegboard.core.ports.catalogue_stores import ToolVersion, VersionStatus
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import AccessDenied, DuplicateTool, PegboardError, ToolNotFound
from pegboard.features.catalogue.registration_drafts import Draft
from pegboard.features.catalogue.views import RegistrationResult
from pegboard.registry import ToolRegistry
from pegboard.registry.version_specifiers import fits_pin

_LOG = logging.getLogger("pegboard.catalogue")


class RegisteredTools:
    """Keeps the registry in line with the registrations; stores nothing itself.

    Args:
        registry: The tools of the board.
        owner_of_name: Returns the source that a name belongs to; empty when it is free.

    Attributes:
        stored: The versions of each name, oldest first.
        active: The names that have a current version.
    """

    def __init__(self, registry: ToolRegistry, owner_of_name: Callable[[str], str]) -> None:
        self._registry = registry
        self._owner_of_name = owner_of_name
        self.stored: dict[str, list[ToolVersion]] = {}
        self.active: set[str] = set()
        self._by_digest: dict[str, ToolVersion] = {}

    def check_free(self, name: str, *, tool_id: str = "", asks: str = "this registration") -> None:
        """Refuse a name that is taken.

        Args:
            name: The requested name.
            tool_id: The requested tool id, which must not be the name of another tool.
            asks: Who requests it, for the message.

        Raises:
            DuplicateTool: The name belongs to a source or to the board file, or is the id of
                another tool, whose callers would then reach this one.
        """
        owner = self._owner_of_name(name)
        if owner:
            raise DuplicateTool(name, f"the source '{owner}'", asks, prefix=f"{owner}__")
        known = None if name in self.active else self._registry.find(name)
        if known is not None and known.spec.name == name:
            raise DuplicateTool(name, "the board", asks)
        if known is not None and known.spec.id == name:
            raise DuplicateTool(name, f"'{known.spec.name}', whose id it is,", asks)
        other = self._registry.find(tool_id) if tool_id else None
        if other is not None and other.spec.name == tool_id != name:
            raise DuplicateTool(tool_id, "the board", f"{asks}, whose id it is,")

    def find_by_digest(self, digest: str) -> ToolVersion | None:
        """Return the version with this definition, if any; a definition includes its name."""
        return self._by_digest.get(digest)

    def definition(self, spec: ToolSpec) -> Mapping[str, Any] | None:
        """Return the definition of this version of a tool; None if it was not registered by API."""
        kept = self.stored.get(spec.name, ()) if spec.name in self.active else ()
        return next((item.definition for item in kept if item.version == spec.version), None)

    def changes(self, draft: Draft) -> bool:
        """Whether a registration changes anything.

        A known definition changes nothing if it is current, or if its tool was rolled back from it.
        """
        if draft.known is None or draft.known.name not in self.active:
            return True
        versions, name = self._registry.versions, draft.known.name
        if versions.is_rolled_back(name):
            return False
        return not draft.is_there or versions.current(name).version != draft.known.version

    def version_of(self, name: str) -> str:
        """Return the current version of a name; empty for none."""
        return self._registry.versions.current(name).version if name in self.active else ""

    def put(self, draft: Draft, kept: ToolVersion) -> RegistrationResult:
        """Put a stored version into the registry."""
        versions, name = self._registry.versions, kept.name
        before = self.version_of(name)
        if draft.is_new:
            tool = versions.register(draft.tool, digest=draft.spec_digest, kind=draft.kind)
            self._remember(kept)
        elif versions.is_rolled_back(name):
            tool = versions.current(name).tool
        else:
            tool = versions.use(name, kept.version, tool=None if draft.is_there else draft.tool)
        self.swap(name, tool)
        shown = versions.get(name, kept.version)
        return RegistrationResult(
            spec=shown.tool.spec,
            version=kept.version,
            change=shown.kind.value if draft.is_new and shown.kind is not None else "",
            is_new=draft.is_new,
            is_changed=self.version_of(name) != before,
            is_current=tool.spec.version == kept.version,
        )

    def mark(self, name: str, version: str, *, status: VersionStatus) -> None:
        """Change the status of a version, as it was stored."""
        self.stored[name] = [
            structs.replace(item, status=status) if item.version == version else item
            for item in self.stored[name]
        ]
        if status == "removed":
            self._registry.versions.remove(name, version)
            if name in self.active:  # published again, so that no pin reaches the version
                current = self._registry.versions.current(name).tool
                self._registry.add(current, on_conflict="replace")

    def take_off(self, name: str) -> None:
        """Remove a name from the registry; its versions stay."""
        self.active.discard(name)
        if name in self._registry:
            self._registry.remove(name)

    def swap(self, name: str, tool: Tool) -> None:
        """Make this tool the current one of its name."""
        known = self._registry.find(name) if name in self.active else None
        if known is not tool:
            self._registry.add(tool, on_conflict="replace")
        self.active.add(name)

    def is_as_stored(self, name: str, items: Sequence[ToolVersion], *, active: str) -> bool:
        """Whether a name has the same versions here as in the store."""
        known = self.stored.get(name)
        if known is None or known != list(items):
            return False
        if name not in self.active:
            return not active
        return self._registry.versions.current(name).version == active

    def restore(
        self, name: str, made: Sequence[tuple[ToolVersion, Tool]], *, active: str = ""
    ) -> None:
        """Restore a name as it is stored; it stays registered meanwhile.

        Args:
            name: The tool.
            made: Its versions, oldest first.
            active: The current version; empty for none.
        """
        self._registry.versions.forget(name)
        for item in self.stored.pop(name, ()):
            self._by_digest.pop(item.digest, None)
        for item, tool in made:
            self._restore_version(item, tool)
        if active:
            self._restore_current(name, active)
        elif name in self.active:
            self.take_off(name)

    def _remember(self, item: ToolVersion) -> None:
        self.stored.setdefault(item.name, []).append(item)
        self._by_digest[item.digest] = item

    def _restore_version(self, item: ToolVersion, tool: Tool) -> None:
        """Add a stored version of a tool."""
        versions = self._registry.versions
        versions.register(Draft.with_version(tool, item.version))
        self._remember(item)
        if item.status == "removed":
            versions.remove(item.name, item.version)
        if item.status == "deprecated":
            versions.deprecate(item.name, item.version, on=_day(item.deprecated_until))

    def _restore_current(self, name: str, version: str) -> None:
        """Make the stored current version of a name current again."""
        versions = self._registry.versions
        try:
            self.check_free(name)
            if versions.current(name).version != version:
                versions.roll_back(name, version)
            self._registry.add(versions.current(name).tool, on_conflict="replace")
        except PegboardError as error:
            _LOG.warning("catalogue: %s is not restored: %s", name, error)
            if name in self.active:
                self.take_off(name)
            return
        self.active.add(name)

    def resolve_name(self, name: str) -> str:
        """Return the wire name for a name or id, also of a removed tool."""
        tool = self._registry.find(name)
        if tool is not None:
            return tool.spec.name
        if "@" in name:
            return name.partition("@")[0]
        plain, _, major = name.rpartition("_v")
        return plain if name not in self.stored and major.isdecimal() else name

    def find_meant_versions(self, name: str) -> list[str]:
        """Return the versions that a name, an id or a pin of a registered tool means.

        A name means all versions. An id means those that were registered under it, and a pin those
        that begin with it; the oldest first. Removed versions are left out.
        """
        wire = self.resolve_name(name)
        there = [item for item in self.stored[wire] if item.status != "removed"]
        if name == wire:
            return [item.version for item in there]
        if any(item.definition.get("tool_id") == name for item in self.stored[wire]):
            return [item.version for item in there if item.definition.get("tool_id") == name]
        pin = name.partition("@")[2] or name.rpartition("_v")[2]
        return [item.version for item in there if fits_pin(item.version, pin)]

    def resolve_own_name(self, name: str) -> str:
        """Return the wire name of a tool that was registered by API.

        Raises:
            ToolNotFound: There is no such tool.
            AccessDenied: It comes from a source or from the board file.
        """
        wire = self.resolve_name(name)
        if wire in self.stored:
            return wire
        tool = self._registry.find(name)
        if tool is None:
            raise ToolNotFound(name)
        where = f"the source '{tool.spec.source}'" if tool.spec.source else "the board file"
        raise AccessDenied(name, f"it was not registered by API; it comes from {where}")


def _day(at: float | None) -> date | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).date()
