import asyncio
import json
from contextlib import suppress
from typing import Any

import pytest
from tests.servers.http.live import until
from tests.servers.http.websocket.sockets import (
    Client,
    connected,
    frame,
    problem_in,
    raw,
    served,
)
from websockets.exceptions import ConnectionClosed

from pegboard import Pegboard, tool
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.servers.http import uvicorn_server
from pegboard.servers.http.websocket.connection import SLOW_READER, ConnectionLimits
from pegboard.servers.http.websocket.send_queue import SendQueue

LINGER = {"type": "call", "body": {"name": "wait"}}


async def statuses(board: Pegboard) -> list[str]:
    page = await board.history.calls(HistoryQuery(limit=1000))
    return [call["status"] for call in page.calls]


async def test_many_requests_run_at_the_same_time_and_each_answer_has_its_id(
    client: Client, board: Pegboard
) -> None:
    read = asyncio.Event()

    @tool(effect="read")
    async def last() -> str:
        """End after the other one has been read."""
        await read.wait()
        return "done"

    board.registry.add(last)
    slow = await client.send("call", body={"name": "last"})
    quick = await client.send("call", body={"name": "add", "input": {"a": 2, "b": 3}})

    first = await client.read()
    read.set()
    second = await client.read()

    assert (first["id"], first["body"]["output"]) == (quick, 5)
    assert (second["id"], second["body"]["output"]) == (slow, "done")


@pytest.mark.parametrize("id", ["a", 0, -7, "x" * 128, 2**53], ids=str)
async def test_an_id_is_what_the_client_chose(client: Client, id: Any) -> None:
    assert await client.say(json.dumps({"id": id, "type": "ping"})) == {"id": id, "type": "pong"}


async def test_progress_comes_before_the_answer_and_never_behind_it(client: Client) -> None:
    request = await client.send("call", body={"name": "climb", "input": {"steps": 5}})

    answer, before = await client.until(request, "result")

    assert answer["body"]["output"] == "up"
    assert before[-1] == {
        "id": request,
        "type": "progress",
        "tool": "climb",
        "done": 5.0,
        "total": 5.0,
        "message": "step 5",
    }
    assert [item["done"] for item in before] == sorted({item["done"] for item in before})


async def test_a_call_is_cancelled_by_its_id_and_recorded(client: Client, board: Pegboard) -> None:
    request = await client.send("call", body={"name": "wait"})
    cancelling = await client.send("cancel", request=request)

    first, second = await client.read(), await client.read()

    assert (first["id"], first["body"]) == (cancelling, {"request": request})
    assert problem_in(second) == (request, "cancelled", 499)
    await board.flush()
    assert await statuses(board) == ["cancelled"]


async def test_what_is_not_under_way_cannot_be_cancelled(client: Client) -> None:
    assert problem_in(await client.ask("cancel", request="gone"))[1:] == ("not_found", 404)


async def test_an_id_that_is_under_way_is_refused_without_confusing_the_first(
    client: Client,
) -> None:
    await client.socket.send(json.dumps({"id": "a", **LINGER}))

    answer = await client.say(json.dumps({"id": "a", **LINGER}))
    assert problem_in(answer) == (None, "request_invalid", 409)
    answer = await client.say(json.dumps({"id": "b", "type": "cancel", "request": "a"}))
    assert answer["type"] == "result"


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        pytest.param("{", (None, "request_invalid", 400), id="no JSON"),
        pytest.param("", (None, "request_invalid", 400), id="nothing"),
        pytest.param("[1]", (None, "request_invalid", 400), id="no object"),
        pytest.param('{"id": 1, "type": NaN}', (None, "request_invalid", 400), id="NaN"),
        pytest.param("[" * 100_000, (None, "request_invalid", 400), id="deep"),
        pytest.param(
            '{"id": 1, "type": "call", "body": {"name": "add", "input": ' + '{"a":' * 150 + "1"
            "}" * 152,
            (None, "request_invalid", 400),
            id="deep within",
        ),
        pytest.param('{"type": "ping"}', (None, "request_invalid", 422), id="no id"),
        pytest.param('{"id": true, "type": "ping"}', (None, "request_invalid", 422), id="bad id"),
        pytest.param('{"id": 1.5, "type": "ping"}', (None, "request_invalid", 422), id="half id"),
        pytest.param(
            json.dumps({"id": "x" * 129, "type": "ping"}),
            (None, "request_invalid", 422),
            id="long id",
        ),
        pytest.param('{"id": 1}', (1, "request_invalid", 422), id="no type"),
        pytest.param('{"id": 1, "type": "burn"}', (1, "request_invalid", 422), id="unknown type"),
        pytest.param('{"id": 1, "type": ["ping"]}', (1, "request_invalid", 422), id="type a list"),
        pytest.param('{"id": 1, "type": "ping", "x": 1}', (1, "request_invalid", 422), id="more"),
        pytest.param('{"id": 1, "type": "call"}', (1, "request_invalid", 422), id="no body"),
        pytest.param(b"\x00\xff", (None, "media_type_unsupported", 415), id="binary"),
        pytest.param(b'{"id": 1, "type": "ping"}', (None, "media_type_unsupported", 415), id="b"),
    ],
)
async def test_what_is_no_message_is_told_and_the_connection_stays(
    client: Client, sent: str | bytes, told: tuple[Any, str, int]
) -> None:
    assert problem_in(await client.say(sent)) == told
    assert (await client.ask("ping"))["type"] == "pong"


