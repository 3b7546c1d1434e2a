import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.servers.http.live import (
    BOARD,
    begun,
    live,
    live_client,
    live_settings,
    outcome_of,
    patient,
    until,
)
from tests.servers.http.made import TOKEN
from tests.servers.http.taking import board_text, repeating_api

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.holder import announce_holder
from pegboard.servers.http import serve
from pegboard.servers.http.server import _ends_soon, run


async def recorded(data: Path) -> list[tuple[str, str]]:
    """The history of a data directory that no server uses any more."""
    async with Pegboard(settings=Settings(data=data)) as board:
        page = await board.history.calls(HistoryQuery())
    return [(call["tool"], call["status"]) for call in page.calls]


async def test_the_server_answers_at_the_address_that_it_tells(tmp_path: Path) -> None:
    async with live_client(live_settings(tmp_path)) as client:
        answer = await client.post(
            "/v1/execute", json={"name": "my__greet", "input": {"name": "Ada"}}
        )
        metrics = await client.get("/metrics")

    assert answer.json()["output"] == "Hello Ada!"
    assert "server" not in answer.headers
    assert 'tool="my__greet"' in metrics.text


async def test_calls_over_many_connections_run_at_the_same_time(tmp_path: Path) -> None:
    body = {"name": "my__meet"}  # none of the thirty ends before all have begun
    async with live_client(live_settings(tmp_path)) as client, asyncio.TaskGroup() as group:
        calls = [group.create_task(client.post("/execute", json=body)) for _ in range(30)]

    assert {call.result().status_code for call in calls} == {200}


async def test_a_call_without_a_credential_is_told_where_to_connect_one(tmp_path: Path) -> None:
    oauth = {
        "authorization_url": "https://id.example/auth",
        "token_url": "https://id.example/token",
        "client_id": "board",
    }
    settings = live_settings(tmp_path, public_url="http://127.0.0.1:8321")
    assert settings.board is not None
    async with repeating_api() as api:
        text = board_text(api, auth={"kind": "caller", "oauth": oauth})
        settings.board.write_text(text)
        async with live_client(settings) as client:
            answer = await client.post("/v1/execute", json={"name": "github__whoami"})

    assert answer.json()["code"] == "credential_missing"
    assert answer.json()["link"] == (
        "http://127.0.0.1:8321/v1/credentials/oauth/connect?source=github&for=local"
    )


