"""Versions of tools in memory, and which one each name means."""

from collections.abc import Sequence

from msgspec import structs

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.catalogue_stores import ToolVersion, VersionStatus
from pegboard.errors import InvalidRequest
from pegboard.storage.json_text import copy_json


class MemoryCatalogue:
    """A `CatalogueStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._versions: dict[tuple[str, str], ToolVersion] = {}
        self._active: dict[str, str] = {}
        self._revision = 0

    async def add(self, versions: Sequence[ToolVersion]) -> None:
        with self._gate:
            new: dict[tuple[str, str], ToolVersion] = {}
            for version in versions:
                place = (version.name, version.version)
                known = self._versions.get(place) or new.get(place)
                if known is None:
                    new[place] = copy_json(version)
                elif known.digest != version.digest:
                    raise InvalidRequest(
                        f"'{version.name}' has a version {version.version} already with a "
                        "different definition: give this one a new version"
                    )
            self._versions.update(new)
            self._active.update({version.name: version.version for version in versions})
            if versions:
                self._revision += 1

    async def activate(self, name: str, version: str) -> bool:
        with self._gate:
            if (name, version) not in self._versions:
                return False
            self._active[name] = version
            self._revision += 1
            return True

    async def deactivate(self, name: str) -> bool:
        with self._gate:
            if self._active.pop(name, None) is None:
                return False
            self._revision += 1
            return True

    async def mark(
        self,
        name: str,
        version: str,
        *,
        status: VersionStatus,
        deprecated_at: float | None = None,
        deprecated_until: float | None = None,
    ) -> bool:
        with self._gate:
            known = self._versions.get((name, version))
            if known is None:
                return False
            self._versions[name, version] = structs.replace(
                known,
                status=status,
                deprecated_at=deprecated_at,
                deprecated_until=deprecated_until,
            )
            self._revision += 1
            return True

    async def active(self) -> Sequence[ToolVersion]:
        with self._gate:
            return [copy_json(self._versions[place]) for place in sorted(self._active.items())]

    async def versions(self, name: str = "") -> Sequence[ToolVersion]:
        with self._gate:
            return [
                copy_json(version)
                for version in self._versions.values()
                if not name or version.name == name
            ]

    async def version(self, name: str, version: str) -> ToolVersion | None:
        with self._gate:
            known = self._versions.get((name, version))
            return None if known is None else copy_json(known)

    async def revision(self) -> int:
        with self._gate:
            return self._revision
