"""What Ctrl-C does while an answer is in progress."""

import asyncio
import os
import signal

import pytest

from pegboard.cli.interrupts import AnswerInterrupts, ask_or_leave
from pegboard.errors import Unavailable


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


async def test_the_first_one_stops_the_answer_and_the_block_goes_on_to_its_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stopped = asyncio.Event()

    async def stop() -> None:
        stopped.set()

    before = signal.getsignal(signal.SIGINT)
    async with AnswerInterrupts(stop) as interrupts:
        press()
        await stopped.wait()

    assert (interrupts.is_pressed, interrupts.has_left) == (True, False)
    assert signal.getsignal(signal.SIGINT) is before
    assert "Press Ctrl-C again" in capsys.readouterr().err


@pytest.mark.parametrize("is_over", [False, True], ids=["in the answer", "after its end"])
async def test_the_second_one_leaves_an_answer_that_does_not_stop(is_over: bool) -> None:
    stopping = asyncio.Event()

    async def stop() -> None:
        stopping.set()
        press()
        await asyncio.Event().wait()

    async with AnswerInterrupts(stop) as interrupts:
        press()
        await stopping.wait()
        if not is_over:
            await asyncio.Event().wait()

    assert interrupts.has_left


async def test_a_prompt_ends_without_an_answer() -> None:
    async def stop() -> None:
        pass

    async def prompt() -> str:
        press()
        await asyncio.Event().wait()
        return "never"

    async def late() -> str:
        return "too late"

    answers: list[str | None] = []
    async with AnswerInterrupts(stop) as interrupts:
        answers += [await interrupts.ask(prompt()), await interrupts.ask(late())]

    assert answers == [None, None]


async def test_a_stop_that_fails_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    tried = asyncio.Event()

    async def stop() -> None:
        tried.set()
        raise Unavailable("The server is away.")

    async with AnswerInterrupts(stop):
        press()
        await tried.wait()

    assert "could not be stopped: The server is away." in capsys.readouterr().err


async def test_a_prompt_outside_an_answer_ends_without_an_answer() -> None:
    is_cancelled = False

    async def prompt() -> str:
        nonlocal is_cancelled
        press()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            is_cancelled = True
            raise
        return "never"

    before = signal.getsignal(signal.SIGINT)

    assert await ask_or_leave(prompt()) is None
    assert is_cancelled
    assert signal.getsignal(signal.SIGINT) is before


async def test_a_prompt_outside_an_answer_is_answered() -> None:
    async def prompt() -> str:
        return "typed"

    assert await ask_or_leave(prompt()) == "typed"
