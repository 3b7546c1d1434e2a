"""Every version of a tool's definition: pinned, compared, rolled back to, deprecated."""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from pegboard.core.tool import Status, Tool
from pegboard.errors import VersionNotFound
from pegboard.registry.renamed_tool import RenamedTool
from pegboard.registry.version_specifiers import fits_pin, meant

if TYPE_CHECKING:  # what compares schemas is loaded when there is something to compare
    from pegboard.registry.definition_diff import DefinitionDiff
    from pegboard.schemas.diff import SchemaChangeKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation:
    """That a version should no longer be used.

    Attributes:
        on: From which day on nobody should rely on it; None when no day is set.
        note: What to use instead.
    """

    on: date | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One version of a tool.

    Attributes:
        digest: Of the definition; two versions of one tool never share it in a row.
        since: When it was registered.
        kind: What it changed against the one before; None for the first.
    """

    version: str
    tool: Tool
    digest: str
    since: datetime
    kind: "SchemaChangeKind | None" = None
    deprecation: Deprecation | None = None


class VersionedTool(RenamedTool):
    """A tool under the version that the registry gave it, or with another state of life."""

    def __init__(self, inner: Tool, **changes: Any) -> None:
        super().__init__(inner, inner.spec.name)
        self.spec = inner.spec.replace(**changes)
        self.run: Callable[..., Awaitable[Any]] = inner.run


class Versions:
    """The versions of every tool that has been registered here, the oldest first.

    Args:
        now: Unix seconds, for when a version was registered.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._known: dict[str, list[Definition]] = {}
        self._current: dict[str, int] = {}
        self._rolled_back: set[str] = set()

    def register(
        self, tool: Tool, *, digest: str = "", kind: "SchemaChangeKind | None" = None
    ) -> Tool:
        """Remember a definition; the tool to put on the board, with its version.

        A definition that is not known yet is a new version. It keeps the version that it says,
        unless that is taken: then it gets the next one, by what has changed (a breaking change the
        next major, an additive one the next minor, other words the next patch version). One that is
        known becomes the current version again, unless somebody rolled back from it.

        Args:
            tool: The definition.
            digest: Its `definition_digest`, where that is known already.
            kind: What it changes against the newest version, where that is known already.
        """
        from pegboard.registry.definition_diff import definition_diff, definition_digest

        spec = tool.spec
        digest, known = digest or definition_digest(spec), self._known.get(spec.name)
        if known is None:
            self._keep(tool, digest, kind=None)
            return tool
        for place, item in enumerate(known):
            if item.digest == digest and spec.version in {item.version, _said(item.tool)}:
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

        The version that is named in full is taken, or else the current one where it fits, or else
        the highest that does; None when none does.
        """
        name, _, wanted = pin.partition("@")
        known = self._known.get(name)
        if not known or not wanted:
            return None
        if exact := [item for item in known if item.version == wanted]:
            return exact[0].tool
        current = known[self._current[name]]
        if fits_pin(current.version, wanted):
            return current.tool
        fitting = [item for item in known if fits_pin(item.version, wanted)]
        return max(fitting, key=lambda item: _ordered(item.version)).tool if fitting else None

    def before(self, tool: Tool, pin: str) -> Tool | None:
        """The version of a tool on the board that a pin means; None when there is none.

        A tool that is not the current version of its name here comes from elsewhere: nothing is
        known of it.
        """
        name = tool.spec.name
        known = self._known.get(name)
        if not known or known[self._current[name]].tool is not tool:
            return None
        return self.find(f"{name}@{pin}")

    def history(self, name: str) -> tuple[Definition, ...]:
        """Every version, the oldest first.

        Raises:
            VersionNotFound: Nothing of this name was registered.
        """
        known = self._known.get(name)
        if not known:
            raise VersionNotFound(f"No version of '{name[:100]}' is known.")
        return tuple(known)

    def current(self, name: str) -> Definition:
        """The version in use.

        Raises:
            VersionNotFound: Nothing of this name was registered.
        """
        return self.history(name)[self._current[name]]

    def get(self, name: str, version: str) -> Definition:
        """One version, named in full or by the numbers with which no other begins.

        Raises:
            VersionNotFound: There is none; says which there are.
            InvalidRequest: There are several; says which.
        """
        return self._known[name][self._place(name, version)]

    def roll_back(self, name: str, version: str) -> Tool:
        """Make an old version the current one; the tool to put on the board.

        Nothing is lost: the versions after it stay, and can be pinned or made current again.

        Raises:
            VersionNotFound: There is none; says which there are.
        """
        tool = self.use(name, version)
        self._rolled_back.add(name)
        return tool

    def use(self, name: str, version: str, *, tool: Tool | None = None) -> Tool:
        """Make a version the current one, as registering it again does; the tool for the board.

        Args:
            name: The tool.
            version: As for `get`.
            tool: What runs this version from now on; None leaves that as it is.

        Raises:
            VersionNotFound: There is none; says which there are.
        """
        place = self._place(name, version)
        known = self._known[name]
        if tool is not None:
            known[place] = replace(known[place], tool=_with_version(tool, known[place]))
        self._current[name] = place
        self._rolled_back.discard(name)
        return known[place].tool

    def is_rolled_back(self, name: str) -> bool:
        """Whether somebody went back to an older version, which registering does not undo."""
        return name in self._rolled_back

    def diff(self, name: str, old: str, new: str) -> "DefinitionDiff":
        """How the version `new` differs from the version `old`.

        Raises:
            VersionNotFound: One of them is not there; says which there are.
        """
        from pegboard.registry.definition_diff import definition_diff

        return definition_diff(self.get(name, old).tool.spec, self.get(name, new).tool.spec)

    def deprecate(self, name: str, version: str, *, on: date | None = None, note: str = "") -> Tool:
        """Say that a version should no longer be used; the tool, which can still be called.

        Raises:
            VersionNotFound: There is none; says which there are.
        """
        place = self._place(name, version)
        known = self._known[name]
        tool = VersionedTool(known[place].tool, status=Status.DEPRECATED)
        known[place] = replace(known[place], tool=tool, deprecation=Deprecation(on=on, note=note))
        return tool

    def forget(self, name: str) -> None:
        """Drop every version of a tool that is gone for good."""
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
        return numbers.index(meant(version, numbers, name=name))


def _said(tool: Tool) -> str:
    """The version that a tool says itself."""
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


def _ordered(version: str) -> tuple[tuple[int, int | str], ...]:
    """Versions in order: numbers by size, and after what is none."""
    parts = re.split(r"[.+-]", version)
    numbers = [(0, int(part)) if part.isdecimal() else (-1, part) for part in parts]
    return (*numbers, (0, 0))  # so that 1.0.0-beta comes before 1.0.0


def following(taken: Iterable[str], kind: "SchemaChangeKind | None") -> str:
    """The version that comes after all of these when this has changed."""
    version = max(taken, key=_ordered)
    numbers = [int(part) for part in re.findall(r"\d+", version)[:3]] + [0, 0, 0]
    major, minor, patch = numbers[:3]
    if kind == "breaking":
        return f"{major + 1}.0.0"
    if kind == "additive":
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}"
