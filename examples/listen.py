"""Listening to calls: a counter of one's own, JSON lines, and numbers for Prometheus.

Run it with `python examples/listen.py`.
"""

import asyncio
import io
import json
from collections import Counter

from pegboard import CallRecord, ToolRegistry, tool
from pegboard.core.event import Event
from pegboard.observability import JsonLog, Metrics


@tool(effect="read", inline=True)
def half(number: int) -> int:
    """Half of an even number."""
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


class Outcomes:
    """Counts calls by status; a listener is any object with `on_event`, and returns at once."""

    def __init__(self) -> None:
        self.counted: Counter[str] = Counter()

    def on_event(self, event: Event) -> None:
        """Take note of calls, and of nothing else."""
        if isinstance(event, CallRecord):
            self.counted[event.status] += 1


async def main() -> None:
    """Make three calls, and show what each listener has."""
    outcomes, metrics, lines = Outcomes(), Metrics(), io.StringIO()
    log = JsonLog(lines)
    registry = ToolRegistry([half], listeners=[outcomes, metrics, log])

    await registry.call_many([("half", {"number": n}) for n in (4, 5, "x")])

    log.close()
    print(dict(outcomes.counted))
    for line in map(json.loads, lines.getvalue().splitlines()):
        print(line["level"], line["tool"], line["status"], line.get("error_code", ""))
    for line in metrics.render().decode().splitlines():
        if line.startswith("pegboard_calls_total"):
            print(line)


if __name__ == "__main__":
    asyncio.run(main())
