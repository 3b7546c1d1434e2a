"""What a call says while it runs, and how much of it becomes events."""

from typing import Any

from tests.graphs.made import Bench, at_the_bench, call

from pegboard import ToolContext, tool
from pegboard.core.context import CallRetry, Progress
from pegboard.core.event import NodeReported
from pegboard.core.tool import Retry
from pegboard.errors import Unavailable
from pegboard.graphs.call_progress import CallProgress
from pegboard.testing import FakeClock


def progress(done: float, **more: Any) -> Progress:
    return Progress(call_id="c", tool="t", done=done, **more)


def a_retry(attempt: int) -> CallRetry:
    return CallRetry(
        call_id="c", tool="t", attempt=attempt, max_attempts=3, delay=1.23456, error_code="down"
    )


def test_between_two_reports_there_is_a_pause_that_grows() -> None:
    clock, events = FakeClock(), list[Any]()
    made = CallProgress(events.append, clock.monotonic)
    for second in range(36_000):
        made.on_progress(progress(second))
        clock.advance(0.125)

    done = [event["done"] for event in events]
    assert done[:4] == [0, 4, 8, 12]
    assert 200 < len(done) < 400


def test_tries_are_all_reported_until_the_call_has_ended() -> None:
    events = list[Any]()
    made = CallProgress(events.append, FakeClock().monotonic)
    made.on_retry(a_retry(2))
    made.on_retry(a_retry(3))
    made.on_progress(progress(1, total=4, message="x" * 500))
    made.close()
    made.on_retry(a_retry(4))
    made.on_progress(progress(2))

    tried = {"max_attempts": 3, "delay": 1.235, "error_code": "down"}
    assert events == [
        {"attempt": 2, **tried},
        {"attempt": 3, **tried},
        {"done": 1, "total": 4, "text": "x" * 200},
    ]


def test_who_listened_before_goes_on_listening() -> None:
    events, before = list[Any](), list[Any]()
    ctx: ToolContext[Any] = ToolContext(on_progress=before.append, on_retry=before.append)
    followed = CallProgress(events.append, FakeClock().monotonic).follow(ctx)
    assert followed.on_progress is not None
    assert followed.on_retry is not None
    followed.on_progress(progress(1))
    followed.on_retry(a_retry(2))

    assert before == [progress(1), a_retry(2)]
    assert [event.get("attempt", event.get("done")) for event in events] == [1, 2]


def test_tries_and_progress_of_a_node_are_events_of_its_run() -> None:
    failures = ["down", "down"]

    @tool(effect="read", retry=Retry(max_retries=1, backoff=0))
    async def fetch(ctx: ToolContext[Any]) -> str:
        """Fetch a page."""
        if failures:
            raise Unavailable(failures.pop())
        await ctx.progress(1, total=2, message="half")
        return "page"

    async def work(bench: Bench) -> list[tuple[str, Any]]:
        bench.registry.add(fetch)
        retry = Retry(max_retries=2, backoff=0)
        await bench.run(call("a", "fetch", retry=retry))
        return [
            (event.node, event.data)
            for event in bench.heard.events
            if isinstance(event, NodeReported) and event.kind == "tool_progress"
        ]

    tried = {"tool": "fetch", "attempt": 2, "error_code": "unavailable"}
    assert at_the_bench(work) == [
        ("a", {**tried, "max_attempts": 2, "delay": 0.0}),
        ("a", {**tried, "max_attempts": 3, "delay": 0.0}),
        ("a", {"tool": "fetch", "done": 1, "total": 2, "text": "half"}),
    ]
