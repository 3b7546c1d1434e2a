"""What people ask for: a new resource, or a change of one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.ports.accounts.resource_store import ResourceKind, ResourceVisibility


@dataclass(frozen=True, slots=True, kw_only=True)
class NewResource:
    """A resource to add.

    Attributes:
        name: Without the handle of its owner.
        source_kind: Of a connector.
    """

    kind: ResourceKind
    name: str
    source_kind: str = ""
    title: str = ""
    description: str = ""
    organisation: str = ""
    visibility: ResourceVisibility = "private"
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChange:
    """What to change of a resource; None leaves a field as it is."""

    title: str | None = None
    description: str | None = None
    organisation: str | None = None
    visibility: ResourceVisibility | None = None
    config: Mapping[str, Any] | None = None
