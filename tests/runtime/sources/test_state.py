from typing import Any

from pegboard.core.tool import Status, Tool, ToolSpec
from pegboard.runtime.sources.state import SourceState
from pegboard.testing import FakeClock
from pegboard.tools import SchemaTool


def _tool(name: str, **said: Any) -> Tool:
    async def run(arguments: Any, ctx: Any) -> str:
        return name

    return SchemaTool(spec=ToolSpec(name=name, input_schema={"type": "object"}, **said), run=run)


async def test_one_that_has_not_answered_says_for_how_long_it_was_asked() -> None:
    clock, state = FakeClock(), SourceState(name="slow", kind="k")
    before = state.reason
    state.mark_asked(clock)
    clock.advance(3.2)

    assert before == "it is opened on demand, and none of its tools has been requested yet"
    assert state.reason == "no answer yet after 3 s; its tools appear when it answers"
    assert (state.listed.is_set(), state.settled.is_set()) == (False, False)


async def test_one_that_has_answered_says_what_it_was_told() -> None:
    state = SourceState(name="slow", kind="k")
    state.mark_asked(FakeClock())

    state.status, state.reason = "failed", "the server is down; start it"

    assert state.reason == "the server is down; start it"


async def test_nobody_waits_for_one_that_cannot_be_opened() -> None:
    state = SourceState(name="a", kind="k", status="failed", reason="pip install it")

    assert (state.reason, state.settled.is_set(), state.listed.is_set()) == (
        "pip install it",
        True,
        True,
    )


async def test_its_tools_that_cannot_be_used_are_counted_by_reason() -> None:
    state = SourceState(name="a", kind="k", title="A", status="ok")
    state.tools = (
        _tool("a__one"),
        _tool("a__two", unavailable="set the key"),
        _tool("a__three", status=Status.FAILED),
        _tool("a__four", unavailable="set the key"),
    )

    assert state.to_dict() == {
        "name": "a",
        "kind": "k",
        "title": "A",
        "status": "ok",
        "reason": "",
        "tools": 4,
        "held": 0,
        "refreshed_at": None,
        "unavailable": 3,
        "unavailable_reasons": ["set the key", "is failed"],
        "takes_accounts": False,
    }
