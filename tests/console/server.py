"""A server and a browser of their own, for walks through the console."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.peers.ports import free_port

HERE = Path(__file__).parent
BUILT = HERE.parents[1] / "web" / "dist" / "index.html"
BROWSER = HERE / "node_modules" / ".browser"
_OURS = ("PEGBOARD_", "OPENAI_")


def check_built() -> None:
    """Fail where the console or the browser is missing."""
    _check(BUILT, "web")
    _check(BROWSER / "chromium", "peers")


def _check(path: Path, target: str) -> None:
    if not path.exists():
        raise RuntimeError(f"{path} is missing: run `make {target}`")


class Server:
    """A `pegboard serve` of the shop, which can be killed and started again on its data."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder = folder
        self.settings = settings
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        environ = {k: v for k, v in os.environ.items() if not k.startswith(_OURS)}
        found = os.pathsep.join(filter(None, [str(self._folder), environ.get("PYTHONPATH")]))
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pegboard", "serve", "--port", str(self.port)),
            *("--board", "board.yaml", "--data", "data", "--log", "off"),
            cwd=self._folder,
            env={**environ, "PYTHONPATH": found, **self.settings},
            stdout=asyncio.subprocess.PIPE,
        )
        assert self._process.stdout is not None
        assert (await self._process.stdout.readline()).endswith(f"{self.url}\n".encode())

    async def end(self, *, kill: bool = False) -> None:
        assert self._process is not None
        (self._process.kill if kill else self._process.terminate)()
        await self._process.communicate()


@asynccontextmanager
async def served(folder: Path, **settings: str) -> AsyncGenerator[Server]:
    server = Server(folder, **settings)
    await server.start()
    try:
        yield server
    finally:
        await server.end()