async def test_the_place_of_a_fault_is_told_as_in_the_message(client: Client) -> None:
    answer = await client.ask("call", body={"name": "add", "inputs": {}})

    assert answer["problem"]["problems"] == [
        {"path": "body.inputs", "message": "unknown key; did you mean 'input'?", "kind": "unknown"}
    ]


async def test_a_long_wrong_text_does_not_come_back(client: Client) -> None:
    answer = await client.say(json.dumps({"id": 1, "type": "x" * 500_000, "y" * 9000: 1}))

    assert len(json.dumps(answer)) < 2_000
    body = {f"{'z' * 1000}{number}": 1 for number in range(500)}
    assert len(json.dumps(await client.ask("call", body=body))) < 100_000


async def test_more_requests_than_may_be_under_way_are_told_to_come_later(
    board: Pegboard,
) -> None:
    limits = ConnectionLimits(in_flight=3)
    async with served(board, limits=limits) as url, connected(url) as client:
        for _ in range(3):
            await client.send("call", body={"name": "wait"})
        fourth = await client.call("add", a=1)
        assert problem_in(fourth)[1:] == ("overloaded", 503)
        assert fourth["problem"]["retry_after"] == 1.0
        await client.ask("cancel", request=1)
        assert (await client.call("add", a=1))["body"]["output"] == 1


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_ten_thousand_calls_at_once_are_each_answered_once(
    client: Client, many: list[str]
) -> None:
    async def send_all() -> None:
        for text in many:
            await client.socket.send(text)

    sending = asyncio.create_task(send_all())
    answers = [await client.read() for _ in many]
    await sending

    assert len({answer["id"] for answer in answers}) == len(many)
    kinds = {answer.get("problem", {}).get("code", "completed") for answer in answers}
    assert kinds <= {"completed", "overloaded"}
    assert (await client.call("add", a=1, b=1))["body"]["output"] == 2


async def test_a_message_of_100_mb_ends_its_connection_alone(board: Pegboard) -> None:
    async with served(board) as url:
        async with connected(url) as client:
            with suppress(ConnectionClosed):
                await client.socket.send("x" * 100_000_000)
            assert (await client.closed())[0] == 1009
        async with connected(url) as client:
            assert (await client.ask("ping"))["type"] == "pong"


async def test_a_message_in_many_pieces_is_bounded_as_well(board: Pegboard) -> None:
    async with served(board, max_request_bytes=10_000) as url, connected(url) as client:
        assert problem_in(await client.say("x" * 10_000))[1:] == ("request_invalid", 400)
        with suppress(ConnectionClosed):
            await client.socket.send(["x" * 1_000] * 1_000)
        assert (await client.closed())[0] == 1009


