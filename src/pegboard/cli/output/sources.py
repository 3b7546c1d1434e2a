"""How sources are told of in tables: counts, and one reason a line."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pegboard.cli.output.tables import note

if TYPE_CHECKING:
    from pegboard.runtime.sources.state import SourceState

_MOST = 3


def count_of(item: Mapping[str, Any]) -> str:
    """How many tools a source has, and how many of them cannot be used."""
    count, unavailable = item["tools"], item["unavailable"]
    return f"{count}, {unavailable} unavailable" if unavailable else str(count)


def reason_of(item: Mapping[str, Any]) -> str:
    """What is wrong with a source, or else with its tools, and what waits; empty for nothing."""
    return "; ".join(filter(None, (_fault_of(item), _waiting(item["held"]))))


def tell_of_log(states: "Iterable[SourceState]") -> None:
    """Where the log is that a reason speaks of."""
    if any(state.is_logged for state in states):
        note("With PEGBOARD_LOG=stderr the log is shown here.")


def _fault_of(item: Mapping[str, Any]) -> str:
    reason = item["reason"] or item["health_reason"]
    if reason:
        return reason
    reasons = item["unavailable_reasons"]
    more = f"; and {len(reasons) - _MOST} more reasons" if len(reasons) > _MOST else ""
    return "; ".join(reasons[:_MOST]) + more


def _waiting(count: int) -> str:
    if not count:
        return ""
    many = "1 definition waits" if count == 1 else f"{count} definitions wait"
    return f"{many} for approval: pegboard pins held"
