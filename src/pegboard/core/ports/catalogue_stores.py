"""Store ports of the catalogue: tool versions, pins, last known tools, dependencies."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

Definition = Mapping[str, Any]
"""A tool's definition as JSON; registering it again makes the same tool."""

VersionStatus = Literal["active", "inactive", "deprecated", "removed"]


class ToolVersion(Struct, frozen=True, kw_only=True):
    """One version of a tool that was registered at run time; its definition is immutable.

    Attributes:
        version: A full version: `1.2.0`.
        digest: Of the definition; versions with equal digests are the same.
        created_by: The caller that registered it, as `tenant/principal`.
        origin: `api`, `bulk`, `marketplace`, ...
        status: Whether it may be called by a pin; independent of which version is active.
        deprecated_at: When it was deprecated; None while it is not.
        deprecated_until: When it will stop working; None for no date.
    """

    name: str
    version: str
    digest: str
    definition: Definition
    created_at: float
    created_by: str = ""
    origin: str = "api"
    status: VersionStatus = "active"
    deprecated_at: float | None = None
    deprecated_until: float | None = None


class CatalogueStore(Protocol):
    """Stores every version of every tool, and the active version of each name."""

    async def add(self, versions: Sequence[ToolVersion]) -> None:
        """Store all of the versions or none, in order, and activate them.

        A version that is stored with the same digest is left unchanged.

        Raises:
            InvalidRequest: The version exists with another definition.
        """
        ...

    async def activate(self, name: str, version: str) -> bool:
        """Activate a version of a name, as a roll-back does; False when there is none."""
        ...

    async def deactivate(self, name: str) -> bool:
        """Leave a name without an active version; its versions stay. False when it had none."""
        ...

    async def mark(
        self,
        name: str,
        version: str,
        *,
        status: VersionStatus,
        deprecated_at: float | None = None,
        deprecated_until: float | None = None,
    ) -> bool:
        """Set the status of a version; False when there is none."""
        ...

    async def active(self) -> Sequence[ToolVersion]:
        """The active version of each name, by name."""
        ...

    async def versions(self, name: str = "") -> Sequence[ToolVersion]:
        """The versions of a name, or of all names, oldest first."""
        ...

    async def version(self, name: str, version: str) -> ToolVersion | None:
        """One version; None when there is none."""
        ...

    async def revision(self) -> int:
        """A number that grows with each change, so that other servers know when to reload."""
        ...


class Pin(Struct, frozen=True, kw_only=True):
    """The approved definition of an upstream tool."""

    source: str
    name: str
    digest: str
    definition: Definition
    approved_at: float
    approved_by: str = ""


class HeldDefinition(Struct, frozen=True, kw_only=True):
    """A changed definition of an upstream tool that waits for approval.

    Attributes:
        diff: The changes, in the form of the classifier.
    """

    source: str
    name: str
    digest: str
    definition: Definition
    held_at: float
    diff: Any = None


class PinDecision(Struct, frozen=True, kw_only=True):
    """A decision about a held definition.

    Attributes:
        seen: The held definition that was reviewed.
        then: The pin after an approval, or the held definition that replaces `seen`.
    """

    seen: HeldDefinition
    then: Pin | HeldDefinition


class PinStore(Protocol):
    """Stores the approved definition of each upstream tool, and changed ones that wait."""

    async def approve(self, pins: Sequence[Pin]) -> None:
        """Approve these definitions, all or none; held ones with the same digest are removed.

        Held definitions with another digest stay.
        """
        ...

    async def hold(self, held: Sequence[HeldDefinition]) -> None:
        """Hold these definitions; a newer one replaces the older one of the same tool."""
        ...

    async def decide(self, decisions: Sequence[PinDecision]) -> Sequence[PinDecision]:
        """Store the decisions whose definition is still held with the reviewed digest and `diff`.

        Returns:
            The stored decisions; the others were decided or changed in the meantime.
        """
        ...

    async def drop(self, source: str, *, name: str = "", pins: bool = False) -> int:
        """Delete the held definitions of a tool, or of a source; with `pins` the approved ones too.

        Returns:
            The number of deleted held definitions.
        """
        ...

    async def pins(self, source: str = "") -> Sequence[Pin]:
        """The approved definitions, of one source or of all, by source and name."""
        ...

    async def list_held(self, source: str = "") -> Sequence[HeldDefinition]:
        """The held definitions, of one source or of all, by source and name."""
        ...


MAX_LAST_KNOWN_TOOLS = 20_000
"""How many last known tools are stored."""


class LastKnownTool(Struct, frozen=True, kw_only=True):
    """The last known definition of a tool.

    Attributes:
        definition: The result of `definition_of`, with `version` and `status`.
        seen_at: Unix seconds, to the day.
    """

    id: str
    name: str
    digest: str
    definition: Definition
    seen_at: float


class LastKnownToolStore(Protocol):
    """Stores the last known definitions of tools, for when they are missing; the newest ones."""

    async def put(self, tools: Sequence[LastKnownTool]) -> None:
        """Store these tools; replaces those with the same ids."""
        ...

    async def tools(self) -> Sequence[LastKnownTool]:
        """The stored tools, oldest first."""
        ...


class DependencySnapshot(Struct, frozen=True, kw_only=True):
    """A whole dependency graph.

    Attributes:
        nodes: The origins of each node.
        edges: Prerequisite, dependant and origins of each edge.
    """

    nodes: dict[str, tuple[str, ...]]
    edges: tuple[tuple[str, str, tuple[str, ...]], ...] = ()


class DependencyChange(Struct, frozen=True, kw_only=True):
    """One change of the dependency graph; applied in order, the changes rebuild the graph.

    Attributes:
        version: The graph version after the change; the first is 1.
        origin: Who declares the added edges: `spec`, `board`, `api`, ...
        add_edges: Pairs of a prerequisite and its dependant.
        retract_edges: No longer declared by this origin; other origins may still declare them.
        snapshot: The graph at this version, in place of this change and all before it.
    """

    version: int
    at: float
    by: str = ""
    origin: str = "api"
    add_nodes: tuple[str, ...] = ()
    remove_nodes: tuple[str, ...] = ()
    add_edges: tuple[tuple[str, str], ...] = ()
    remove_edges: tuple[tuple[str, str], ...] = ()
    retract_edges: tuple[tuple[str, str], ...] = ()
    snapshot: DependencySnapshot | None = None


class DependencyStore(Protocol):
    """Stores the changes of the dependency graph, in order and without gaps."""

    async def append(self, change: DependencyChange) -> bool:
        """Store a change if its version is the next one; False when another server was first."""
        ...

    async def changes(self, after: int = 0) -> Sequence[DependencyChange]:
        """The changes after a version, oldest first; the first of all may be a snapshot."""
        ...

    async def fold(self, snapshot: DependencyChange) -> bool:
        """Replace all changes up to a version by a snapshot; False if there is no such change."""
        ...
