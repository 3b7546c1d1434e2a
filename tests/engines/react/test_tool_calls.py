"""The calls of a turn: what goes wrong, what waits, and what is made again and again."""

import asyncio
from typing import Any

import pytest
from tests.assembly.made import a_selector
from tests.engines.made import (
    ASK,
    add_filler,
    agent_runner,
    ask,
    output_of,
    reported,
    told,
)
from tests.graphs.made import Bench, at_the_bench
from tests.graphs.test_runner import after_a_crash, recovered

from pegboard.access import Policy
from pegboard.core.graph import NodeState
from pegboard.core.model_messages import ModelRequest, ToolMessage
from pegboard.core.run import RunResult
from pegboard.testing import ScriptedModel, Turn

DEEP = f'{{"n": {"[" * 50_000}{"]" * 50_000}}}'


def test_calls_run_one_by_one_where_the_agent_wants_it() -> None:
    async def work(bench: Bench) -> int:
        model = ScriptedModel(Turn(calls=(("read", {}), ("look", {}))), Turn(text="done"))
        await ask(bench, model, concurrent_tool_calls=False)
        return bench.world.most

    assert at_the_bench(work) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("read", "{broken"), "not valid JSON"),
        (("read", "[1]"), "expected a JSON object"),
        (("read", DEEP), "not valid JSON"),
        (("raed", {}), "'read'"),
        (("read", {"fail": "out of stock"}), "out of stock"),
    ],
    ids=["malformed", "a list", "deep", "unknown", "a failing tool"],
)
def test_what_goes_wrong_in_a_call_is_told_to_the_model(call: Any, message: str) -> None:
    model = ScriptedModel(
        Turn(calls=(call, ("look", {"n": 7}))), Turn(text="sorry", expects=("7",))
    )
    result = at_the_bench(lambda bench: ask(bench, model))
    failed = model.requests[1].messages[-2]

    assert result.state is NodeState.COMPLETED
    assert isinstance(failed, ToolMessage)
    assert failed.is_error
    assert message in failed.text


@pytest.mark.parametrize(
    ("down", "is_unknown"), [("nothing done", False), ("perhaps", True)], ids=["none", "unknown"]
)
def test_the_message_of_a_failed_write_tells_whether_it_may_have_taken_effect(
    down: str, is_unknown: bool
) -> None:
    model = ScriptedModel(Turn(calls=(("pay", {"down": down}),)), *[Turn(text="It failed.")] * 2)
    result = at_the_bench(lambda bench: ask(bench, model))
    message = output_of(result)["messages"][1]

    assert message.get("is_unknown", False) is is_unknown


def test_a_model_that_repeats_itself_is_told_and_then_made_to_answer() -> None:
    again = Turn(calls=(("read", {"n": 1}),))

    def last(request: ModelRequest) -> Turn:
        assert request.tool_choice == "none"
        return Turn(text="I give up.", expects=("3 times",))

    result = at_the_bench(lambda bench: ask(bench, ScriptedModel(again, again, again, last)))

    assert result.output["text"] == "I give up."


def test_a_model_that_repeats_itself_even_then_is_stopped() -> None:
    model = ScriptedModel(*[Turn(calls=(("read", {"n": 1}),))] * 9)
    result = at_the_bench(lambda bench: ask(bench, model))
    last = output_of(result)["messages"][-1]

    assert len(model.requests) == 4
    assert (result.error or {})["code"] == "limit_reached"
    assert "repeats the same calls" in (result.error or {})["message"]
    assert (last["role"], last["text"]) == ("tool", "This call was not made: the answer was due.")


def test_forty_calls_of_one_turn_run_some_at_a_time() -> None:
    calls = tuple(("read", {"n": n, "seconds": 0.05}) for n in range(40))

    async def work(bench: Bench) -> tuple[int, RunResult]:
        result = await ask(bench, ScriptedModel(Turn(calls=calls), Turn(text="done")))
        return bench.world.most, result

    most, result = at_the_bench(work)

    assert most == 16
    assert [item["role"] for item in output_of(result)["messages"]].count("tool") == 40


