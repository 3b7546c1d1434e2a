"""The versions of each tool's definition: pin, compare, roll back, deprecate."""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from pegboard.core.tool import Status, Tool
from pegboard.errors import VersionNotFound
from pegboard.registry.renamed_tool import RenamedTool
from pegboard.registry.version_specifiers import fits_pin, resolve_version

if TYPE_CHECKING:  # what compares schemas is loaded when there is something to compare
    from pegboard.registry.definition_diff import DefinitionDiff
    from pegboard.schemas.diff import SchemaChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation:
    """Marks a version that should no longer be used.

    Attributes:
        on: The day from which it should not be relied on; None when no day is set.
        note: What to use instead.
    """

    on: date | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One version of a tool.

    Attributes:
        digest: Digest of the definition; two consecutive versions never share it.
        since: When it was registered.
        kind: How it differs from the version before; None for the first.
        is_removed: Whether no pin and no id finds it any more; it can be rolled back to.
    """

    version: str
    tool: Tool
    digest: str
    since: datetime
    kind: "SchemaChangeKind | None" = None
    deprecation: Deprecation | None = None
    is_removed: bool = False


class VersionedTool(RenamedTool):
    """A tool with the version that the registry gave it, or with another status."""

    def __init__(self, inner: Tool, **changes: Any) -> None:
        super().__init__(inner, inner.spec.name)
        self.spec = inner.spec.replace(**changes)
        self.run: Callable[..., Awaitable[Any]] = inner.run


class Versions:
    """All registered versions of every tool, the oldest first.

    Args:
        now: Unix seconds, for the time of registration.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._known: dict[str, list[Definition]] = {}
        self._current: dict[str, int] = {}
        self._rolled_back: set[str] = set()

    def register(
        self, tool: Tool, *, digest: str = "", kind: "SchemaChangeKind | None" = None
    ) -> Tool:
        """Record a definition; the tool to publish, with its version.

        An unknown definition is a new version. It keeps its own version number unless that is
        taken; then it gets the next one: major for a breaking change, minor for an additive one,
        patch for other words. A known definition becomes current again, unless the tool was rolled
        back from it.

        Args:
            tool: The definition.
            digest: Its `definition_digest`, where known.
            kind: How it differs from the newest version, where known.
        """
        from pegboard.registry.definition_diff import definition_diff
        from pegboard.schemas.tool_definition import definition_digest

        spec = tool.spec
        digest, known = digest or definition_digest(spec), self._known.get(spec.name)
        if known is None:
            self._keep(tool, digest, kind=None)
            return tool
        for place, item in enumerate(known):
            if item.digest == digest and spec.version in {item.version, _own_version(item.tool)}:
                known[place] = replace(item, tool=_with_version(tool, item))
                if spec.name not in self._rolled_back:
                    self._current[spec.name] = place
                return self.current(spec.name).tool
        if kind is None:
            kind = definition_diff(known[-1].tool.spec, spec).kind
        taken = {item.version for item in known}
        version = spec.version if spec.version not in taken else following(taken, kind)
        made = tool if version == spec.version else VersionedTool(tool, version=version)
        self._keep(made, digest, kind=kind)
        return made

    def find(self, pin: str) -> Tool | None:
        """The tool of a pin such as `search@1`, `search@1.2` or `search@1.2.3`.

        An exact version wins, then the current version if the pin matches it, then the highest
        match; None when nothing matches.
        """
        name, _, wanted = pin.partition("@")
        known = [item for item in self._known.get(name, ()) if not item.is_removed]
        if not known or not wanted:
            return None
        if exact := [item for item in known if item.version == wanted]:
            return exact[0].tool
        current = self.current(name)
        if fits_pin(current.version, wanted) and not current.is_removed:
            return current.tool
        fitting = [item for item in known if fits_pin(item.version, wanted)]
        return max(fitting, key=lambda item: version_key(item.version)).tool if fitting else None

    def before(self, tool: Tool, pin: str) -> Tool | None:
        """The version of a published tool that a pin means; None when there is none.

        A tool that is not the current version of its name was published from elsewhere and has no
        versions here.
        """
        name = tool.spec.name
        known = self._known.get(name)
        if not known or known[self._current[name]].tool is not tool:
            return None
        return self.find(f"{name}@{pin}")

    def history(self, name: str) -> tuple[Definition, ...]:
        """Every version, the oldest first.

        Raises:
            VersionNotFound: No tool of this name was registered.
        """
        known = self._known.get(name)
        if not known:
            raise VersionNotFound(f"No version of '{name[:100]}' is known.")
        return tuple(known)

    def current(self, name: str) -> Definition:
        """The current version.

        Raises:
            VersionNotFound: No tool of this name was registered.
        """
        return self.history(name)[self._current[name]]

    def get(self, name: str, version: str) -> Definition:
        """One version, in full or by an unambiguous beginning.

        Raises:
            VersionNotFound: No such version; lists those there are.
            InvalidRequest: Several versions match; lists them.
        """
        return self._known[name][self._place(name, version)]

    def roll_back(self, name: str, version: str) -> Tool:
        """Make an old version the current one; the tool to publish.

        The later versions stay, and can be pinned or made current again.

        Raises:
            VersionNotFound: No such version; lists those there are.
        """
        tool = self.use(name, version)
        self._rolled_back.add(name)
        return tool

    def use(self, name: str, version: str, *, tool: Tool | None = None) -> Tool:
        """Make a version the current one, as registering it again does; the tool to publish.

        Args:
            name: The tool.
            version: As for `get`.
            tool: The new implementation of this version; None keeps the present one.

        Raises:
            VersionNotFound: No such version; lists those there are.
        """
        place = self._place(name, version)
        known = self._known[name]
        if tool is not None:
            known[place] = replace(known[place], tool=_with_version(tool, known[place]))
        if known[place].is_removed:
            known[place] = replace(known[place], is_removed=False)
        self._current[name] = place
        self._rolled_back.discard(name)
        return known[place].tool

    def is_rolled_back(self, name: str) -> bool:
        """Whether the tool was rolled back, which registering does not undo."""
        return name in self._rolled_back

    def diff(self, name: str, old: str, new: str) -> "DefinitionDiff":
        """How the version `new` differs from the version `old`.

        Raises:
            VersionNotFound: No such version; lists those there are.
        """
        from pegboard.registry.definition_diff import definition_diff

        return definition_diff(self.get(name, old).tool.spec, self.get(name, new).tool.spec)

    def deprecate(self, name: str, version: str, *, on: date | None = None, note: str = "") -> Tool:
        """Deprecate a version; the tool, which can still be called.

        Raises:
            VersionNotFound: No such version; lists those there are.
        """
        place = self._place(name, version)
        known = self._known[name]
        tool = VersionedTool(known[place].tool, status=Status.DEPRECATED)
        known[place] = replace(known[place], tool=tool, deprecation=Deprecation(on=on, note=note))
        return tool

    def remove(self, name: str, version: str) -> None:
        """Let no pin and no id find a version any more.

        Raises:
            VersionNotFound: No such version; lists those there are.
        """
        place = self._place(name, version)
        known = self._known[name]
        known[place] = replace(known[place], is_removed=True)

    def forget(self, name: str) -> None:
        """Remove every version of a tool that was removed for good."""
        self._known.pop(name, None)
        self._current.pop(name, None)
        self._rolled_back.discard(name)

    def _keep(self, tool: Tool, digest: str, *, kind: "SchemaChangeKind | None") -> None:
        name, known = tool.spec.name, self._known.setdefault(tool.spec.name, [])
        known.append(
            Definition(
                version=tool.spec.version,
                tool=tool,
                digest=digest,
                since=datetime.fromtimestamp(self._now(), UTC),
                kind=kind,
            )
        )
        self._current[name] = len(known) - 1
        self._rolled_back.discard(name)

    def _place(self, name: str, version: str) -> int:
        known = self.history(name)
        for place, item in enumerate(known):
            if item.version == version:
                return place
        numbers = [item.version for item in known]
        return numbers.index(resolve_version(version, numbers, name=name))


def _own_version(tool: Tool) -> str:
    """The version that the tool itself declares."""
    while isinstance(tool, VersionedTool):
        tool = tool.inner
    return tool.spec.version


def _with_version(tool: Tool, known: Definition) -> Tool:
    changes: dict[str, Any] = {}
    if tool.spec.version != known.version:
        changes["version"] = known.version
    if known.deprecation is not None:
        changes["status"] = Status.DEPRECATED
    return VersionedTool(tool, **changes) if changes else tool


def version_key(version: str) -> tuple[tuple[int, int | str], ...]:
    """Sort key of a version: numbers by size, texts before numbers."""
    parts = re.split(r"[.+-]", version)
    numbers = [(0, int(part)) if part.isdecimal() else (-1, part) for part in parts]
    return (*numbers, (0, 0))  # so that 1.0.0-beta comes before 1.0.0


def following(taken: Iterable[str], kind: "SchemaChangeKind | None") -> str:
    """The version after all of these, for this kind of change."""
    version = max(taken, key=version_key)
    numbers = [int(part) for part in re.findall(r"\d+", version)[:3]] + [0, 0, 0]
    major, minor, patch = numbers[:3]
    if kind == "breaking":
        return f"{major + 1}.0.0"
    if kind == "additive":
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}"
