"""The resource store port: connectors, agents, skills and models that people add.

*Resource* alone means a resource of MCP in this code; a row here is a *stored resource*.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from pegboard.core.principal import Principal

ResourceKind = Literal["connector", "agent", "skill", "knowledge", "model"]
ResourceVisibility = Literal["private", "organisation", "global"]
PublishStatus = Literal["none", "draft", "pending", "approved", "rejected"]


class StoredResource(Struct, frozen=True, kw_only=True):
    """A connector, an agent or a skill with an owner.

    Attributes:
        kind: `connector` is a source of tools, `knowledge` a base of documents, `model` a language
            model.
        name: Unique among those of its kind; of a connector the name of its source.
        owner: The id of an account.
        source_kind: The kind of source of a connector, as `openapi`; else empty.
        organisation: The handle of the organisation that it is shared with; empty for none.
        publish_status: How far it is on its way into the market; `none` if it was not published.
        reviewed_by: The id of the account that approved or rejected it.
        vouched_by: The id of the administrator who has approved it for its organisation alone, as
            it is now; empty for none.
        config: Without secrets.
        is_being_deleted: Whether what it contains is being deleted, after which it goes itself; it
            takes in nothing more.
        revision: Grows with each change.
        created_at: Unix seconds.
        updated_at: Unix seconds.
    """

    id: str
    kind: ResourceKind
    name: str
    owner: str
    created_at: float
    updated_at: float
    source_kind: str = ""
    title: str = ""
    description: str = ""
    organisation: str = ""
    visibility: ResourceVisibility = "private"
    publish_status: PublishStatus = "none"
    reviewed_by: str = ""
    review_note: str = ""
    vouched_by: str = ""
    config: Mapping[str, Any] = {}
    is_being_deleted: bool = False
    revision: int = 1


class Subscription(Struct, frozen=True, kw_only=True):
    """A person who has installed a resource from the market.

    Attributes:
        resource: The id of a stored resource.
        user: The id of an account.
    """

    resource: str
    user: str


Definitions = tuple[Mapping[str, Any], ...]
"""The last known definitions of the tools of a connector."""


class ResourceChanges(Struct, frozen=True, kw_only=True):
    """What has changed since a version.

    Attributes:
        version: Of everything, now.
        ids: Of all resources, so that what is deleted is known.
        resources: Those that were added or changed since.
        definitions: Those that were stored since, by the id of the connector.
        subscriptions: All there are.
    """

    version: int = 0
    ids: frozenset[str] = frozenset()
    resources: tuple[StoredResource, ...] = ()
    definitions: Mapping[str, Definitions] = {}
    subscriptions: tuple[Subscription, ...] = ()


class ResourceStore(Protocol):
    """Stores resources and who has subscribed to them."""

    async def add(self, resource: StoredResource) -> None:
        """Store a new one.

        Raises:
            InvalidRequest: The name is taken.
        """
        ...

    async def replace(self, resource: StoredResource, *, keep_definitions: bool = True) -> bool:
        """Store the next revision of one; False when another change was first, or it is gone.

        Args:
            resource: The next revision.
            keep_definitions: Whether what its tools were holds for this revision too; otherwise it
                has none.
        """
        ...

    async def delete(self, id: str) -> bool:  # noqa: A002 - it is known by its id
        """Delete one with its subscriptions and definitions; False when there is none."""
        ...

    async def get(self, id: str) -> StoredResource | None:  # noqa: A002 - as above
        """The one of an id, for whomever; None when there is none."""
        ...

    async def list_visible(
        self, principal: Principal, *, kind: ResourceKind | None = None
    ) -> Sequence[StoredResource]:
        """Those that a caller may see (`access/visibility.py`), by kind and name."""
        ...

    async def list_published(self, status: PublishStatus) -> Sequence[StoredResource]:
        """Those with a status on the way into the market, by kind and name."""
        ...

    async def subscribe(self, subscription: Subscription) -> None:
        """Store a subscription; nothing changes if it is stored already."""
        ...

    async def unsubscribe(self, subscription: Subscription) -> bool:
        """Delete a subscription; False when there is none."""
        ...

    async def put_definitions(
        self,
        id: str,  # noqa: A002 - as above
        definitions: Sequence[Mapping[str, Any]],
    ) -> None:
        """Store the definitions of the tools of a connector, in place of those before."""
        ...

    async def version(self) -> int:
        """The version of everything; cheap, to follow the changes of other servers."""
        ...

    async def changes(self, after: int = 0) -> ResourceChanges:
        """What has changed since a version; everything since 0."""
        ...
