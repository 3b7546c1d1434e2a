"""The servers whose CPU `executing.py` compares; the port is the first line of their output."""

import asyncio
import socket
import sys

from fastapi import FastAPI
from uvicorn import Config, Server

from pegboard.runtime import Settings
from pegboard.servers.http.models.requests import ExecuteRequest
from pegboard.servers.http.models.responses import ExecuteAnswer, ExecutionMetadata
from pegboard.servers.http.server import run


def serve_ours() -> None:
    """The server of the default board, in memory."""
    settings = Settings(port=0)
    asyncio.run(run(settings, ready=lambda url: print(url.rpartition(":")[2], flush=True)))


def serve_bare() -> None:
    """A FastAPI route with the same models, and nothing behind it."""
    app = FastAPI()

    @app.post("/execute")
    async def execute(wanted: ExecuteRequest) -> ExecuteAnswer:
        return ExecuteAnswer(
            tool_id=wanted.name,
            status="completed",
            output=wanted.input,
            execution_time_ms=0.1,
            metadata=ExecutionMetadata(
                call_id="c_1", attempts=1, cached=False, replayed=False, truncated=False
            ),
        )

    # without an explicit protocol asyncio leaves Nagle's algorithm on: 40 ms an answer
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        print(listening.getsockname()[1], flush=True)
        Server(Config(app, loop="asyncio", http="h11", log_config=None, access_log=False)).run(
            sockets=[listening]
        )


if __name__ == "__main__":
    {"ours": serve_ours, "bare": serve_bare}[sys.argv[1]]()
