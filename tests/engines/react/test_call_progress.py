"""What the calls of an agent say while they run, as events of its run."""

from typing import Any

from tests.engines.made import ask, reported
from tests.graphs.made import Bench, at_the_bench

from pegboard import ToolContext, tool
from pegboard.core.tool import Retry
from pegboard.errors import Unavailable
from pegboard.testing import ScriptedModel, Turn


def test_tries_and_progress_of_a_call_are_events_of_its_run() -> None:
    failures = ["down"]

    @tool(effect="read", retry=Retry(max_retries=1, backoff=0))
    async def fetch(ctx: ToolContext[Any]) -> str:
        """Fetch a page."""
        if failures:
            raise Unavailable(failures.pop(), retry_after=2.0)
        await ctx.progress(1, total=2, message="half")
        return "page"

    async def work(bench: Bench) -> Any:
        bench.registry.add(fetch)
        model = ScriptedModel(Turn(calls=(("fetch", {}),)), Turn(text="Read."))
        await ask(bench, model)
        return reported(bench, "tool_progress"), reported(bench, "tool_finished")

    told, finished = at_the_bench(work)

    (_, ended), place = finished[0], {"turn": 1, "call": finished[0][1]["call"], "tool": "fetch"}
    assert [data for _, data in told] == [
        {**place, "attempt": 2, "max_attempts": 2, "delay": 2.0, "error_code": "unavailable"},
        {**place, "done": 1, "total": 2, "text": "half"},
    ]
    assert ended["state"] == "completed"
