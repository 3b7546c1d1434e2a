"""What callers are shown of stored resources."""

from dataclasses import dataclass
from typing import Any

from pegboard.access.visibility import VisibilityDecision
from pegboard.core.ports.accounts.resource_store import StoredResource
from pegboard.features.resources.sources import ConnectorReport


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceView:
    """A stored resource as one caller sees it.

    Attributes:
        owner: The handle of its owner.
        reviewed_by: The handle of its reviewer; empty for none.
        vouched_by: The handle of the administrator who has approved it for its organisation.
        is_reviewer: Whether the caller may review it.
        visibility: Whether the caller sees it, and why; a reviewer or a visitor of the market may
            not.
        is_editor: Whether the caller may change it.
        shows_config: Whether the caller may read its configuration.
        report: The state of the source of a connector that the caller sees; else None.
    """

    resource: StoredResource
    owner: str
    reviewed_by: str
    vouched_by: str
    is_reviewer: bool
    visibility: VisibilityDecision
    is_editor: bool
    shows_config: bool
    report: ConnectorReport | None

    def to_dict(self) -> dict[str, Any]:
        """A `ResourceAnswer`."""
        item = self.resource
        return {
            "id": item.id,
            "kind": item.kind,
            "source_kind": item.source_kind,
            "name": item.name,
            "title": item.title or item.name,
            "description": item.description,
            "owner": self.owner,
            "organisation": item.organisation,
            "visibility": item.visibility,
            "publish_status": item.publish_status,
            "reviewed_by": self.reviewed_by,
            "vouched_by": self.vouched_by,
            "may_review": self.is_reviewer,
            "review_note": item.review_note if self.is_editor else "",
            "seen_as": self.visibility.kind,
            "may_change": self.is_editor,
            "config": dict(item.config) if self.shows_config else None,
            "revision": item.revision,
            "created_at": item.created_at,
            "updated_at": item.updated_at,
            "source": None if self.report is None else report_to_dict(self.report),
        }


def report_to_dict(report: ConnectorReport) -> dict[str, Any]:
    """A `ConnectorReportAnswer`."""
    return {"status": report.status, "reason": report.reason, "tools": list(report.tools)}