def test_a_call_waits_for_its_approval_and_is_made_once() -> None:
    async def work(bench: Bench) -> tuple[RunResult, RunResult, list[str], Any]:
        model = ScriptedModel(
            Turn(calls=(("pay", {"n": 5}), ("read", {"n": 1}))), Turn(text="Refused, then.")
        )
        waiting = await ask(bench, model)
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, {"answer": "deny"})
        done = await bench.runner.result(waiting.run_id)
        ends = [(tool, state) for tool, state, _ in ends_of(bench)]
        return waiting, done, [tool for tool, _, _ in bench.world.began], ends

    waiting, done, began, ends = at_the_bench(work, policy=Policy(ask=("pay",)))

    assert waiting.state is NodeState.WAITING
    assert [item.kind for item in waiting.pending] == ["approval"]
    assert began == ["read"]
    assert done.output["text"] == "Refused, then."
    assert "refused" in told(done)[1]
    assert ("pay", "failed") in ends


def ends_of(bench: Bench) -> list[tuple[str, str, str]]:
    """Tool, arguments and state of each end of a call that was reported, in order of the tools."""
    ends = [data for _, data in reported(bench, "tool_finished")]
    return sorted((end["tool"], end["state"], str(end.get("arguments", ""))) for end in ends)


def test_a_cancellation_reports_one_end_of_each_call_that_had_none() -> None:
    async def work(bench: Bench) -> list[tuple[str, str, str]]:
        calls = (("find", {}), ("look", {"seconds": 9}), ("write", {"seconds": 9}), ("pay", {}))
        runner = agent_runner(bench, ScriptedModel(Turn(calls=calls)))
        run_id = await runner.start(ASK, {"message": "hi"})
        await asyncio.sleep(1)
        await runner.cancel(run_id)
        await runner.result(run_id)
        return ends_of(bench)

    assert at_the_bench(work, policy=Policy(ask=("pay",))) == [
        ("find", "completed", ""),
        ("look", "cancelled", "{'seconds': 9}"),
        ("pay", "cancelled", "{}"),
        ("write", "unknown", "{'seconds': 9}"),
    ]


def test_a_call_that_waits_for_an_approval_ends_with_a_run_that_is_cancelled_later() -> None:
    async def work(bench: Bench) -> list[dict[str, Any]]:
        waiting = await ask(bench, ScriptedModel(Turn(calls=(("pay", {"n": 5}),))))
        await bench.runner.cancel(waiting.run_id)
        await bench.runner.result(waiting.run_id)
        return [dict(data) for _, data in reported(bench, "tool_finished")]

    (end,) = at_the_bench(work, policy=Policy(ask=("pay",)))

    assert (end["state"], end["arguments"]) == ("cancelled", {"n": 5})
    assert "error_code" not in end


def test_calls_that_a_cancelled_turn_did_not_start_end_too() -> None:
    async def work(bench: Bench) -> list[tuple[str, str, str]]:
        model = ScriptedModel(Turn(calls=(("look", {"seconds": 9}), ("read", {"n": 2}))))
        runner = agent_runner(bench, model, concurrent_tool_calls=False)
        run_id = await runner.start(ASK, {"message": "hi"})
        await asyncio.sleep(1)
        await runner.cancel(run_id)
        await runner.result(run_id)
        return ends_of(bench)

    assert at_the_bench(work) == [
        ("look", "cancelled", "{'seconds': 9}"),
        ("read", "cancelled", "{'n': 2}"),
    ]


