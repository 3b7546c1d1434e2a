"""Records for the tests of this room."""

from typing import Any

from pegboard.core.event import CallRecord
from pegboard.core.principal import Principal

NOON = 1_767_268_800.0


def a_record(call_id: str = "c1", **changes: Any) -> CallRecord:
    """A completed call of a read tool that took a quarter of a second."""
    fields: dict[str, Any] = {
        "call_id": call_id,
        "tool": "shop__find",
        "status": "completed",
        "started_at": NOON,
        "duration_ms": 250.0,
        "principal": Principal(id="ada", tenant="acme"),
        "source": "shop",
        "effect": "read",
        "decision": "allow",
        "attempts": 1,
    }
    return CallRecord(**(fields | changes))
