"""What is stored of the resources of people, as far as this server has read it."""

from pegboard.core.ports.accounts.resource_store import (
    Definitions,
    ResourceChanges,
    StoredResource,
    Subscription,
)


class KnownResources:
    """What is stored, as far as this server has read it.

    Attributes:
        version: Of what was read.
        resources: By id.
        definitions: The last known definitions of the tools of connectors, by id.
        subscriptions: Of all people.
        listed: The ids of connectors whose definitions were read since this was cleared.
    """

    def __init__(self) -> None:
        self.version = 0
        self.resources: dict[str, StoredResource] = {}
        self.definitions: dict[str, Definitions] = {}
        self.subscriptions: tuple[Subscription, ...] = ()
        self.listed: set[str] = set()

    def apply(self, changes: ResourceChanges) -> None:
        """Take what has changed."""
        self.version, self.subscriptions = changes.version, changes.subscriptions
        for id_ in self.resources.keys() - changes.ids:
            del self.resources[id_]
            self.definitions.pop(id_, None)
        self.resources |= {item.id: item for item in changes.resources}
        self.definitions |= changes.definitions
        self.listed |= changes.definitions.keys()
