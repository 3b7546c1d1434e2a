"""The console in a real browser: a question, its calls, an approval, a form, in both themes.

`make web` builds what is tested, `make peers` installs the browser. With `CONSOLE_SHOTS=DIR` a
picture of each page is written to that folder.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from tests.console.server import BROWSER, HERE, check_built, served
from tests.models.made import a_provider, call, text
from tests.peers.node import node
from tests.peers.ports import free_port
from tests.servers.http.live import patient

TOKEN = "correct horse battery staple"
STEPS = [
    "home",
    "ask",
    "reload while it waits",
    "a killed server",
    "the approval on its own page",
    "approve",
    "text from outside is text",
    "a reload draws the same picture",
    "approve with other arguments",
    "withdraw a message, and stop",
    "files come with a message, and tools write others",
    "a page that a tool wrote, apart from the console",
    "by keyboard",
    "try a tool",
    "runs",
    "a run that another process took over",
    "sources",
    "a dialog of a menu",
    "an unknown page",
    "a page that cannot be fetched while the server is away",
    "sign in, behind a path",
    "the first account, and signing in with it",
]
MOST_BYTES = {"all": 250_000, "script": 190_000}
SHOP = '''
"""A small shop."""

import asyncio
from typing import Annotated, Any

from pydantic import Field

from pegboard import Retry, ToolContext, tool
from pegboard.errors import Unavailable


@tool(effect="read", title="Find an invoice")
def find_invoice(number: Annotated[int, Field(ge=1)]) -> dict[str, object]:
    """Find an invoice."""
    return {"number": number, "customer": "Ada Lovelace", "total": 3.96}


@tool(effect="read")
async def count_stock(ctx: ToolContext[Any]) -> int:
    """Count what is in stock, which takes a while."""
    await ctx.progress(1, total=3, message="first shelf")
    await asyncio.sleep(60)
    return 7


@tool(effect="read", retry=Retry(max_retries=2, backoff=0))
def ask_courier() -> str:
    """Ask the courier, who does not answer."""
    raise Unavailable("The courier does not answer.", retry_after=100.0)


@tool(effect="write")
def refund(invoice: int, amount: float) -> str:
    """Pay money back."""
    return f"{amount} of invoice {invoice} paid back"
'''
BOARD = """
sources:
  - {kind: functions, name: shop, config: {modules: [console_shop]}}
  - {kind: builtin, name: std, config: {include: [calculator, datetime, file_write]}}
  - {kind: openapi, name: courier, config: {document: "http://127.0.0.1:9/openapi.json"}}
network: {allow_hosts: ["127.0.0.1:9"]}
policy: {ask: [shop__refund]}
agents:
  - {name: clerk, instructions: You keep the books.}
models:
  named:
    large: {model: openai:tiny-2, title: Large}
"""
ANSWER = (
    "Invoice 98: **3.96 dollars** was refunded.\n\n",
    "| what | amount |\n|---|---:|\n| refund | 3.96 |\n",
    "\nSee [the terms](https://shop.example/terms) and [this](javascript:alert(1)).\n\n",
    "<script>document.title = 'taken'</script> ![picture](https://shop.example/pixel.png)\n",
)
CHART = """<!doctype html>
<html lang="en"><title>Chart</title><body style="font: 16px sans-serif">
<main aria-label="Chart"><h1>Sums</h1><p></p>
<svg width="220" height="90" role="img" aria-label="1 and 2">
<rect y="45" width="100" height="45" fill="#2a57c5"/>
<rect x="110" width="100" height="90" fill="#2a57c5"/>
</svg></main>
<script>
const reach = (what) => { try { return what(); } catch { return "nothing"; } };
const things = [() => parent.document.title, () => document.cookie, () => localStorage.length];
document.querySelector("p").textContent =
  `Drawn by a script that reaches ${things.map(reach).join(", ")}`;
