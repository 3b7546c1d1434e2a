"""A command in a fork does what it does as a process of its own."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from tests.docs.warm_commands import warm_commands

BESIDE = str(Path(sys.executable).parent)
BOARD = "sources: [{kind: functions, name: my, config: {files: [tools.py]}}]"
TOOLS = '''
import os
import time

from pegboard import tool


@tool(effect="read")
def tell(name: str) -> dict[str, object]:
    """Tell what the process has."""
    return {"name": name, "set": os.environ.get("SET"), "folder": os.getcwd()}


@tool(effect="write")
def wait() -> None:
    """Say which process waits for a minute."""
    with open("starting", "w") as file:
        file.write(str(os.getpid()))
    os.rename("starting", "waits")
    time.sleep(60)
'''

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with warm_commands(tmp_path_factory.mktemp("warm")) as folder:
        yield folder


@pytest.fixture
def board(tmp_path: Path) -> Path:
    (tmp_path / "board.yaml").write_text(BOARD)
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def run(script: str, folder: Path, *first: Path) -> subprocess.CompletedProcess[str]:
    path = ":".join([*map(str, first), BESIDE, "/usr/bin", "/bin"])
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={"PATH": path, "SET": "here", "PEGBOARD_DATA": "memory", "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("pegboard call my__tell --arg name=é", id="an answer"),
        pytest.param("""echo '{"name": "x"}' | pegboard call my__tell -""", id="stdin"),
        pytest.param("pegboard call none", id="a fault"),
        pytest.param("pegboard tools | tail -n 1", id="a pipe"),
        pytest.param("pegboard --wrong", id="wrong use"),
    ],
)
def test_a_command_in_a_fork_says_the_same_and_ends_the_same(
    script: str, warm: Path, board: Path
) -> None:
    in_a_fork, alone = run(script, board, warm), run(script, board)

    assert in_a_fork.stdout == alone.stdout
    assert in_a_fork.stderr == alone.stderr
    assert in_a_fork.returncode == alone.returncode


def test_a_command_ends_with_the_process_that_was_started(warm: Path, board: Path) -> None:
    with subprocess.Popen(
        [warm / "pegboard", "call", "my__wait"],
        cwd=board,
        env={"PATH": f"{warm}:/usr/bin:/bin", "PEGBOARD_DATA": "memory"},
    ) as started:
        _wait_until((board / "waits").exists)
        started.terminate()

    command = int((board / "waits").read_text())
    _wait_until(lambda: not psutil.pid_exists(command))


def _wait_until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)