async def test_a_client_that_does_not_read_is_told_and_disconnected(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver, gave_up = SendQueue.deliver, asyncio.Event()

    async def watched(outbox: SendQueue) -> None:
        try:
            await deliver(outbox)
        finally:
            gave_up.set()

    monkeypatch.setattr(SendQueue, "deliver", watched)
    monkeypatch.setattr(uvicorn_server, "_CLOSE_TIMEOUT", 60.0)
    limits = ConnectionLimits(in_flight=400, send_timeout=0.3)
    async with served(board, limits=limits) as url, connected(url, max_queue=1) as client:
        with suppress(ConnectionClosed):
            for _ in range(400):
                await client.send("call", body={"name": "weigh", "input": {"size": 90_000}})
        await gave_up.wait()

        code, reason = await client.closed()

    assert (code, reason) == (SLOW_READER, "not read within 0.3 s")


async def test_a_client_that_never_reads_again_holds_nothing(board: Pegboard) -> None:
    text = json.dumps({"id": "w", "type": "call", "body": {"name": "wait"}})
    async with (
        served(board, limits=ConnectionLimits(send_timeout=0.2)) as url,
        raw(url) as (_, writer),
    ):
        writer.write(frame(text))
        for number in range(300):
            call = {"name": "weigh", "input": {"size": 900_000}}
            writer.write(frame(json.dumps({"id": number, "type": "call", "body": call})))

        async def is_recorded() -> bool:
            await board.flush()
            return "cancelled" in await statuses(board)

        await until(is_recorded)


@pytest.mark.parametrize("garbage", [b"\xff", b"\0", b"GET / HTTP/1.1\r\n", "é".encode()])
async def test_garbage_ends_its_own_connection_alone(board: Pegboard, garbage: bytes) -> None:
    async with served(board) as url, connected(url) as client:
        async with raw(url) as (reader, writer):
            writer.write(garbage * 1_000)
            await asyncio.wait_for(reader.read(), 40)
        assert (await client.ask("ping"))["type"] == "pong"


async def test_text_that_is_no_utf_8_ends_its_connection(board: Pegboard) -> None:
    async with served(board) as url, raw(url) as (reader, writer):
        writer.write(b"\x81\x82\0\0\0\0\xff\xfe")
        answer = await asyncio.wait_for(reader.read(), 40)

    assert answer[:4] == b"\x88" + answer[1:2] + (1007).to_bytes(2)


async def test_a_client_that_is_gone_without_a_word_ends_its_calls(board: Pegboard) -> None:
    async with served(board, ping=0.2) as url, raw(url) as (_, writer):
        writer.write(frame(json.dumps({"id": 1, **LINGER})))

        async def is_recorded() -> bool:  # it never answers a ping
            await board.flush()
            return await statuses(board) == ["cancelled"]

        await until(is_recorded)


async def test_a_client_that_is_heard_owes_no_pong_yet(board: Pegboard) -> None:
    async with served(board, ping=0.2) as url, raw(url) as (reader, writer):
        for number in range(20):  # for a second, and it never answers a ping
            writer.write(frame(json.dumps({"id": number, "type": "ping"}).ljust(200)))
            await asyncio.sleep(0.05)
        answers = await asyncio.wait_for(reader.readuntil(b'"id":19'), 40)

    assert answers.count(b"pong") >= 19


async def test_a_client_that_leaves_ends_its_calls(board: Pegboard) -> None:
    async with served(board) as url:
        async with connected(url) as client:
            await client.send("call", body={"name": "wait"})
            await client.ask("ping")

        async def is_recorded() -> bool:
            await board.flush()
            return await statuses(board) == ["cancelled"]

        await until(is_recorded)


async def test_the_end_of_the_server_ends_connections_with_a_code_and_records_calls(
    board: Pegboard,
) -> None:
    async with served(board) as url:
        opening = connected(url)
        client = await opening.__aenter__()
        await client.send("call", body={"name": "wait"})
        await client.ask("ping")

    assert (await client.closed())[0] == 1012
    await opening.__aexit__(None, None, None)
    await board.flush()
    assert await statuses(board) == ["cancelled"]


async def test_a_fault_of_ours_shows_an_error_id_alone(
    board: Pegboard, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(board) as url, connected(url) as client:
        broken: Any = None
        board.runs._store, kept = broken, board.runs._store
        answer = await client.ask("show_run", run_id="r_1")
        board.runs._store = kept

    assert problem_in(answer)[1:] == ("internal", 500)
    assert answer["problem"]["error_id"] in caplog.text


async def test_a_closed_board_answers_that_later_may_help(board: Pegboard) -> None:
    async with served(board, limits=ConnectionLimits()) as url, connected(url) as client:
        await board.close()
        assert problem_in(await client.call("add", a=1))[1:] == ("overloaded", 503)
