"""A turn of a model: what it reports, and the messages that reach it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from tests.engines.made import ASK, add_filler, agent_runner, ask, reported, told
from tests.graphs.made import Bench, at_the_bench
from tests.graphs.test_runner import after_a_crash, recovered

from pegboard.core.model_messages import ModelPart, ModelRequest, TextDelta
from pegboard.core.run import RunResult
from pegboard.errors import ContextTooLong, Unavailable
from pegboard.testing import ScriptedModel, Turn


def test_a_message_sent_while_it_works_reaches_the_next_turn_once() -> None:
    async def work(bench: Bench) -> tuple[RunResult, list[int]]:
        model = ScriptedModel(
            Turn(calls=(("read", {"seconds": 1}),)),
            Turn(calls=(("look", {"seconds": 1}),), expects=("in French",)),
            Turn(text="Voilà."),
        )
        runner = agent_runner(bench, model)
        run_id = await runner.start(ASK, {"message": "hi"})
        await asyncio.sleep(0.5)
        await runner.send(run_id, "steer", {"text": "in French"}, id="m2")
        result = await runner.result(run_id)
        return result, [len(request.messages) for request in model.requests]

    result, sizes = at_the_bench(work)

    assert told(result)[2] == "user: in French"
    assert sizes == [2, 5, 7]


class CutModel(ScriptedModel):
    """Its first answers end in the middle."""

    def __init__(self, *turns: Turn, cuts: int) -> None:
        super().__init__(*turns)
        self.cuts = cuts

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        if self.cuts:
            self.cuts -= 1
            yield TextDelta("It is for")
            raise Unavailable("The provider was cut off.")
        async for part in super().stream(request):
            yield part


def test_an_answer_that_was_cut_off_is_asked_for_once_more() -> None:
    async def work(bench: Bench) -> tuple[RunResult, list[str]]:
        result = await ask(bench, CutModel(Turn(text="It is 42."), cuts=1))
        return result, [kind for kind, _ in reported(bench)]

    result, kinds = at_the_bench(work)

    assert result.output["text"] == "It is 42."
    assert kinds[:3] == ["step", "text_delta", "step"]  # the second voids the text before it


def test_an_answer_that_is_cut_off_again_fails() -> None:
    result = at_the_bench(lambda bench: ask(bench, CutModel(cuts=9)))

    assert (result.error or {})["code"] == "unavailable"


def test_a_message_that_a_turn_answered_is_not_taken_again_after_a_crash() -> None:
    models = [
        ScriptedModel(
            Turn(calls=(("read", {"seconds": 1}),)),
            Turn(calls=(("look", {"seconds": 9}),), expects=("in French",)),
        ),
        ScriptedModel(Turn(text="Voilà.")),
    ]

    async def first(bench: Bench) -> None:
        runner = agent_runner(bench, models[0])
        run_id = await runner.start(ASK, {"message": "hi"})
        await asyncio.sleep(0.5)
        await runner.send(run_id, "steer", "in French")
        await runner.result(run_id)

    async def again(bench: Bench) -> RunResult:
        agent_runner(bench, models[1])
        return await recovered(bench)

    result = after_a_crash(first, again, at=3)

    assert [line for line in told(result) if line.startswith("user")] == ["user: in French"]


def test_what_happens_is_reported_once_in_order() -> None:
    async def work(bench: Bench) -> list[Any]:
        model = ScriptedModel(
            Turn(thinking="hm", calls=(("read", {"n": 1}),)), Turn(text="It is one.")
        )
        await ask(bench, model)
        return reported(bench)

    events = at_the_bench(work)

    assert [kind for kind, _ in events] == [
        "step", "thinking", "usage", "tool_started", "tool_finished", "step", "text_delta",
        "text_delta", "usage",
    ]  # fmt: skip
    started, finished = events[3][1], events[4][1]
    assert (started["tool"], started["arguments"]) == ("read", {"n": 1})
    assert (finished["state"], finished["text"]) == ("completed", '{"n":1}')
    assert started["call"] == finished["call"]


def big(number: int) -> Turn:
    return Turn(calls=(("fill", {"n": number, "size": 15_000}),))


def test_a_request_that_the_provider_finds_too_long_is_made_smaller_once() -> None:
    refusal = Turn(error=ContextTooLong("too long"))

    async def work(bench: Bench) -> tuple[RunResult, ScriptedModel, list[Any]]:
        add_filler(bench)
        model = ScriptedModel(big(1), big(2), refusal, Turn(text="done"))
        return await ask(bench, model), model, reported(bench, "compacted")

    result, model, events = at_the_bench(work)
    sizes = [sum(len(message.text) for message in request.messages) for request in model.requests]

    assert result.output["text"] == "done"
    assert sizes[3] < sizes[2] * 0.6
    assert [data["layer"] for _, data in events] == ["guard", "results"]


def test_a_request_that_is_refused_twice_fails_the_run() -> None:
    refusal = Turn(error=ContextTooLong("too long"))
    model = ScriptedModel(big(1), big(2), refusal, refusal)

    async def work(bench: Bench) -> RunResult:
        add_filler(bench)
        return await ask(bench, model)

    result = at_the_bench(work)

    assert (result.error or {})["code"] == "context_too_long"


def test_what_a_turn_left_out_stays_so_after_a_crash() -> None:
    models = [
        ScriptedModel(
            big(1), big(2), big(3), Turn(calls=(("look", {"seconds": 9}),)), context_window=32_000
        ),
        ScriptedModel(Turn(text="done"), context_window=32_000),
    ]

    async def first(bench: Bench) -> None:
        add_filler(bench)
        agent_runner(bench, models[0])
        await bench.runner.run(ASK, {"message": "hi"})

    async def again(bench: Bench) -> list[Any]:
        add_filler(bench)
        agent_runner(bench, models[1])
        await recovered(bench)
        return reported(bench, "compacted")

    events = after_a_crash(first, again, at=3)

    before, after = models[0].requests[-1].messages, models[1].requests[0].messages
    assert "was removed to save room" in before[3].text
    assert after[: len(before)] == before
    assert events == []
