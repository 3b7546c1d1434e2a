"""Servers to talk to, and sources that are closed at the end."""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
import uvicorn
from tests.peers.node import node, node_package
from tests.peers.ports import free_port

from pegboard.core.context import ToolContext
from pegboard.core.elicitation import Answer, Question, Sample, SampleRequest
from pegboard.core.ports.services import Services
from pegboard.core.principal import Principal
from pegboard.core.result import Part, TextPart
from pegboard.core.tool import Tool
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.sources.mcp import KIND
from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.source import McpSource

WORKSHOP = Path(__file__).with_name("workshop.py")
STDIO: dict[str, Any] = {"command": sys.executable, "args": [str(WORKSHOP)]}
ANN = Principal(id="ann", tenant="t")
BOB = Principal(id="bob", tenant="t")


@asynccontextmanager
async def opened(
    config: dict[str, Any], *, name: str = "shop", services: Services | None = None, **link: Any
) -> AsyncGenerator[McpSource]:
    """A source on one server, closed at the end with its HTTP client.

    With changes of its link, as to how fast the server may talk.
    """
    http = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1", "localhost")))
    given = services or Services(http=http)
    made = await KIND.open(name, McpConfig.model_validate(config), given)
    source = cast("McpSource", made)
    if link:
        source = McpSource(replace(source._upstream.link, **link))
    try:
        yield source
    finally:
        await source.close()
        await http.close()


async def by_action(source: McpSource) -> dict[str, Tool]:
    """Its tools by the server's own names."""
    return {tool.spec.action: tool for tool in await source.tools()}


def children() -> list[psutil.Process]:
    """Every process below this one that lives, but the servers that tests share."""
    below = psutil.Process().children(recursive=True)
    return [item for item in below if is_alive(item.pid) and not _is_shared(item)]


def _is_shared(process: psutil.Process) -> bool:
    try:
        command = process.cmdline()
    except psutil.NoSuchProcess:
        return False
    return any(Path(part).name in {"mariadbd", "moto.server"} for part in command)


def is_alive(process: int) -> bool:
    """Whether it runs; one that nobody has collected yet has ended."""
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


GUARDED = (
    "import psutil\n"
    "def is_guarded():\n"
    "    ours = psutil.Process().children()\n"
    "    return any('pegboard-watchdog' in child.cmdline() for child in ours)\n"
)
"""For a program that is to crash: whether the watchdog of its server runs, which starts last."""


def words_of(process: psutil.Process) -> str:
    """Its command line; none of one that has ended meanwhile."""
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # or a zombie, which is one of these
        return ""


async def until(condition: Callable[[], bool], *, seconds: float = 40.0) -> None:
    """Wait for it; what does not come is an error."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for is outside this process
            await asyncio.sleep(0.01)


@dataclass
class Person:
    """Somebody who can be asked, and whose model can."""

    name: str = "Ann"
    takes_questions: bool = True
    takes_samples: bool = True
    asked: list[Question] = field(default_factory=list[Question])
    sampled: list[SampleRequest] = field(default_factory=list[SampleRequest])
    content: tuple[Part, ...] = (TextPart("true"),)
    action: Any = "accept"

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return Answer(action=self.action, content={"colour": self.name})

    async def sample(self, request: SampleRequest) -> Sample:
        self.sampled.append(request)
        return Sample(content=self.content, model=f"model of {self.name}", stop_reason="endTurn")


def call_of(principal: Principal = ANN, **fields: Any) -> ToolContext[Any]:
    """The context of one call."""
    return ToolContext(principal=principal, **fields)


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What the client logged; the MCP library has its say at moments that nobody chooses."""
    return [item.getMessage() for item in caplog.records if item.name == "pegboard.mcp"]


def let_pass(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let time pass on the running loop, all at once."""
    loop = asyncio.get_running_loop()
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + seconds)


@dataclass
class Door:
    """What came to a server over HTTP."""

    port: int = 0
    requests: list[tuple[str, dict[str, str]]] = field(
        default_factory=list[tuple[str, dict[str, str]]]
    )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def posts(self) -> int:
        return sum(method == "POST" for method, _ in self.requests)

    def sessions(self) -> set[str]:
        found = (headers.get("mcp-session-id", "") for _, headers in self.requests)
        return {item for item in found if item}


Scope = MutableMapping[str, Any]
Ends = Callable[..., Awaitable[Any]]


@asynccontextmanager
async def over_http(server: Any, **options: Any) -> AsyncGenerator[Door]:
    """An SDK server behind uvicorn on this loop; or what makes one, for its url."""
    door = Door()
    apps: list[Any] = []

    async def counted(scope: Scope, receive: Ends, send: Ends) -> None:
        if scope["type"] == "http":
            headers = {key.decode(): value.decode() for key, value in scope["headers"]}
            door.requests.append((scope["method"], headers))
        await apps[0](scope, receive, send)

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        door.port = listening.getsockname()[1]
        made: Any = server(door.url) if callable(server) else server
        apps.append(made.streamable_http_app(**options))
        config = uvicorn.Config(
            counted,
            log_config=None,  # it would change the loggers of the whole process
            timeout_graceful_shutdown=1,
        )
        running = uvicorn.Server(config)
        running.install_signal_handlers = lambda: None  # type: ignore[attr-defined]  # older uvicorn has it
        task = asyncio.create_task(running.serve(sockets=[listening]))
        await until(lambda: running.started)
        try:
            yield door
        finally:
            running.should_exit = True
            with contextlib.suppress(asyncio.CancelledError):
                await task


def everything() -> dict[str, Any]:
    """The reference server of the protocol's makers, over stdio."""
    program = node_package("@modelcontextprotocol/server-everything") / "dist" / "index.js"
    return {"command": str(node()), "args": [str(program), "stdio"]}


@asynccontextmanager
async def everything_over(mode: str) -> AsyncGenerator[str]:
    """The same as an HTTP server, `streamableHttp` or `sse`; gives its base url."""
    program = node_package("@modelcontextprotocol/server-everything") / "dist" / "index.js"
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *(str(node()), str(program), mode),
        env={**os.environ, "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(20):
            while not _listens(port):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
