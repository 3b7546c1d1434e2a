"""Formats sources for tables."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pegboard.cli.output.tables import note

if TYPE_CHECKING:
    from pegboard.runtime.sources.state import SourceState

_MAX_REASONS = 3


def count_of(item: Mapping[str, Any]) -> str:
    """How many tools a source has, and how many of them cannot be used."""
    count, unavailable = item["tools"], item["unavailable"]
    return f"{count}, {unavailable} unavailable" if unavailable else str(count)


def reason_of(item: Mapping[str, Any]) -> str:
    """The problem of a source or its tools, and what waits for approval; empty for none."""
    return "; ".join(filter(None, (_fault_of(item), _waiting(item["held"]))))


def print_log_hint(states: "Iterable[SourceState]") -> None:
    """Print how to see the log, if a source has logged more than its reason."""
    if any(state.is_logged for state in states):
        note("Set PEGBOARD_LOG=stderr to show the log.")


def _fault_of(item: Mapping[str, Any]) -> str:
    reason = item["reason"] or item["health_reason"]
    if reason:
        return reason
    reasons = item["unavailable_reasons"]
    more = (
        f"; and {len(reasons) - _MAX_REASONS} more reasons" if len(reasons) > _MAX_REASONS else ""
    )
    return "; ".join(reasons[:_MAX_REASONS]) + more


def _waiting(count: int) -> str:
    if not count:
        return ""
    many = "1 definition waits" if count == 1 else f"{count} definitions wait"
    return f"{many} for approval: pegboard pins held"
