"""Registered tools and their versions as JSON-compatible data."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from msgspec import to_builtins

from pegboard.core.ports.catalogue_stores import ToolVersion
from pegboard.core.tool import ToolSpec
from pegboard.registry.definition_diff import DefinitionDiff
from pegboard.registry.versions import Definition


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationResult:
    """The result of one registration.

    Attributes:
        change: Kind of change against the previous version: `wording`, `additive` or `breaking`;
            empty for a first version, and for a known definition.
        is_new: Whether it made a new version.
        is_changed: Whether the current version of the name has changed.
        is_current: Whether this version is the current one.
        note: A remark for the caller; empty for none.
    """

    spec: ToolSpec
    version: str
    change: str = ""
    is_new: bool = False
    is_changed: bool = False
    is_current: bool
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data."""
        return {
            "tool_id": self.spec.id,
            "name": self.spec.name,
            "version": self.version,
            "status": self.spec.status.value,
            "effect": self.spec.effect.value,
            "change": self.change,
            "is_new": self.is_new,
            "is_current": self.is_current,
            "unavailable": self.spec.unavailable,
            "note": self.note,
        }


def version_row(
    item: Definition, stored: ToolVersion | None, *, current: str, origin: str
) -> dict[str, Any]:
    """Return one version of a tool as JSON-compatible data."""
    deprecation = item.deprecation
    return {
        "tool_id": item.tool.spec.id,
        "version": item.version,
        "is_current": item.version == current,
        "status": "removed" if item.is_removed else item.tool.spec.status.value,
        "change": item.kind.value if item.kind is not None else "",
        "created_at": item.since.timestamp() if stored is None else stored.created_at,
        "created_by": "" if stored is None else stored.created_by,
        "origin": origin if stored is None else stored.origin,
        "deprecated_on": deprecation.on.isoformat() if deprecation and deprecation.on else "",
        "unavailable": item.tool.spec.unavailable,
    }


def diff_dict(diff: DefinitionDiff) -> dict[str, Any]:
    """Return the changes of a definition as JSON-compatible data."""
    return {
        "kind": diff.kind.value if diff.kind is not None else "",
        "changes": [
            {
                "place": change.place,
                "kind": change.kind.value,
                "before": to_builtins(change.before, enc_hook=str),
                "after": to_builtins(change.after, enc_hook=str),
            }
            for change in diff.changes
        ],
    }


def only_row(spec: ToolSpec) -> dict[str, Any]:
    """Return the single version of a tool that was not registered by API."""
    return {
        "tool_id": spec.id,
        "version": spec.version,
        "is_current": True,
        "status": spec.status.value,
        "change": "",
        "created_at": 0.0,
        "created_by": "",
        "origin": f"source:{spec.source}" if spec.source else "board",
        "deprecated_on": "",
        "unavailable": spec.unavailable,
    }


def deprecation_note(day: date | None, now: float) -> str:
    """Return a note if the deprecation day is over everywhere on Earth; empty otherwise.

    A past day is accepted, so that a deprecation can be recorded late.

    Args:
        day: None for no day.
        now: Unix seconds.
    """
    if day is None or day >= datetime.fromtimestamp(now, UTC).date() - timedelta(days=1):
        return ""
    return f"{day} is past: this version should no longer be used."


def start_of_day(day: date | None) -> float | None:
    """Return the start of a day in UTC, as Unix seconds."""
    return None if day is None else datetime.combine(day, time(), UTC).timestamp()
