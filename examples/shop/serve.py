"""The shop's board on a server with the console, and a chat in it that waits for an approval.

Run it with `make demo SERVE=1`, or with `python examples/shop/serve.py [port]`.
"""

import asyncio
import errno
import os
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import uvicorn
from ask import QUESTIONS
from output import headline
from shop_model import create_shop_model

from pegboard.core.principal import LOCAL
from pegboard.features.conversations import NewMessage
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http import create_app

HERE = Path(__file__).parent


async def serve_shop(port: int = 8321) -> None:
    """Serve the shop's board until the process is ended; the last wish waits for an approval.

    Args:
        port: Where to listen; if it is in use, any free port is taken.
    """
    listening = listen(port)
    port = listening.getsockname()[1]
    print("Starting the shop's board, and asking it three questions ...", flush=True)
    is_real = any(name in os.environ for name in ("PEGBOARD_MODEL", "OPENAI_BASE_URL"))  # noqa: TID251 - as the board reads them
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            board=HERE / "board.yaml", data=Path(folder) / "data", port=port, list_timeout=60
        )
        model = None if is_real else create_shop_model()
        async with Pegboard(settings=settings, model=model) as board:
            await board.wait_for_sources()
            await ask_wishes(board)
            config = uvicorn.Config(create_app(board), log_level="warning")
            headline("The console")
            print(f"  Open http://127.0.0.1:{port}/ui/ and approve the refund. Ctrl C ends it.")
            if not is_real:
                print("  The model is scripted: it answers three questions, and names them.")
            await uvicorn.Server(config).serve(sockets=[listening])


def listen(port: int) -> socket.socket:
    """Bind a port of this machine, or any free one if it is in use."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        listening.bind(("127.0.0.1", 0))
    return listening


async def ask_wishes(board: Pegboard) -> str:
    """Ask until a person is needed; the id of the conversation."""
    conversation = ""
    for wish, engine in QUESTIONS:
        message = NewMessage(text=wish, conversation=conversation, engine=engine)
        sent = await board.conversations.send(message, principal=LOCAL)
        conversation = sent.conversation
        async for event in board.conversations.follow(conversation, until=sent.id, principal=LOCAL):
            if event.event == "approval_required":
                break
    return conversation


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_shop(*map(int, sys.argv[1:])))
