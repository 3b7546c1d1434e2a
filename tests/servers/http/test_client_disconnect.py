import asyncio

import pytest
from starlette.types import Message

from pegboard.servers.http.client_disconnect import cancel_on_disconnect


async def connected() -> Message:
    return await asyncio.sleep(60, {"type": "http.disconnect"})


async def gone() -> Message:
    return {"type": "http.disconnect"}


async def test_a_client_that_stays_gets_the_value() -> None:
    assert await cancel_on_disconnect(connected, asyncio.sleep(0.01, "value")) == "value"


async def test_an_error_of_the_work_is_raised() -> None:
    async def failing() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await cancel_on_disconnect(connected, failing())


async def test_a_client_that_goes_takes_the_work_with_it() -> None:
    ended: list[str] = []

    async def work() -> str:
        try:
            return await asyncio.sleep(60, "value")
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            ended.append("cancelled")
            raise

    assert await cancel_on_disconnect(gone, work()) is None
    assert ended == ["cancelled"]


async def test_what_comes_before_the_client_goes_is_passed_over() -> None:
    messages = iter(["http.request", "http.request", "http.disconnect"])

    async def receive() -> Message:
        return {"type": next(messages)}

    assert await cancel_on_disconnect(receive, asyncio.sleep(60)) is None


async def test_a_broken_connection_counts_as_gone() -> None:
    async def broken() -> Message:
        raise ConnectionResetError

    assert await cancel_on_disconnect(broken, asyncio.sleep(60)) is None


async def test_whoever_is_cancelled_meanwhile_leaves_nothing_running() -> None:
    started = asyncio.Event()

    async def work() -> None:
        started.set()
        await asyncio.sleep(60)

    outer = asyncio.create_task(cancel_on_disconnect(connected, work()))
    await started.wait()
    before = len(asyncio.all_tasks())
    outer.cancel()

    with pytest.raises(asyncio.CancelledError):
        await outer
    assert len(asyncio.all_tasks()) == before - 3
