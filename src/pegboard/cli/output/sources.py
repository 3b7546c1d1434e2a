"""Formats sources and rules."""

from collections.abc import Mapping
from typing import Any

from pegboard.cli.output.tables import note

_MAX_REASONS = 3


def count_of(item: Mapping[str, Any]) -> str:
    """How many tools a source has, and how many of them cannot be used."""
    count, unavailable = item["tools"], item["unavailable"]
    return f"{count}, {unavailable} unavailable" if unavailable else str(count)


def reason_of(item: Mapping[str, Any]) -> str:
    """The problem of a source or its tools, and what waits for approval; empty for none."""
    return "; ".join(filter(None, (_fault_of(item), _waiting(item["held"]))))


def describe_state(item: Mapping[str, Any]) -> str:
    """The status and its reason, after a name: `failed: no answer`, `is pending: ...`."""
    status = "failed" if item["status"] == "failed" else f"is {item['status']}"
    return f"{status}: {item['reason']}"


def print_log_hint(*, is_logged: bool) -> None:
    """Print how to see the log, if it says more than the reasons."""
    if is_logged:
        note("Set PEGBOARD_LOG=stderr to show the log.")


def describe_rule(rule: Mapping[str, str]) -> str:
    """A rule that matches no tool, with its line and why."""
    place = f"{rule['where']}: " if rule["where"] else ""
    return f"{rule['rule']} rule '{rule['glob']}': {place}{rule['reason']}"


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
