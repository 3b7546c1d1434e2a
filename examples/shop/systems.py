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
    silent = await asyncio.start_server(_say_nothing, "127.0.0.1", 0)
    port = _free_port()
    orders = await asyncio.create_subprocess_exec(
        sys.executable, HERE / "orders_service.py", str(port)
    )
    try:
        await _answering(port)
        os.environ.update(  # noqa: TID251 - what a shell would have exported before
            ORDERS_URL=f"http://127.0.0.1:{port}",
            ORDERS_TOKEN=TOKEN,
            CRM_URL=f"http://127.0.0.1:{_free_port()}",
            COURIER_URL=f"http://127.0.0.1:{_free_port()}",
            WAREHOUSE_URL=f"http://127.0.0.1:{silent.sockets[0].getsockname()[1]}",
            PYTHON=sys.executable,
        )
        yield
    finally:
        orders.terminate()
        await orders.wait()
        silent.close()


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.read()
    finally:
        writer.close()


async def _answering(port: int) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