async def test_a_client_that_goes_away_cancels_its_call(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with live_client(live_settings(tmp_path, data=data)) as client:
        call = asyncio.create_task(client.post("/execute", json={"name": "my__linger"}))
        await begun(tmp_path)
        call.cancel()

        async def is_recorded() -> bool:
            answer = await client.get("/history?status=cancelled")
            return len(answer.json()["calls"]) == 1

        await until(is_recorded)

    assert await recorded(data) == [("my__linger", "cancelled")]


async def test_a_client_that_goes_away_while_it_sends_is_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head = "POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    async with live_client(live_settings(tmp_path)) as client:
        _, writer = await asyncio.open_connection(client.base_url.host, client.base_url.port)
        writer.write(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.close()
        await asyncio.sleep(0.1)
        alive = await client.get("/healthz")

    assert alive.status_code == 200
    said = [record for record in caplog.records if record.name.startswith(("pegboard", "uvicorn"))]
    assert said == []


@pytest.mark.timeout(60)
async def test_the_end_of_the_server_is_the_end_of_its_calls(tmp_path: Path) -> None:
    data = tmp_path / "data"
    loop = asyncio.get_running_loop()
    async with patient() as client:
        async with live(live_settings(tmp_path, data=data), grace=1) as url:
            call = asyncio.create_task(client.post(f"{url}/execute", json={"name": "my__linger"}))
            await begun(tmp_path)
            ending = loop.time()
        took = loop.time() - ending
        outcome = await outcome_of(call)

    assert outcome != 200
    assert 1 < took < 45  # the call would take a minute
    assert await recorded(data) == [("my__linger", "cancelled")]


async def test_a_call_that_ends_in_time_is_answered_before_the_server_ends(tmp_path: Path) -> None:
    body = {"name": "my__linger", "input": {"seconds": 0.5}}
    async with patient() as client:
        async with live(live_settings(tmp_path), grace=60) as url:
            call = asyncio.create_task(client.post(f"{url}/execute", json=body))
            await begun(tmp_path)
        answer = await call

    assert answer.json()["output"] == "done"


@pytest.mark.parametrize("kind", ["conversation", "run"])
async def test_who_follows_does_not_keep_the_server(tmp_path: Path, kind: str) -> None:
    lines = list[str]()
    async with patient() as client:
        async with live(live_settings(tmp_path), grace=60) as url:
            if kind == "run":
                body = {"name": "my__linger", "async": True}
                started = await client.post(f"{url}/execute", json=body)
                path = f"{url}/runs/{started.json()['run_id']}/events"
            else:
                body = {"message": "hi", "stream": False}
                answer = await client.post(f"{url}/chat", json=body)
                path = f"{url}/conversations/{answer.json()['conversation']}/events?after=1-0"
            following, first = client.stream("GET", path), asyncio.Event()

            async def read() -> None:
                async with following as stream:
                    async for line in stream.aiter_lines():
                        lines.append(line)
                        first.set()

            reading = asyncio.create_task(read())
            await first.wait()
        await reading  # without an error: the stream was not cut off

    assert lines[0].startswith("id: ")


@pytest.mark.timeout(60)
async def test_a_tool_that_will_not_end_does_not_keep_the_server(tmp_path: Path) -> None:
    async with patient() as client:
        async with live(live_settings(tmp_path), grace=1) as url:
            call = asyncio.create_task(client.post(f"{url}/execute", json={"name": "my__stubborn"}))
            await begun(tmp_path)
        (tmp_path / "let go").touch()  # only now: the server has ended beside it
        outcome = await outcome_of(call)

    assert outcome != 200


async def test_answers_of_a_server_that_ends_say_that_the_connection_closes(tmp_path: Path) -> None:
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        run(live_settings(tmp_path), ready=listening.set_result, grace=60)
    )
    async with patient(base_url=await listening) as client:
        before = await client.get("/healthz")
        call = asyncio.create_task(client.post("/execute", json={"name": "my__stubborn"}))
        await begun(tmp_path)
        serving.cancel()
        await asyncio.wait((serving,), timeout=0.2)
        (tmp_path / "let go").touch()
        answer = await call
    await asyncio.wait((serving,))

    assert "connection" not in before.headers
    assert (answer.status_code, answer.headers["connection"]) == (200, "close")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server_without_an_error(
    tmp_path: Path, number: signal.Signals
) -> None:
    def end(_url: str) -> None:
        os.kill(os.getpid(), number)

    async with asyncio.timeout(40):
        await run(live_settings(tmp_path), ready=end, grace=1)


async def test_a_second_signal_does_not_wait_for_calls(tmp_path: Path) -> None:
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        run(live_settings(tmp_path), ready=listening.set_result, grace=60)
    )
    async with patient(base_url=await listening) as client:
        call = asyncio.create_task(client.post("/execute", json={"name": "my__linger"}))
        await begun(tmp_path)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.3)
        assert not serving.done()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(serving, 40)  # the call would take a minute
        await outcome_of(call)


async def test_a_signal_while_sources_open_ends_the_server_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        (tmp_path / "board.yaml").write_text(
            "sources: [{kind: sql, name: slow, config: "
            f'{{url: "postgresql://a:b@127.0.0.1:{port}/x", connect_timeout: 60}}}}]\n'
        )
        heard: list[str] = []
        settings = Settings(
            board=tmp_path / "board.yaml", port=0, open_patience=300, list_timeout=300
        )
        serving = asyncio.create_task(run(settings, ready=heard.append))
        connection, _ = await asyncio.get_running_loop().sock_accept(_unblocked(silent))
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(serving, 40)  # the source could take a minute
        connection.close()

    assert heard == []


@pytest.mark.timeout(60)
async def test_the_server_follows_its_board_file(tmp_path: Path) -> None:
    settings = live_settings(tmp_path, reload="on")
    board = tmp_path / "board.yaml"
    async with live_client(settings) as client:

        async def is_hidden() -> bool:
            return (await client.get("/tools/my__greet")).status_code == 404

        assert not await is_hidden()
        board.write_text(f"{board.read_text()}policy: {{deny: ['*greet']}}\n")
        await until(is_hidden)


