import asyncio
from typing import Any

import pytest
from starlette.types import Message
from tests.servers.http.made import NOTES

from pegboard import Pegboard
from pegboard.core.principal import LOCAL
from pegboard.errors import GraphInvalid
from pegboard.servers.http.execute_call import SuccessAnswer, cancel_on_disconnect, execute_call
from pegboard.servers.http.models.requests import ExecuteRequest
from pegboard.servers.http.problem_details import ProblemAnswer


async def outcome(board: Pegboard, key: str = "", **body: Any) -> SuccessAnswer | ProblemAnswer:
    return await execute_call(board, LOCAL, ExecuteRequest.model_validate(body), key=key)


async def test_a_call_that_went_well_is_an_answer(board: Pegboard) -> None:
    answer = await outcome(board, capability="adding", input={"a": 1, "b": 2})

    assert isinstance(answer, SuccessAnswer)
    assert (answer.status, answer.body["output"], answer.body["tool_id"]) == (200, 3, "add_v1")


async def test_a_call_that_failed_is_told_with_when_to_come_back(board: Pegboard) -> None:
    answer = await outcome(board, name="busy")

    assert isinstance(answer, ProblemAnswer)
    assert (answer.status, answer.headers) == (503, {"Retry-After": "7"})


async def test_the_key_beside_the_body_counts_as_the_one_within(board: Pegboard) -> None:
    await outcome(board, key="k", name="note", input={"text": "once"})
    config = {"idempotency_key": "k"}
    answer = await outcome(board, name="note", input={"text": "once"}, execution_config=config)

    assert isinstance(answer, SuccessAnswer)
    assert answer.body["metadata"]["replayed"]
    assert NOTES == ["once"]


async def test_a_call_in_the_background_says_where_its_run_is(board: Pegboard) -> None:
    body: dict[str, Any] = {"name": "add", "input": {"a": 1}, "async": True}
    answer = await outcome(board, **body)

    assert isinstance(answer, SuccessAnswer)
    assert answer.headers == {"Location": f"/runs/{answer.body['run_id']}"}


@pytest.mark.parametrize("named", [{"tool_id": "seek_v1"}, {"name": "seek@1"}])
async def test_an_id_of_before_calls_the_version_of_before(
    board: Pegboard, named: dict[str, Any]
) -> None:
    seek = {"tool_id": "seek_v1", "type": "RestAPI", "url": "https://api.example.com/items"}
    for key in ("old", "new"):
        await board.catalogue.register(
            [{**seek, "method": "GET", "input_schema": {key: "string"}}], principal=LOCAL
        )
    wrong: dict[str, Any] = {**named, "input": {"new": "x"}}

    before = await outcome(board, **wrong)
    now = await outcome(board, name="seek", input={"old": "x"})
    with pytest.raises(GraphInvalid, match="old"):
        await outcome(board, "", **{**wrong, "async": True})

    assert isinstance(before, ProblemAnswer)
    assert isinstance(now, ProblemAnswer)
    unknown = [told.body["problems"][0]["path"] for told in (before, now)]
    assert unknown == ["new", "old"]


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

    watched = asyncio.Event()

    async def receive() -> Message:
        watched.set()
        return await connected()

    before = asyncio.all_tasks()
    outer = asyncio.create_task(cancel_on_disconnect(receive, work()))
    await started.wait()
    await watched.wait()
    outer.cancel()

    with pytest.raises(asyncio.CancelledError):
        await outer
    assert asyncio.all_tasks() == before


async def test_a_client_that_goes_leaves_no_cancellation_to_work_that_goes_on() -> None:
    async def stubborn() -> str:
        try:
            return await asyncio.sleep(60, "never")
        except asyncio.CancelledError:
            return "done"

    assert await cancel_on_disconnect(gone, stubborn()) == "done"
    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()


async def test_a_quick_call_does_not_watch_its_client() -> None:
    async def never() -> Message:
        raise AssertionError("watched")

    async def work() -> str:
        return "value"

    before = asyncio.all_tasks()
    assert await cancel_on_disconnect(never, work()) == "value"
    assert asyncio.all_tasks() == before
