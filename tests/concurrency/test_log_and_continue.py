import asyncio
import logging

import pytest

from pegboard.concurrency.log_and_continue import log_and_continue

_LOG = logging.getLogger("pegboard.tests")


def test_a_round_that_fails_is_logged_with_its_stack_and_the_next_one_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rounds: list[int] = []
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            with log_and_continue(_LOG, "looking failed"):
                rounds.append(number)
                raise ValueError("odd")

    assert rounds == [0, 1, 2]
    said = [item.getMessage() for item in caplog.records if item.name == _LOG.name]
    assert said == ["looking failed"]
    assert "ValueError: odd" in caplog.text


async def test_a_cancellation_ends_the_task() -> None:
    async def work() -> None:
        while True:
            with log_and_continue(_LOG, "waiting failed"):
                await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()
