"""The systems of the shop's team, started for the demo: one that works, one that is silent."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from orders_service import TOKEN

HERE = Path(__file__).parent


@asynccontextmanager
async def running() -> AsyncGenerator[None]:
    """The systems are there, and the environment says where."""
    with _bound() as listening, _bound() as silent, _bound() as down, _bound() as also_down:
        listening.listen()  # who asks before the service is there waits for it
        silent.listen()
        orders = await asyncio.create_subprocess_exec(
            *(sys.executable, HERE / "orders_service.py", str(listening.fileno())),
            pass_fds=[listening.fileno()],
        )
        os.environ.update(  # noqa: TID251 - what a shell would have exported before
            ORDERS_URL=_url(listening),
            ORDERS_TOKEN=TOKEN,
            CRM_URL=_url(down),
            COURIER_URL=_url(also_down),
            WAREHOUSE_URL=_url(silent),
            PYTHON=sys.executable,
        )
        try:
            yield
        finally:
            orders.terminate()
            await orders.wait()


def _bound() -> socket.socket:
    """A port that is nobody else's; until it listens it refuses all connections."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    return bound


def _url(bound: socket.socket) -> str:
    return f"http://127.0.0.1:{bound.getsockname()[1]}"
