"""What a catalogue keeps: versions of tools, approved and last definitions, dependencies."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

Definition = Mapping[str, Any]
"""A tool's definition as JSON: what would register it again."""

VersionStatus = Literal["active", "inactive", "deprecated", "removed"]


class ToolVersion(Struct, frozen=True, kw_only=True):
    """One version of a tool, registered while the board runs. Its definition never changes.

    Attributes:
        version: A full version: `1.2.0`.
        digest: Of the definition; two versions with one digest are the same.
        created_by: Who registered it: `tenant/principal`.
        origin: Where it came from: `api`, `bulk`, `marketplace`, ...
        status: Whether it may be called by its pin, apart from which version is active.
        deprecated_at: Since when it should not be used any more; None while it should.
        deprecated_until: When it will stop to work; None for no date.
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
    """Keeps every version of every tool, and which one a bare name means."""

    async def add(self, versions: Sequence[ToolVersion]) -> None:
        """Keep them all or none, in the order in which they were made; their names mean them now.

        A version that is there with the same digest is left as it is.

        Raises:
            InvalidRequest: A name has this version already, with another definition.
        """
        ...

    async def activate(self, name: str, version: str) -> bool:
        """Let the name mean this version, as a roll-back does; False when there is none."""
        ...

    async def deactivate(self, name: str) -> bool:
        """Let the name mean nothing; its versions stay. False when it meant nothing already."""
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
        """Say how a version stands; False when there is none."""
        ...

    async def active(self) -> Sequence[ToolVersion]:
        """The version that each name means, by name."""
        ...

    async def versions(self, name: str = "") -> Sequence[ToolVersion]:
        """The versions of a name, or of all, oldest first."""
        ...

    async def version(self, name: str, version: str) -> ToolVersion | None:
        """One version; None when there is none."""
        ...

    async def revision(self) -> int:
        """A number that grows with each change, so that other servers know when to read again."""
        ...


class Pin(Struct, frozen=True, kw_only=True):
    """The definition of an upstream's tool that somebody has approved, or policy let through."""

    source: str
    name: str
    digest: str
    definition: Definition
    approved_at: float
    approved_by: str = ""


class HeldDefinition(Struct, frozen=True, kw_only=True):
    """A definition that an upstream has changed and that waits for approval.

    Attributes:
        diff: What has changed, as its maker describes it.
    """

    source: str
    name: str
    digest: str
    definition: Definition
    held_at: float
    diff: Any = None


class PinDecision(Struct, frozen=True, kw_only=True):
    """What somebody has decided about a definition that is held.

    Attributes:
        seen: What was looked at.
        then: The approval, or what is held from now on in the place of what was seen.
    """

    seen: HeldDefinition
    then: Pin | HeldDefinition


class PinStore(Protocol):
    """Keeps which definition of each upstream tool is approved, and what waits for approval."""

    async def approve(self, pins: Sequence[Pin]) -> None:
        """Approve these definitions, all or none; what was held with the same digest waits no more.

        What is held with another digest goes on waiting.
        """
        ...

    async def hold(self, held: Sequence[HeldDefinition]) -> None:
        """Let these wait; a tool's newer definition takes the place of its older one."""
        ...

    async def decide(self, decisions: Sequence[PinDecision]) -> Sequence[PinDecision]:
        """Keep those whose definition is still held with the digest and the `diff` that were seen.

        Returns:
            Those that are kept; of the others somebody else has decided, or what is held changed.
        """
        ...

    async def drop(self, source: str, *, name: str = "", pins: bool = False) -> int:
        """Forget what is held of a tool, or of a whole source; with `pins` what is approved too.

        Returns:
            How many held definitions are forgotten.
        """
        ...

    async def pins(self, source: str = "") -> Sequence[Pin]:
        """What is approved, of one source or of all, by source and name."""
        ...

    async def list_held(self, source: str = "") -> Sequence[HeldDefinition]:
        """What waits, of one source or of all, by source and name."""
        ...


MAX_LAST_KNOWN_TOOLS = 20_000
"""Of so many tools it is known what they were."""


class LastKnownTool(Struct, frozen=True, kw_only=True):
    """What a tool was when it was on the board last.

    Attributes:
        definition: What `definition_of` makes of its spec, and its `version` and `status`.
        seen_at: Unix seconds; as of some time that day.
    """

    id: str
    name: str
    digest: str
    definition: Definition
    seen_at: float


class LastKnownToolStore(Protocol):
    """Keeps what tools were, for when they are gone; of so many, those that were seen last."""

    async def put(self, tools: Sequence[LastKnownTool]) -> None:
        """Keep them, in the place of what was kept of the same ids."""
        ...

    async def tools(self) -> Sequence[LastKnownTool]:
        """What is kept, in the order in which they were seen."""
        ...


class DependencyChange(Struct, frozen=True, kw_only=True):
    """One step of the dependency graph: applied in order from the first, they make it again.

    Attributes:
        version: The version of the graph that the change makes; the first one is 1.
        origin: Who says the edges that are added: `spec`, `board`, `api`, ...
        add_edges: Each a prerequisite and its dependant.
        retract_edges: No longer said by the origin; others may still say them.
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


class DependencyStore(Protocol):
    """Keeps every change of the dependency graph, in order and without gaps."""

    async def append(self, change: DependencyChange) -> bool:
        """Keep it if its version is the next one; False when somebody else was first."""
        ...

    async def changes(self, after: int = 0) -> Sequence[DependencyChange]:
        """The changes that follow this version, oldest first."""
        ...
