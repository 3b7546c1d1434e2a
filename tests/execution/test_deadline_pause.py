"""The time of a call stands still while a person is asked."""

import asyncio
import time
from dataclasses import dataclass

import pytest

from pegboard.core.context import ToolContext
from pegboard.core.elicitation import Answer, Question, Sample, SampleRequest
from pegboard.errors import ElicitationUnavailable
from pegboard.execution.deadline_pause import DeadlinePause

QUESTION = Question(message="?")


@dataclass
class Call:
    deadline: float | None = 100.0
    attempt_deadline: float | None = 50.0


@dataclass
class Entry:
    when: float = 50.0


class Asker:
    """Answers when it is told to; says what the entry was while it waited."""

    takes_questions = True
    takes_samples = False
    deadline: float | None = 7.0

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.seen: list[float] = []
        self.go = asyncio.Event()

    async def ask(self, question: Question) -> Answer:
        self.seen.append(self.entry.when)
        await self.go.wait()
        return Answer(action="accept")

    async def sample(self, request: SampleRequest) -> Sample:
        raise ElicitationUnavailable("no model")


async def test_the_deadlines_move_by_the_time_of_the_questions_once() -> None:
    call, entry = Call(), Entry()
    asker = Asker(entry)
    pause = DeadlinePause(asker, call, entry)
    both = [asyncio.create_task(pause.ask(QUESTION)) for _ in range(2)]
    await asyncio.sleep(0.05)
    asker.go.set()
    await asyncio.gather(*both)

    waited = entry.when - 50.0
    assert asker.seen == [float("inf")] * 2
    assert waited >= 0.04
    assert call.deadline == pytest.approx(100.0 + waited)
    assert call.attempt_deadline == pytest.approx(50.0 + waited)
    assert pause.paused == pytest.approx(waited)


async def test_what_is_left_of_a_call_does_not_shrink_while_it_asks() -> None:
    entry = Entry()
    asker = Asker(entry)
    pause = DeadlinePause(asker, Call(), entry)
    ctx = ToolContext[None](deadline=time.monotonic() + 50, elicitor=pause)
    asking = asyncio.create_task(pause.ask(QUESTION))
    await asyncio.sleep(0.2)
    meanwhile = ctx.remaining()
    asker.go.set()
    await asking

    assert meanwhile is not None
    assert meanwhile == pytest.approx(50, abs=0.1)


async def test_a_question_that_is_taken_back_moves_them_too() -> None:
    call, entry = Call(deadline=None), Entry()
    pause = DeadlinePause(Asker(entry), call, entry)
    asking = asyncio.create_task(pause.ask(QUESTION))
    await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    assert 50.0 < entry.when < float("inf")
    assert call.deadline is None


async def test_what_the_elicitor_takes_is_passed_on() -> None:
    pause = DeadlinePause(Asker(Entry()), Call(), Entry())

    assert (pause.takes_questions, pause.takes_samples, pause.deadline) == (True, False, 7.0)
    with pytest.raises(ElicitationUnavailable):
        await pause.sample(SampleRequest(messages=()))


async def test_the_deadline_stands_still_while_a_model_is_asked() -> None:
    entry = Entry()
    seen: list[float] = []

    class Sampling(Asker):
        async def sample(self, request: SampleRequest) -> Sample:
            seen.append(entry.when)
            return Sample(content=())

    await DeadlinePause(Sampling(entry), Call(), entry).sample(SampleRequest(messages=()))

    assert seen == [float("inf")]
    assert 50.0 <= entry.when < 60.0