def settle_after_a_crash(answer: Any) -> tuple[list[dict[str, Any]], ModelRequest]:
    """Interrupt two writes and answer for one: the ends so far, and what the model sees later."""
    models = [
        ScriptedModel(Turn(calls=(("pay", {"seconds": 5}), ("write", {"seconds": 5})))),
        ScriptedModel(Turn(text="done")),
    ]

    async def again(bench: Bench) -> list[dict[str, Any]]:
        agent_runner(bench, models[1])
        waiting = await recovered(bench)
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, answer)
        waiting = await bench.runner.result(waiting.run_id)
        ends = [dict(data) for _, data in reported(bench, "tool_finished")]
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, "did_not_happen")
        await bench.runner.result(waiting.run_id)
        assert [data["tool"] for _, data in reported(bench, "tool_finished")] == ["pay", "write"]
        return ends

    ends = after_a_crash(lambda bench: ask(bench, models[0]), again, at=1)
    return ends, models[1].requests[0]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (None, "Its result is not known."),
        ({"x": 3}, 'They gave as its result: {"x":3}'),
        ("paid", "They gave as its result: paid"),
    ],
    ids=["no output", "an object", "a text"],
)
def test_a_call_that_a_person_settles_ends_at_once(output: Any, text: str) -> None:
    (end,), request = settle_after_a_crash({"answer": "happened", "output": output})

    assert (end["tool"], end["state"]) == ("pay", "completed")
    assert end["text"].endswith(text)
    assert request.messages[-2].text == end["text"]


def test_a_call_that_waits_until_the_run_is_out_of_time_has_failed() -> None:
    async def work(bench: Bench) -> tuple[RunResult, list[dict[str, Any]]]:
        runner = agent_runner(bench, ScriptedModel(Turn(calls=(("pay", {}),)), Turn(text="late")))
        run_id = await runner.start(ASK.replace(timeout=5), {"message": "hi"})
        await asyncio.sleep(9)
        result = await runner.result(run_id)
        return result, [dict(data) for _, data in reported(bench, "tool_finished")]

    result, (end,) = at_the_bench(work, policy=Policy(ask=("pay",)))

    assert result.state is NodeState.FAILED
    assert (end["state"], end["error_code"]) == ("failed", "timeout")


def test_a_large_result_is_a_page_whose_rest_can_be_read() -> None:
    async def work(bench: Bench) -> tuple[str, str, list[Any]]:
        add_filler(bench)
        model = ScriptedModel(
            Turn(calls=(("fill", {"n": 7, "size": 25_000}),)),
            Turn(text="done"),
            context_window=16_000,
        )
        await ask(bench, model)
        events = reported(bench, "compacted")
        page = model.requests[1].messages[-1].text
        rest = await bench.registry.read_result(events[0][1]["handle"], page=2)
        return page, rest.text, events

    page, rest, events = at_the_bench(work)

    assert len(page) < 20_000
    assert "page 1 of 3" in page
    assert rest.startswith("07" * 1_000)
    (data,) = [data for _, data in events]
    assert (data["layer"], data["tool"], data["total_bytes"]) == ("result", "fill", 50_000)


def test_forty_large_results_of_one_turn_share_the_window() -> None:
    calls = tuple(("fill", {"n": n, "size": 5_000}) for n in range(40))
    model = ScriptedModel(Turn(calls=calls), Turn(text="done"), context_window=32_000)

    async def work(bench: Bench) -> RunResult:
        add_filler(bench)
        return await ask(bench, model)

    result = at_the_bench(work)

    assert result.state is NodeState.COMPLETED
    shown = [message for message in model.requests[1].messages if isinstance(message, ToolMessage)]
    assert len(shown) == 40
    assert all("pegboard://results/" in message.text for message in shown)


def unlisted(bench: Bench, reaches: Any = lambda _: True) -> Any:
    """Nothing is listed but the meta-tools."""
    return a_selector(bench.registry, reaches=reaches, list_all=0, select=0)


def test_a_call_through_call_tool_waits_for_the_approval_of_the_inner_tool() -> None:
    inner = {"name": "pay", "arguments": {"n": 5}}

    async def work(bench: Bench) -> tuple[RunResult, list[str], Any]:
        model = ScriptedModel(Turn(calls=(("call_tool", inner),)), Turn(text="Refused."))
        waiting = await ask(bench, model, selector=unlisted(bench))
        return waiting, [tool for tool, _, _ in bench.world.began], reported(bench)

    waiting, began, events = at_the_bench(work, policy=Policy(ask=("pay",)))

    assert [item.kind for item in waiting.pending] == ["approval"]
    assert began == []
    (asked,) = [data for kind, data in events if kind == "approval_required"]
    assert (asked["tool"], asked["arguments"]) == ("pay", {"n": 5})


