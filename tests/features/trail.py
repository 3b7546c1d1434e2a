"""An audit trail that is required, may be away, and says what it was told."""

from pegboard.core.event import BoardChanged, Event
from pegboard.core.ports.audit_store import AuditEntry
from pegboard.errors import AuditUnavailable


class Trail:
    """What the trail has; while it is away it takes nothing."""

    def __init__(self) -> None:
        self.is_away = False
        self.decisions: list[AuditEntry] = []
        self.events: list[BoardChanged] = []

    async def prove(self, entry: AuditEntry) -> None:
        if self.is_away:
            raise AuditUnavailable("the disk is full", nothing_done=True)
        self.decisions.append(entry)

    def on_event(self, event: Event) -> None:
        if isinstance(event, BoardChanged):
            self.events.append(event)

    @property
    def decided(self) -> list[tuple[object, object]]:
        """What was to be done, and to what."""
        return [(entry.body["action"], entry.body["subject"]) for entry in self.decisions]
