"""A server that answers with whatever lines it is told to, right or wrong; run it for stdio.

Its first argument is a JSON object: for each method the lines to write, `$ID` standing for the
request's id and `$PID` for the number of its process. A line may be
`{"repeat": 3, "line": "..."}`, `{"wide": 1000, "before": "...", "after": "..."}` for one with so
many letters in the middle, `{"exit": 3}`, or `{"deaf": "/path"}`, after which nothing more is read
unless there is such a file; then there is.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # run for stdio, it starts without the tests
    from tests.network.loopback import Received, Server

GREETING: dict[str, Any] = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    "serverInfo": {"name": "rogue", "version": "1"},
}
PLAIN: dict[str, Any] = {"name": "plain", "inputSchema": {"type": "object"}}


def result(value: Any) -> str:
    """A line with this result."""
    return f'{{"jsonrpc": "2.0", "id": $ID, "result": {json.dumps(value)}}}'


def said(value: str) -> str:
    """A line with the result of a tool that says this."""
    return result({"content": [{"type": "text", "text": value}]})


def half() -> str:
    """A line with the progress of a call: half of it is done."""
    params = '{"progressToken": $ID, "progress": 1, "total": 2}'
    return f'{{"jsonrpc": "2.0", "method": "notifications/progress", "params": {params}}}'


def replies(**methods: Any) -> dict[str, Any]:
    """What a server answers that greets and lists one tool, unless told otherwise."""
    given = {name.replace("_", "/"): value for name, value in methods.items()}
    return {
        "initialize": [result(GREETING)],
        "tools/list": [result({"tools": [PLAIN]})],
        "tools/call": [said("well")],
        "resources/list": [result({"resources": []})],
        "resources/templates/list": [result({"resourceTemplates": []})],
        "prompts/list": [result({"prompts": []})],
        "ping": [result({})],
        **given,
    }


def rogue(**methods: Any) -> dict[str, Any]:
    """The configuration of a source on such a server."""
    arguments = [__file__, json.dumps(replies(**methods))]
    return {"command": sys.executable, "args": arguments, "protocol": "legacy"}


def lines(answers: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[str]:
    """What is written for one message."""
    number = json.dumps(message.get("id"))
    for item in answers.get(str(message.get("method")), []):
        if isinstance(item, str):
            yield item.replace("$ID", number).replace("$PID", str(os.getpid()))
        elif "repeat" in item:
            for count in range(item["repeat"]):
                yield item["line"].replace("$ID", number).replace("$COUNT", str(count))
        elif "wide" in item:
            middle = "x" * item["wide"]
            yield (item["before"] + middle + item["after"]).replace("$ID", number)
        elif "deaf" in item:
            sys.stdout.flush()
            while not os.path.exists(item["deaf"]):  # noqa: PTH110 - as few imports as may be
                open(item["deaf"], "x").close()  # noqa: PTH123 - as above
                time.sleep(1000)
        else:
            sys.stdout.flush()
            os._exit(item["exit"])


@asynccontextmanager
async def rogue_http(
    answers: Mapping[str, Any], *, stream: bool = False
) -> AsyncGenerator[tuple[dict[str, Any], Server]]:
    """The same over streamable HTTP, as JSON or as a stream; gives a source's configuration.

    What it has no lines for hangs.
    """
    from tests.network.loopback import reply, serving

    kind = "text/event-stream" if stream else "application/json"

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        message = json.loads(received.body or b"{}")
        if received.method != "POST" or "id" not in message:
            writer.write(reply(status=405 if received.method == "GET" else 202))
            return
        if message["method"] not in answers:
            await asyncio.sleep(60)
        out = list(lines(answers, message))
        text = "".join(f"data: {line}\n\n" for line in out) if stream else "\n".join(out)
        writer.write(reply(text.encode(), headers={"content-type": kind}))

    async with serving(answer) as server:
        yield {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}, server


@asynccontextmanager
async def rogue_sse(answers: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
    """The same over the older transport, where all answers come on one stream."""
    from tests.network.loopback import reply, serving

    streams: list[asyncio.StreamWriter] = []

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        if received.method == "GET":
            streams.append(writer)
            head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
            writer.write(f"{head}event: endpoint\ndata: /post\n\n".encode())
            return
        writer.write(reply(status=202))
        for line in lines(answers, json.loads(received.body)):
            streams[-1].write(f"event: message\ndata: {line}\n\n".encode())

    async with serving(answer) as server:
        yield {"url": f"http://{server.authority}/sse", "protocol": "legacy"}


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    for raw in sys.stdin:
        for line in lines(told, json.loads(raw)):
            sys.stdout.write(line + "\n")
        sys.stdout.flush()