def test_the_tools_of_a_message_stay_while_it_waits_for_an_approval() -> None:
    model = ScriptedModel(Turn(calls=(("pay", {}),)), Turn(text="Refused."))

    async def work(bench: Bench) -> list[str]:
        selector = a_selector(bench.registry)
        waiting = await ask(bench, model, selector=selector)
        add_filler(bench)
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, {"answer": "deny"})
        await bench.runner.result(waiting.run_id)
        return [tool.name for tool in selector.select("hi").tools]

    later = at_the_bench(work, policy=Policy(ask=("pay",)))
    before, after = model.requests

    assert before.tools == after.tools
    assert "fill" in later


def test_the_result_of_call_tool_answers_the_call_that_the_model_made() -> None:
    model = ScriptedModel(
        Turn(calls=(("call_tool", {"name": "look", "arguments": {"n": 7}}),)), Turn(text="7")
    )

    at_the_bench(lambda bench: ask(bench, model, selector=unlisted(bench)))

    result = model.requests[1].messages[-1]
    assert isinstance(result, ToolMessage)
    assert (result.name, result.is_error, "7" in result.text) == ("call_tool", False, True)


def test_tools_are_found_and_called() -> None:
    model = ScriptedModel(
        Turn(calls=(("find_tools", {"query": "pay"}),), tools=("find_tools", "call_tool")),
        Turn(calls=(("call_tool", {"name": "pay", "arguments": {}}),), expects=('"name":"pay"',)),
        Turn(text="Paid."),
    )

    async def work(bench: Bench) -> tuple[RunResult, Any]:
        return await ask(bench, model, selector=unlisted(bench)), reported(bench, "tool_finished")

    result, events = at_the_bench(work)

    assert result.output["text"] == "Paid."
    assert [data["tool"] for _, data in events] == ["find_tools", "pay"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("call_tool", {"arguments": {}}), "call_tool takes 'name'"),
        (("call_tool", {"name": "pay"}), "'pay' not found"),
        (("call_tool", {"name": "call_tool", "arguments": {"name": "look"}}), "not found"),
        (("find_tools", {"q": "pay"}), "find_tools takes 'query'"),
        (("find_tools", DEEP), "recursion limit"),
        (("call_tool", DEEP), "recursion limit"),
    ],
    ids=["no name", "out of reach", "itself", "no query", "deep search", "deep call"],
)
def test_what_goes_wrong_with_a_meta_tool_is_told_to_the_model(call: Any, message: str) -> None:
    model = ScriptedModel(Turn(calls=(call,)), Turn(text="sorry"))

    async def work(bench: Bench) -> RunResult:
        selector = unlisted(bench, lambda tool: tool.spec.name == "look")
        return await ask(bench, model, selector=selector)

    at_the_bench(work)

    failed = model.requests[1].messages[-1]
    assert isinstance(failed, ToolMessage)
    assert failed.is_error
    assert message in failed.text


def test_an_agent_without_meta_tools_may_have_a_tool_of_such_a_name() -> None:
    model = ScriptedModel(Turn(calls=(("find_tools", {"query": "x"}),)), Turn(text="sorry"))

    at_the_bench(lambda bench: ask(bench, model))

    assert "'find_tools' not found" in model.requests[1].messages[-1].text


def test_a_call_has_an_idempotency_key_unless_it_only_reads() -> None:
    async def work(bench: Bench) -> dict[str, str]:
        calls = (("read", {}), ("write", {}), ("put", {}))
        model = ScriptedModel(Turn(calls=calls), Turn(text="done"))
        await ask(bench, model, concurrent_tool_calls=False)
        return dict(zip([tool for tool, _, _ in bench.world.began], bench.world.keys, strict=True))

    keys = at_the_bench(work, policy=Policy())

    assert keys["read"] == ""
    assert ":agent/t1-1" in keys["write"]
    assert ":agent/t1-2" in keys["put"]