</script></html>
"""


def both(*names: str) -> list[dict[str, Any]]:
    """The chunks of several calls without arguments."""
    starts = [
        {"index": index, "id": f"call_{index}", "function": {"name": name, "arguments": "{}"}}
        for index, name in enumerate(names)
    ]
    return [{"delta": {"tool_calls": starts}}, {"delta": {}, "finish_reason": "tool_calls"}]


@asynccontextmanager
async def proxied(target: str, port: int, path: str) -> AsyncGenerator[None]:
    """A reverse proxy that serves another server below a path, and removes it."""
    async with patient(base_url=target) as client:

        async def forward(request: Request) -> Response:
            url = str(request.url.path).removeprefix(path) + (
                f"?{request.url.query}" if request.url.query else ""
            )
            headers = [(k, v) for k, v in request.headers.raw if k != b"accept-encoding"]
            sent = client.build_request(
                request.method, url, headers=headers, content=await request.body()
            )
            answer = await client.send(sent, stream=True)
            reply = StreamingResponse(answer.aiter_raw(), answer.status_code)
            reply.raw_headers = list(answer.headers.raw)
            return reply

        methods = ["GET", "HEAD", "POST", "DELETE", "PATCH"]
        app = Starlette(routes=[Route(path + "{rest:path}", forward, methods=methods)])
        config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="critical")
        server = uvicorn.Server(config)
        server.config.lifespan = "off"
        serving = asyncio.create_task(server.serve())
        try:
            yield
        finally:
            server.should_exit = True
            await serving


async def walk(folder: Path) -> dict[str, Any]:
    """What a browser reports of its way through both servers."""
    port = free_port()
    signed = f"http://127.0.0.1:{port}/pegs"
    async with a_provider() as provider:
        provider.answers += [
            call("shop__find_invoice", '{"number": 98}'),
            call("shop__refund", '{"invoice": 98, "amount": 3.96}'),
            text(*ANSWER),
            call("shop__refund", '{"invoice": 99, "amount": 3.96}'),
            text("Less was paid back."),
            both("shop__count_stock", "shop__ask_courier"),
            call("std__file_write", '{"path": "notes/sum.txt", "content": "3"}'),
            call("std__file_write", json.dumps({"path": "notes/chart.html", "content": CHART})),
            text("Summed up."),
        ]
        model = {"OPENAI_BASE_URL": provider.url, "PEGBOARD_MODEL": "tiny-1"}
        guarded = {"PEGBOARD_TOKEN": TOKEN, "PEGBOARD_PUBLIC_URL": signed}
        async with (
            served(folder / "open", **model) as server,
            served(folder / "signed", **guarded) as behind,
            proxied(behind.url, port, "/pegs"),
        ):
            process = await asyncio.create_subprocess_exec(
                str(node()),
                str(HERE / "journey.mjs"),
                env={
                    **os.environ,
                    "TMPDIR": str(BROWSER),
                    "CONSOLE_URL": server.url,
                    "SIGNED_URL": signed,
                    "CONSOLE_TOKEN": TOKEN,
                },
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
            )
            assert process.stdin is not None
            assert process.stdout is not None
            line = b""
            async for line in process.stdout:
                if line == b"restart\n":
                    await server.end(kill=True)
                    await asyncio.sleep(0.5)  # long enough to be noticed
                    await server.start()
                    process.stdin.write(b"\n")
            await process.wait()
    return {**json.loads(line), "models": [asked["model"] for asked in provider.requests]}


@pytest.mark.timeout(480)
async def test_a_person_finds_their_way_through_the_console(tmp_path: Path) -> None:
    check_built()
    for name in ("open", "signed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "console_shop.py").write_text(SHOP)
        (tmp_path / name / "board.yaml").write_text(BOARD)

    report = await walk(tmp_path)

    assert report["faults"] == [], "\n".join(report["faults"])
    assert report["done"] == STEPS
    assert report["models"] == ["tiny-1"] * 6 + ["tiny-2"] * 3
    too_large = {name for name, most in MOST_BYTES.items() if report["bytes"][name] > most}
    assert too_large == set(), report["bytes"]
