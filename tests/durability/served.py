"""Servers as processes of their own, which share a database, and tools that tell what they did."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import httpx2

STEPS = '''
"""Tools that write down what they do, in the folder of the board."""

import time
from pathlib import Path

from pegboard import ToolContext, tool
from pegboard.core.elicitation import Question

HERE = Path(__file__).parent


def _tell(line: str) -> None:
    with (HERE / "journal.txt").open("a") as file:
        file.write(line + "\\n")


def _held(step: str) -> str:
    _tell(f"{step} begins")
    while not (HERE / "go").exists():
        time.sleep(0.02)
    _tell(step)
    return step


@tool(effect="write")
def write(step: str) -> str:
    """Write it down."""
    _tell(step)
    return step


@tool(effect="write")
def write_slowly(step: str) -> str:
    """Write it down, in a while."""
    time.sleep(0.1)
    _tell(step)
    return step


@tool(effect="write")
def guarded(step: str) -> str:
    """Write it down once a person agrees."""
    _tell(step)
    return step


@tool(effect="write")
async def ask(step: str, ctx: ToolContext) -> str:
    """Ask a person, and write down the answer."""
    size = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}
    answer = await ctx.ask(Question(message="Which size?", schema=size))
    _tell(f"{step} {answer.action} {dict(answer.content)}")
    return answer.action


@tool(effect="read")
def read_held(step: str) -> str:
    """Take until the file `go` is there; may be done twice."""
    return _held(step)


@tool(effect="write")
def write_held(step: str) -> str:
    """Take until the file `go` is there; must not be done twice."""
    return _held(step)
'''
BOARD = """
sources: [{kind: functions, name: my, config: {files: [steps.py]}}]
policy: {ask: [my__guarded]}
"""
PATIENCE = 40.0


class Standstill(threading.Thread):
    """Watches how long the machine as a whole has stood still, which is nobody's fault here.

    Attributes:
        seconds: How long so far.
    """

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seconds = 0.0
        self.start()

    def run(self) -> None:
        before = time.monotonic()
        while True:
            time.sleep(0.02)
            now = time.monotonic()
            if now - before > 0.2:
                self.seconds += now - before
            before = now

    def clock(self) -> float:
        """Seconds that only grow while the machine goes on."""
        return time.monotonic() - self.seconds


STANDSTILL = Standstill()


def a_board(folder: Path) -> Path:
    """A folder with a board of these tools."""
    (folder / "steps.py").write_text(STEPS)
    (folder / "board.yaml").write_text(BOARD)
    return folder


def journal(folder: Path) -> list[str]:
    """What the tools did, in order."""
    path = folder / "journal.txt"
    return path.read_text().splitlines() if path.exists() else []


def step(id: str, tool: str, *after: str) -> dict[str, Any]:
    """A node that calls one of these tools with its own name."""
    edges = [{"node": name} for name in after]
    return {"id": id, "tool": f"my__{tool}", "input": {"step": id}, "edges": edges}


def until(look: Callable[..., Any], *arguments: Any, within: float = PATIENCE) -> Any:
    """What it gives as soon as that is something."""
    end = time.monotonic() + within
    while not (found := look(*arguments)):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


class Server:
    """One `pegboard serve`; `kill` is what no process survives."""

    def __init__(self, folder: Path, *, environment: dict[str, str]) -> None:
        code = "import sys; from pegboard.cli import main; sys.argv[0] = 'pegboard'; main()"
        with (folder / "errors.txt").open("a") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code, "serve", "--port", "0"],
                cwd=folder,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def __enter__(self) -> Self:
        assert self.process.stdout is not None
        address = self.process.stdout.readline().strip().rpartition(" ")[2]
        self.client = httpx2.Client(base_url=address, timeout=30)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def start(self, *nodes: dict[str, Any]) -> str:
        """Start a run of a graph; its id."""
        answer = self.client.post("/runs", json={"graph": {"nodes": list(nodes)}})
        assert answer.status_code == 202, answer.text
        return answer.json()["run_id"]

    def run(self, run_id: str) -> dict[str, Any]:
        """How a run is."""
        return self.get(f"/runs/{run_id}")

    def in_state(self, run_id: str, state: str) -> dict[str, Any] | None:
        """The run, once it is in this state."""
        run = self.run(run_id)
        return run if run["state"] == state else None

    def get(self, path: str) -> dict[str, Any]:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any) -> dict[str, Any]:
        answer = self.client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


class Asked(threading.Thread):
    """A request with an idempotency key, made beside the test."""

    def __init__(self, server: Server, path: str, body: dict[str, Any], *, key: str = "k1") -> None:
        super().__init__()
        self._send: Callable[[], httpx2.Response] = lambda: server.client.post(
            path, json=body, headers={"Idempotency-Key": key}
        )
        self.took = 0.0
        self.status = 0
        self.answer: dict[str, Any] = {}
        self.start()

    def run(self) -> None:
        began = STANDSTILL.clock()
        try:
            answer = self._send()
            self.status, self.answer = answer.status_code, answer.json()
        except httpx2.HTTPError:  # its server was killed
            self.status = -1
        self.took = STANDSTILL.clock() - began

    def ended(self) -> "Asked":
        self.join(40)
        return self


def ask_until_free(ask: Callable[[], Asked]) -> Asked:
    """Ask again until the key is no longer in progress on another server; the last answer."""
    while (asked := ask().ended()).answer.get("code") == "idempotency_in_progress":
        time.sleep(0.1)
    return asked


@contextmanager
def two_servers(folder: Path, database: str, *, lease: float) -> Generator[tuple[Server, Server]]:
    """Two servers with a data directory each and one database for both."""
    shared = {"PEGBOARD_DATABASE": database, "PEGBOARD_RUN_LEASE": str(lease)}
    begun = [
        Server(folder, environment={**shared, "PEGBOARD_DATA": str(folder / name)})
        for name in ("a", "b")
    ]
    try:
        with begun[0] as first, begun[1] as second:
            yield first, second
    finally:
        for server in begun:
            server.kill()
