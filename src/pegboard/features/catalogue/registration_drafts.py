"""Drafts of registrations: version numbers are assigned before anything is stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.ports.catalogue_stores import ToolVersion
from pegboard.core.tool import Tool, ToolSpec
from pegboard.registry.definition_diff import definition_diff
from pegboard.registry.versions import VersionedTool, Versions, following
from pegboard.schemas.diff import SchemaChangeKind
from pegboard.schemas.tool_definition import definition_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A registration before it is stored.

    Attributes:
        tool: The tool with its assigned version.
        definition: As it was given.
        digest: Digest of the definition.
        spec_digest: Digest of the tool's spec; empty for a known definition.
        kind: Kind of change against the previous version, if there is one.
        known: The stored version with the same definition; None for a new one.
        is_there: Whether `tool` is the one that is registered already.
    """

    tool: Tool
    definition: Mapping[str, Any]
    digest: str
    spec_digest: str = ""
    kind: SchemaChangeKind | None = None
    known: ToolVersion | None = None
    is_there: bool = False

    @property
    def is_new(self) -> bool:
        """Whether this makes a new version."""
        return self.known is None

    def to_stored(self, at: float, *, by: str, origin: str) -> ToolVersion:
        """Return the version as it is stored."""
        if self.known is not None:
            return self.known
        spec = self.tool.spec
        return ToolVersion(
            name=spec.name,
            version=spec.version,
            digest=self.digest,
            definition=self.definition,
            created_at=at,
            created_by=by,
            origin=origin,
        )

    @staticmethod
    def with_version(tool: Tool, version: str) -> Tool:
        """Return the tool with this version; its id is dropped when the major version changes."""
        spec = tool.spec
        if spec.version == version:
            return tool
        is_same = spec.version.partition(".")[0] == version.partition(".")[0]
        return VersionedTool(tool, version=version, id=spec.id if is_same else "")


@dataclass(slots=True)
class _NameState:
    """The versions of one name: stored, or drafted in the same request."""

    by_digest: dict[str, ToolVersion] = field(default_factory=dict[str, ToolVersion])
    taken: list[str] = field(default_factory=list[str])
    newest: ToolSpec | None = None


class Drafts:
    """Assigns versions to the registrations of one request; whatever can fail fails here.

    Args:
        versions: The versions known to the board.
        stored: The stored versions of each name.
    """

    def __init__(self, versions: Versions, stored: Mapping[str, Sequence[ToolVersion]]) -> None:
        self._versions = versions
        self._stored = stored
        self._names: dict[str, _NameState] = {}

    def reuse(self, version: ToolVersion) -> Draft | None:
        """Draft the registration of a known definition; None if its tool must be built again.

        An unavailable tool is built again, because what it lacked may exist by now.
        """
        tool = self._versions.get(version.name, version.version).tool
        if tool.spec.unavailable:
            return None
        definition, digest = version.definition, version.digest
        return Draft(tool=tool, definition=definition, digest=digest, known=version, is_there=True)

    def add(self, definition: Mapping[str, Any], digest: str, tool: Tool) -> Draft:
        """Draft a registration and assign its version."""
        name = tool.spec.name
        known = self._names.get(name) or self._look_up(name)
        before = known.by_digest.get(digest)
        if before is not None:
            tool = Draft.with_version(tool, before.version)
            return Draft(tool=tool, definition=definition, digest=digest, known=before)
        version, kind = tool.spec.version, None
        if known.newest is not None:
            kind = definition_diff(known.newest, tool.spec).kind
        if version in known.taken:
            version = following(known.taken, kind)
        tool = Draft.with_version(tool, version)
        draft = Draft(
            tool=tool,
            definition=definition,
            digest=digest,
            spec_digest=definition_digest(tool.spec),
            kind=kind,
        )
        known.by_digest[digest] = draft.to_stored(0.0, by="", origin="")
        known.taken.append(version)
        known.newest = tool.spec
        return draft

    def _look_up(self, name: str) -> _NameState:
        known = self._names[name] = _NameState()
        for item in self._stored.get(name, ()):
            known.by_digest[item.digest] = item
            known.taken.append(item.version)
        if known.taken:
            known.newest = self._versions.history(name)[-1].tool.spec
        return known