@pytest.mark.timeout(60)
async def test_a_server_that_does_not_follow_its_file_stays_as_it_was(tmp_path: Path) -> None:
    board = tmp_path / "board.yaml"
    async with live_client(live_settings(tmp_path, reload="off")) as client:
        board.write_text(f"{board.read_text()}policy: {{deny: ['*greet']}}\n")
        await asyncio.sleep(1.5)
        answer = await client.get("/tools/my__greet")

    assert answer.status_code == 200


async def test_a_mistake_in_the_board_is_raised_before_anything_listens(tmp_path: Path) -> None:
    settings = live_settings(tmp_path)
    (tmp_path / "board.yaml").write_text(BOARD.format(module="x").replace("kind", "knd"))

    with pytest.raises(ConfigError, match=r"board.yaml:1: .*kind"):
        await run(settings, ready=pytest.fail)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_no_server_lets_other_machines_in_without_a_token(tmp_path: Path, host: str) -> None:
    with pytest.raises(ConfigError, match="PEGBOARD_TOKEN"):
        serve(live_settings(tmp_path, host=host), ready=pytest.fail)


async def test_with_a_token_other_machines_may_come(tmp_path: Path) -> None:
    settings = live_settings(tmp_path, host="0.0.0.0", token=SecretStr(TOKEN))
    async with live(settings) as url, patient() as client:
        at = url.replace("0.0.0.0", "127.0.0.1")
        without = await client.get(f"{at}/tools")
        with_it = await client.get(f"{at}/tools", headers={"authorization": f"Bearer {TOKEN}"})

    assert (without.status_code, with_it.status_code) == (401, 200)


async def test_a_port_in_use_is_said_in_one_line(tmp_path: Path) -> None:
    async with live(live_settings(tmp_path)) as url:
        port = int(url.rpartition(":")[2])

        with pytest.raises(ConfigError, match=rf"^127.0.0.1:{port} is in use: [^\n]+$"):
            await run(live_settings(tmp_path, port=port), ready=pytest.fail)


async def test_a_port_that_is_taken_while_sources_open_is_said_too(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 0))
        settings = live_settings(tmp_path, port=other.getsockname()[1])
        serving = asyncio.create_task(run(settings, ready=pytest.fail))
        await asyncio.sleep(0)
        other.listen()

        with pytest.raises(ConfigError, match="is in use"):
            await serving


def _unblocked(listening: socket.socket) -> socket.socket:
    listening.setblocking(False)
    return listening


@pytest.mark.parametrize(
    ("command", "url", "process", "ends_soon"),
    [
        ("pegboard run", "", 1, True),
        ("pegboard serve", "http://127.0.0.1:1", 1, False),
        ("pegboard mcp", "", 1, True),
        ("pegboard run", "", 0, False),
    ],
    ids=["command", "server", "mcp that begins", "this process"],
)
async def test_a_command_that_holds_the_data_is_waited_for_and_a_server_is_not(
    tmp_path: Path, command: str, url: str, process: int, ends_soon: bool
) -> None:
    settings = Settings(data=tmp_path)
    (tmp_path / "lock").write_text(f"{process or os.getpid()}\n")
    (tmp_path / "lock").chmod(0o600)
    announce_holder(settings, command=command, url=url)

    assert await _ends_soon(settings, set()) is ends_soon


async def test_an_mcp_process_that_has_the_data_again_is_asked_again(tmp_path: Path) -> None:
    settings, asked = Settings(data=tmp_path), set[str]()
    greeted: list[bytes] = []

    async def make_way(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        greeted.append(await reader.readline())
        writer.write(b'{"makes_way": true}\n')
        writer.close()

    async with await asyncio.start_server(make_way, "127.0.0.1", 0) as listening:
        address = "{}:{}".format(*listening.sockets[0].getsockname())
        for token in ("first", "first", "second"):
            (tmp_path / "lock").write_text("1\n")
            (tmp_path / "lock").chmod(0o600)
            announce_holder(settings, command="pegboard mcp", mcp=address, token=token)
            assert await _ends_soon(settings, asked)

    assert [json.loads(line)["token"] for line in greeted] == ["first", "second"]


async def test_an_mcp_process_that_does_not_answer_is_named(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    (tmp_path / "lock").write_text("1\n")
    (tmp_path / "lock").chmod(0o600)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = "{}:{}".format(*bound.getsockname())
        announce_holder(settings, command="pegboard mcp", mcp=address)

        with pytest.raises(
            ConfigError, match=r"process 1 \('pegboard mcp', .* It does not answer\."
        ):
            await _ends_soon(settings, set())
