"""Registering, versioning and removing tools while the board runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Any

from pegboard.core.ports.catalogue import CatalogueStore, ToolVersion
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Tool
from pegboard.errors import (
    ConfigError,
    InvalidRequest,
    PegboardError,
    VersionNotFound,
)
from pegboard.execution.call import owner_of
from pegboard.features.catalogue.drafts import Drafts
from pegboard.features.catalogue.policy import check_may_change
from pegboard.features.catalogue.shelf import Shelf
from pegboard.features.catalogue.telling import changes
from pegboard.features.catalogue.views import Registered, diff_dict, only_row, version_row
from pegboard.registry import ToolRegistry

Build = Callable[[Mapping[str, Any]], Awaitable[Tool]]
"""Makes the tool of a definition; raises `ConfigError` for what is wrong with it."""

_LOG = logging.getLogger("pegboard.catalogue")
_BREATH = 100
"""So many tools are made before other work of the process gets its turn."""


async def _nothing() -> None:
    pass


class CatalogueService:
    """The tools that were registered by API, with all their versions; they outlive the process.

    ```python
    [made] = await board.catalogue.register([{"tool_id": "hello_v1", "type": "RestAPI"}])
    ```

    Args:
        registry: The board's tools.
        store: Where versions are kept.
        build: Makes tools of definitions.
        owner_of_name: Which source a name belongs to; empty when it is free.
        changed: Called after each change, when the registry holds it.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: CatalogueStore,
        *,
        build: Build,
        owner_of_name: Callable[[str], str],
        changed: Callable[[], Awaitable[None]] = _nothing,
    ) -> None:
        self._registry = registry
        self._store = store
        self._build = build
        self._changed = changed
        self._shelf = Shelf(registry, owner_of_name)
        self._revision = -1
        self._lock = asyncio.Lock()

    async def load(self, *, anew: bool = False) -> None:
        """Put on the board what was registered, unless it is there already as the store has it.

        Args:
            anew: Also then, because what may run has changed.
        """
        async with self._lock:
            revision = await self._store.revision()
            if revision == self._revision and not anew:
                return
            self._shelf.forget()
            active = {item.name: item.version for item in await self._store.active()}
            versions = await self._store.versions()
            for number, item in enumerate(versions):
                await self._recall(item)
                if not number % _BREATH:
                    await asyncio.sleep(0)
            for name, version in active.items():
                self._shelf.recalled(name, version)
            self._revision = revision
        await self._changed()

    async def register(
        self,
        definitions: Sequence[Mapping[str, Any]],
        *,
        principal: Principal = LOCAL,
        origin: str = "api",
    ) -> list[Registered]:
        """Register all of these or none; each that says something new is a new version.

        Raises:
            AccessDenied: The caller may not.
            InvalidRequest: A definition is wrong; says which, and where.
            DuplicateTool: A name belongs to a source, or to the board file.
        """
        check_may_change(principal, "the catalogue")
        async with self._lock:
            drafts = Drafts(self._registry.versions, self._shelf.stored)
            made = [
                drafts.add(definition, await self._built(index, definition))
                for index, definition in enumerate(definitions)
            ]
            now = self._registry.kit.now()
            kept = [item.kept(now, by=owner_of(principal), origin=origin) for item in made]
            named = {
                item.name
                for item, draft in zip(kept, made, strict=True)
                if draft.is_new or not self._registry.versions.is_rolled_back(item.name)
            }
            before = {item.name: self._shelf.version_of(item.name) for item in kept}
            # of what is rolled back, a known definition changes nothing
            await self._store.add([item for item in kept if item.name in named])
            found = [self._shelf.put(draft, item) for draft, item in zip(made, kept, strict=True)]
            self._revision = await self._store.revision()
        await self._told("registered", before, principal, origin=origin)
        return found

    async def remove(self, name: str, *, principal: Principal = LOCAL) -> None:
        """Take a registered tool off the board; its versions stay, and can be rolled back to.

        Raises:
            AccessDenied: The caller may not, or the tool comes from elsewhere.
            ToolNotFound: There is none.
        """
        check_may_change(principal, name)
        async with self._lock:
            wire = self._shelf.own(name)
            before = {wire: self._shelf.version_of(wire)}
            await self._store.deactivate(wire)
            self._shelf.take_off(wire)
            self._revision = await self._store.revision()
        await self._told("removed", before, principal)

    async def roll_back(
        self, name: str, version: str, *, principal: Principal = LOCAL
    ) -> Registered:
        """Let a name mean an older version again, also after it was removed.

        Raises:
            AccessDenied: The caller may not, or the tool comes from elsewhere.
            ToolNotFound: There is no such tool.
            VersionNotFound: It has no such version; says which there are.
        """
        check_may_change(principal, name)
        async with self._lock:
            wire = self._shelf.own(name)
            self._registry.versions.get(wire, version)
            self._shelf.check_free(wire)
            before = {wire: self._shelf.version_of(wire)}
            await self._store.activate(wire, version)
            tool = self._registry.versions.roll_back(wire, version)
            self._shelf.swap(wire, tool)
            self._revision = await self._store.revision()
        await self._told("rolled_back", before, principal, version=version)
        return Registered(spec=tool.spec, version=version, change="", is_new=False, is_current=True)

    async def deprecate(
        self, name: str, version: str = "", *, on: date | None = None, principal: Principal = LOCAL
    ) -> Registered:
        """Say that a version should no longer be used; it can still be called.

        Args:
            name: The tool.
            version: Empty for the current one.
            on: From which day on nobody should rely on it.
            principal: Who asks.

        Raises:
            AccessDenied: The caller may not, or the tool comes from elsewhere.
            ToolNotFound: There is no such tool.
            VersionNotFound: It has no such version; says which there are.
        """
        check_may_change(principal, name)
        async with self._lock:
            wire, versions = self._shelf.own(name), self._registry.versions
            is_current = version in {"", versions.current(wire).version}
            version = versions.get(wire, version or versions.current(wire).version).version
            await self._store.mark(
                wire,
                version,
                status="deprecated",
                deprecated_at=self._registry.kit.now(),
                deprecated_until=_midnight(on),
            )
            tool = versions.deprecate(wire, version, on=on)
            if is_current and wire in self._shelf.active:
                self._shelf.swap(wire, tool)
            self._revision = await self._store.revision()
        before = {wire: self._shelf.version_of(wire)}
        await self._told("deprecated", before, principal, version=version)
        return Registered(
            spec=tool.spec, version=version, change="", is_new=False, is_current=is_current
        )

    def history(self, name: str) -> list[dict[str, Any]]:
        """Every version of a tool, the oldest first; of a tool from elsewhere the one there is.

        Raises:
            ToolNotFound: There is no such tool.
        """
        tool = self._registry.find(name)
        wire = self._shelf.wire(name)
        if wire not in self._shelf.stored:
            spec = self._registry.get(name).spec if tool is None else tool.spec
            return [only_row(spec)]
        versions = self._registry.versions
        current = versions.current(wire).version if wire in self._shelf.active else ""
        stored = {item.version: item for item in self._shelf.stored[wire]}
        return [
            version_row(
                item,
                stored.get(item.version),
                is_current=item.version == current,
                origin="api",
            )
            for item in versions.history(wire)
        ]

    def diff(self, name: str, old: str = "", new: str = "") -> dict[str, Any]:
        """How one version differs from another; by default the current one from that before it.

        Raises:
            ToolNotFound: There is no such tool.
            VersionNotFound: It has no such version; says which there are.
        """
        rows = self.history(name)
        known = [row["version"] for row in rows]
        current = next((row["version"] for row in rows if row["is_current"]), known[-1])
        new = new or current
        old = old or known[max(0, known.index(new) - 1)] if new in known else old
        for version in (old, new):
            if version not in known:
                there_are = ", ".join(known[-10:])
                raise VersionNotFound(
                    f"'{name}' has no version '{version[:100]}'; there are {there_are}."
                )
        wire = self._shelf.wire(name)
        told = {"name": wire, "from": old, "to": new}
        if wire not in self._shelf.stored:
            return {**told, "kind": "", "changes": []}
        return {**told, **diff_dict(self._registry.versions.diff(wire, old, new))}

    def origin(self, name: str) -> str:
        """Where a tool came from: `api`, `bulk`, ...; empty when it was not registered here."""
        stored = self._shelf.stored.get(self._shelf.wire(name))
        return stored[-1].origin if stored else ""

    async def _built(self, index: int, definition: Mapping[str, Any]) -> Tool:
        if not index % _BREATH:
            await asyncio.sleep(0)
        try:
            tool = await self._build(definition)
        except ConfigError as error:
            raise InvalidRequest(f"[{index}] {error.message}") from error
        self._shelf.check_free(tool.spec.name)
        return tool

    async def _recall(self, item: ToolVersion) -> None:
        try:
            tool = await self._build(item.definition)
        except PegboardError as error:
            _LOG.warning("%s %s is not put on the board: %s", item.name, item.version, error)
        else:
            self._shelf.recall(item, tool)

    async def _told(
        self, action: str, before: Mapping[str, str], principal: Principal, **detail: Any
    ) -> None:
        await self._changed()
        kit = self._registry.kit
        after = {name: self._shelf.version_of(name) for name in before}
        for event in changes(action, before, after, principal=principal, at=kit.now(), **detail):
            kit.emitter.emit(event)


def _midnight(day: date | None) -> float | None:
    return None if day is None else datetime.combine(day, time(), UTC).timestamp()
