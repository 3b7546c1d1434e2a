"""A server that really listens, within the test's own loop."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http import create_app
from pegboard.servers.http.server import run

MODULE = '''
"""Tools of a board file: they need no arguments of the test."""

import asyncio
from pathlib import Path

from pegboard import tool

FOLDER = Path(__file__).parent
MET = asyncio.Barrier(30)


@tool(effect="read")
def greet(name: str = "you") -> str:
    """Greet somebody."""
    return f"Hello {name}!"


@tool(effect="write")
async def linger(seconds: float = 60.0) -> str:
    """Take a while."""
    (FOLDER / "begun").touch()
    await asyncio.sleep(seconds)
    return "done"


@tool(effect="read")
async def meet() -> str:
    """Wait for twenty-nine others."""
    await MET.wait()
    return "met"


@tool(effect="read")
async def stubborn() -> str:
    """Go on until it is let go, whatever anybody says."""
    (FOLDER / "begun").touch()
    while not (FOLDER / "let go").exists():
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            continue
    return "done"
'''
BOARD = "sources: [{{kind: functions, name: my, config: {{modules: [{module}]}}}}]\n"


def live_settings(folder: Path, **changes: Any) -> Settings:
    """Settings of a board in this folder; its module has a name of its own."""
    module = f"live_tools_{abs(hash(str(folder))) % 10**9}"
    (folder / f"{module}.py").write_text(MODULE)
    board = folder / "board.yaml"
    board.write_text(BOARD.format(module=module))
    given = {"board": board, "port": 0, "reload": "off", **changes}
    return Settings.model_validate(given)


@asynccontextmanager
async def a_server(board: Pegboard) -> AsyncGenerator[str]:
    """The address of a server of this board, which runs meanwhile."""
    config = uvicorn.Config(create_app(board), host="127.0.0.1", port=0, log_level="error")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn says it in no other way
        await asyncio.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    await serving


@asynccontextmanager
async def live(settings: Settings, *, grace: int = 1) -> AsyncGenerator[str]:
    """The address of a server that runs meanwhile."""
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(run(settings, ready=listening.set_result, grace=grace))
    await asyncio.wait((serving, listening), return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()
    try:
        yield await listening
    finally:
        serving.cancel()
        await asyncio.wait((serving,))


@asynccontextmanager
async def live_client(settings: Settings, *, grace: int = 1) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of such a server, over a socket."""
    async with live(settings, grace=grace) as url, patient(base_url=url) as client:
        yield client


def patient(**options: Any) -> httpx2.AsyncClient:
    """A client that does not give up before a machine that stands still for a while goes on."""
    return httpx2.AsyncClient(timeout=60, **options)


async def until(happened: Callable[[], Awaitable[bool]]) -> None:
    """Return once it happened; fail when it takes too long."""
    for _ in range(1_000):
        if await happened():
            return
        await asyncio.sleep(0.03)
    raise AssertionError("it did not happen")


async def begun(folder: Path) -> None:
    """Return once `linger` or `stubborn` of the module in this folder runs."""

    async def has_begun() -> bool:
        return (folder / "begun").exists()

    await until(has_begun)


async def outcome_of(call: "asyncio.Task[httpx2.Response]") -> object:
    """The status of an answer, or what kept it from coming."""
    try:
        return (await call).status_code
    except httpx2.HTTPError as error:
        return type(error)
