"""The server that proxied calls go to: `add` among so many tools; started by `mcp_proxy.py`.

It counts the requests that it gets, which `GET /count` tells.
"""

import socket
import sys
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.requests import Request
from starlette.responses import PlainTextResponse

REQUESTS: list[str] = []


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def main(tools: int) -> None:
    """Serve on a free port, which is the first line of the output."""
    server = MCPServer("upstream")
    server.add_tool(add)
    for number in range(tools - 1):
        server.add_tool(add, name=f"add_{number}")

    @server.custom_route("/count", methods=["GET"])
    async def count(_: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(REQUESTS)))

    app = server.streamable_http_app()

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/mcp":
            REQUESTS.append(scope["method"])
        await app(scope, receive, send)

    # without an explicit protocol asyncio leaves Nagle's algorithm on: 40 ms an answer
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(counted, log_level="error")
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(int(sys.argv[1]))
