"""One call of a tool on an MCP server over HTTP, through us and through others.

As a library, CPU of this process alone: the server is a process of its own, and costs everybody the
same. As a server, CPU of the proxy's process, in each era of the protocol.
"""

import asyncio
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from mcp_proxy_server import ERAS
from measure import cpu_us, process_clock
from table import goal, number, section, table

UPSTREAM = Path(__file__).with_name("mcp_upstream.py")
PROXY = Path(__file__).with_name("mcp_proxy_server.py")
SIZES = (1, 300)
ARGUMENTS = {"a": 2, "b": 3}
MOST_MS = 3.5
ROUNDS = 25
CALLS = 40
Case = Callable[[], Awaitable[Any]]
Way = Callable[[str], Any]


@asynccontextmanager
async def direct(url: str) -> AsyncGenerator[Case]:
    """The SDK's own client, connected once."""
    from mcp import Client

    async with Client(url) as client:
        await client.list_tools()
        yield lambda: client.call_tool("add", ARGUMENTS)


@asynccontextmanager
async def ours(url: str) -> AsyncGenerator[Case]:
    """Our registry: validated, judged, recorded, and one request to the server."""
    from pegboard import MCPClient, ToolRegistry

    async with MCPClient(url, name="up") as client:
        registry = ToolRegistry(client.as_tools())
        yield lambda: registry.call("up__add", ARGUMENTS)


@asynccontextmanager
async def fastmcp_default(url: str) -> AsyncGenerator[Case]:
    """FastMCP's proxy as its documentation makes it: a session for each call."""
    from fastmcp.server import create_proxy

    proxy = create_proxy(url)
    yield lambda: proxy.call_tool("add", ARGUMENTS)


@asynccontextmanager
async def fastmcp_shared(url: str) -> AsyncGenerator[Case]:
    """FastMCP's proxy on one connected client, which all callers share."""
    from fastmcp import Client
    from fastmcp.server import create_proxy

    async with Client(url) as client:
        proxy = create_proxy(client)
        yield lambda: proxy.call_tool("add", ARGUMENTS)


WAYS: dict[str, Way] = {
    "SDK client, direct": direct,
    "**Pegboard**": ours,
    "FastMCP proxy, one shared client": fastmcp_shared,
    "FastMCP proxy, default": fastmcp_default,
}


async def cost_of_proxying() -> str:
    """CPU and requests of one proxied call, with few and with many tools on the server."""
    cpu = {name: dict.fromkeys(SIZES, 0.0) for name in WAYS}
    requests = {name: dict.fromkeys(SIZES, 0.0) for name in WAYS}
    for size in SIZES:
        with _server(size) as base:
            async with AsyncExitStack() as stack:
                cases: dict[str, Case] = {}
                for name, way in WAYS.items():
                    cases[name] = await stack.enter_async_context(way(f"{base}/mcp"))
                    requests[name][size] = await _requests(base, cases[name])
                found = await cpu_us(cases, rounds=5, batch=0.1)
                for name in WAYS:
                    cpu[name][size] = found[name] / 1e3
    rows = [
        [name, *(number(cpu[name][size]) for size in SIZES), number(requests[name][SIZES[-1]])]
        for name in WAYS
    ]
    head = ["", *(f"{size} tools" for size in SIZES), "requests a call"]
    most = max(cpu["**Pegboard**"][size] - cpu["SDK client, direct"][size] for size in SIZES)
    return section(
        "A proxied MCP call over HTTP (ms of CPU)",
        table(head, rows),
        "\n".join(
            [
                goal("more than a direct client", most, MOST_MS, unit=" ms"),
                goal("requests to the server", requests["**Pegboard**"][SIZES[-1]], 1.0),
            ]
        ),
    )


PROXIES = {
    "**Pegboard**": ("ours", "up__add"),
    "FastMCP proxy, one shared client": ("fastmcp", "add"),
}
"""The first argument of `mcp_proxy_server.py`, and the name of the tool there."""


async def cost_of_serving_a_proxy() -> str:
    """CPU of the proxy's process for one call, in each era."""
    best = {name: dict.fromkeys(ERAS, float("inf")) for name in PROXIES}
    with ExitStack() as processes:
        base = processes.enter_context(_server(1))
        async with AsyncExitStack() as stack:
            turns: list[tuple[str, str, int, Case]] = []
            for era in ERAS:
                for name, (kind, tool) in PROXIES.items():
                    proxy = _process(PROXY, kind, f"{base}/mcp", era)
                    pid, url = processes.enter_context(proxy)
                    case = await stack.enter_async_context(_calling(f"{url}/mcp", tool, era))
                    turns.append((name, era, pid, case))
            for _ in range(ROUNDS):
                for name, era, pid, case in turns:
                    best[name][era] = min(best[name][era], await _turn(pid, case))
    rows = [[name, *(number(best[name][era]) for era in ERAS)] for name in PROXIES]
    return section(
        "A server that proxies an MCP server (ms of CPU a call)",
        table(["", *(f"{era} era" for era in ERAS)], rows),
        "\n".join(
            goal(f"{era} era", best["**Pegboard**"][era], MOST_MS, unit=" ms") for era in ERAS
        ),
    )


@asynccontextmanager
async def _calling(url: str, tool: str, era: str) -> AsyncGenerator[Case]:
    from mcp import Client

    async with Client(url, mode=ERAS[era]) as client:
        await client.list_tools()

        async def call() -> None:
            answer = await client.call_tool(tool, ARGUMENTS)
            if "5" not in str(answer.content):
                raise RuntimeError(f"a wrong answer: {answer}")

        yield call


async def _turn(pid: int, case: Case) -> float:
    """Milliseconds of a call, without those that warm up."""
    for _ in range(5):
        await case()
    began = process_clock(pid)
    for _ in range(CALLS):
        await case()
    return (process_clock(pid) - began) / CALLS * 1e3


async def _requests(base: str, case: Case) -> float:
    """How many requests one call makes, on average over a few; each has to be right."""
    for _ in range(2):
        answer = await case()
        if "5" not in str(answer):
            raise RuntimeError(f"a wrong answer: {answer}")
    before = await asyncio.to_thread(_count, base)
    for _ in range(10):
        await case()
    return (await asyncio.to_thread(_count, base) - before) / 10


def _count(base: str) -> int:
    with urlopen(f"{base}/count", timeout=5) as answer:
        return int(answer.read())


@contextmanager
def _server(tools: int) -> Generator[str]:
    with _process(UPSTREAM, str(tools)) as (_, url):
        yield url


@contextmanager
def _process(program: Path, *arguments: str) -> Generator[tuple[int, str]]:
    """The id and the address of a server that says its port."""
    process = subprocess.Popen(
        [sys.executable, str(program), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.pid, f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.wait(30)


if __name__ == "__main__":
    print(asyncio.run(cost_of_proxying()))
    print(asyncio.run(cost_of_serving_a_proxy()))
