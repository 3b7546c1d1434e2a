"""Progress and log lines on their way to the client."""

import asyncio
import threading
from typing import Any

import pytest
from tests.servers.mcp.made import a_client

from pegboard.core.context import Progress
from pegboard.core.elicitation import LogLine
from pegboard.servers.mcp.progress import ProgressReporter
from pegboard.servers.mcp.server import BoardServer


class Heard:
    """What a client was told."""

    def __init__(self) -> None:
        self.progress: list[tuple[float, Any, Any]] = []
        self.lines: list[tuple[str, Any, Any]] = []

    async def on_progress(self, done: float, total: float | None, message: str | None) -> None:
        self.progress.append((done, total, message))

    async def on_line(self, params: Any) -> None:
        self.lines.append((params.level, params.data, params.logger))


async def test_progress_of_the_call_itself_arrives_and_only_grows(server: BoardServer) -> None:
    heard = Heard()

    async with a_client(server, "legacy") as client:
        await client.call_tool("talk", {}, progress_callback=heard.on_progress)

    assert heard.progress == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@pytest.mark.filterwarnings("ignore:The logging capability is deprecated")
async def test_log_lines_arrive_from_the_level_that_was_asked_for(
    server: BoardServer, era: str
) -> None:
    heard = Heard()
    given: Any = {"logging_callback": heard.on_line}
    async with a_client(server, era, **given) as client:
        await client.call_tool("talk", {})
        first, heard.lines = heard.lines, []
        if era == "legacy":
            await client.session.set_logging_level("error")
            await client.call_tool("talk", {})
        else:
            meta: Any = {"io.modelcontextprotocol/logLevel": "error"}
            await client.call_tool("talk", {}, meta=meta)

    assert [level for level, _, _ in first] == (["info", "error"] if era == "legacy" else [])
    assert heard.lines == [("error", {"at": "error"}, "talk")]


class Session:
    """Keeps what is sent, as slowly as it likes."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.open = asyncio.Event()

    async def report_progress(self, done: float, _total: Any, _message: Any) -> None:
        await self.open.wait()
        self.sent.append(done)

    async def send_notification(self, _notification: Any, **_: Any) -> None:
        raise ConnectionError("gone")


class Request:
    """A request that wants progress."""

    params = {"_meta": {"progressToken": 1}}
    request_id = 1

    def __init__(self) -> None:
        self.session = Session()


@pytest.fixture
def request_of() -> Any:
    return Request()


def progress(done: float) -> Progress:
    return Progress(call_id="c", tool="t", done=done)


async def test_a_client_that_reads_slowly_gets_the_newest_progress(request_of: Any) -> None:
    telling = ProgressReporter(request_of, tool="t", levels=frozenset())
    listen = telling.on_progress
    assert listen is not None

    for done in range(10_000):
        listen(progress(done))
    await asyncio.sleep(0)
    for done in range(10_000, 20_000):
        listen(progress(done))
    request_of.session.open.set()
    await telling.flush()

    assert request_of.session.sent == [9_999, 19_999]


async def test_another_thread_may_tell(request_of: Any) -> None:
    request_of.session.open.set()
    telling = ProgressReporter(request_of, tool="t", levels=frozenset())
    listen = telling.on_progress
    assert listen is not None

    thread = threading.Thread(target=listen, args=(progress(1),))
    thread.start()
    thread.join()
    await asyncio.sleep(0.01)
    await telling.flush()

    assert request_of.session.sent == [1]


async def test_a_client_that_is_gone_harms_no_call(request_of: Any) -> None:
    telling = ProgressReporter(request_of, tool="t", levels=frozenset({"info"}))
    listen = telling.on_log
    assert listen is not None
    assert telling.on_progress is not None

    for _ in range(1_500):
        listen(LogLine(call_id="c", tool="t", level="info", data="x"))
    await telling.flush()
    telling.request = None
    listen(LogLine(call_id="c", tool="t", level="info", data="x"))
    await telling.flush()

    assert request_of.session.sent == []
