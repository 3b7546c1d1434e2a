"""The servers whose CPU `executing.py` compares.

The first line of their output is the port, and what callers send as `Authorization`.
"""

import asyncio
import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import FastAPI
from uvicorn import Config, Server

from pegboard.core.ports.authenticator import SentCredentials
from pegboard.core.principal import LOCAL
from pegboard.features.identity.accounts import LinkRequest, NewAccount
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http.models.requests import ExecuteRequest
from pegboard.servers.http.models.responses import ExecuteAnswer, ExecutionMetadata
from pegboard.servers.http.server import run

TOKEN = "correct horse battery staple"
"""The token of one server, and the password of the account of another."""


def serve_ours() -> None:
    """The server of the default board, in memory."""
    asyncio.run(_serve(Settings(port=0)))


def serve_with_token() -> None:
    """The same on a file, for callers with the server's token."""
    with TemporaryDirectory() as data:
        asyncio.run(_serve(Settings(port=0, data=Path(data), token=TOKEN), sent=f"Bearer {TOKEN}"))


def serve_with_accounts() -> None:
    """The same for callers with the key of an account."""
    with TemporaryDirectory() as data:
        settings = Settings(port=0, data=Path(data))
        asyncio.run(_serve(settings, sent=f"Bearer {asyncio.run(_make_key(settings))}"))


async def _serve(settings: Settings, *, sent: str = "") -> None:
    await run(settings, ready=lambda url: print(url.rpartition(":")[2], sent, flush=True))


async def _make_key(settings: Settings) -> str:
    async with Pegboard(settings=settings) as board:
        link = await board.identity.accounts.make_link(LinkRequest(), principal=LOCAL)
        account = NewAccount(link=link.token, handle="ada", password=TOKEN, organisation="acme")
        await board.identity.accounts.join(account)
        session = await board.identity.sign_ins.sign_in("ada", TOKEN, address="127.0.0.1")
        caller = await board.identity.callers.identify(SentCredentials(cookies=(session.cookie,)))
        key = await board.identity.keys.make("benchmark", principal=caller.principal)
        return key.key


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
        print(listening.getsockname()[1], "", flush=True)
        Server(Config(app, loop="asyncio", http="h11", log_config=None, access_log=False)).run(
            sockets=[listening]
        )


if __name__ == "__main__":
    {
        "ours": serve_ours,
        "bare": serve_bare,
        "token": serve_with_token,
        "key": serve_with_accounts,
    }[sys.argv[1]]()
