"""The proxies whose CPU `mcp_proxy.py` compares; the port is the first line of their output."""

import asyncio
import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ERAS = {"2026": "auto", "handshake": "legacy"}
"""The mode of the SDK's client by era of the protocol."""


def serve_ours(url: str, era: str) -> None:
    """A board whose only source is the server, in memory."""
    from pegboard.runtime import Settings
    from pegboard.servers.http.server import run

    with TemporaryDirectory() as folder:
        board = Path(folder) / "board.yaml"
        board.write_text(
            "network: {allow_hosts: ['127.0.0.1']}\n"
            f"sources: [{{kind: mcp, name: up, config: {{url: '{url}', protocol: {ERAS[era]}}}}}]\n"
        )
        settings = Settings(board=board, port=0)
        asyncio.run(run(settings, ready=lambda url: print(url.rpartition(":")[2], flush=True)))


def serve_fastmcp(url: str, era: str) -> None:
    """FastMCP's proxy on one connected client, which all callers share."""
    asyncio.run(_serve_fastmcp(url, era))


async def _serve_fastmcp(url: str, era: str) -> None:
    from fastmcp import Client
    from fastmcp.server import create_proxy
    from uvicorn import Config, Server

    async with Client(url, mode=ERAS[era]) as client:
        app = create_proxy(client).http_app()
        with socket.socket(proto=socket.IPPROTO_TCP) as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen(128)
            print(listening.getsockname()[1], flush=True)
            await Server(Config(app, log_config=None, access_log=False)).serve(sockets=[listening])


if __name__ == "__main__":
    {"ours": serve_ours, "fastmcp": serve_fastmcp}[sys.argv[1]](*sys.argv[2:])
