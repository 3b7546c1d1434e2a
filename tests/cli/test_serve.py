"""`pegboard serve` as a process: it listens, answers, and ends when told to."""

import signal
import subprocess
import sys
import urllib.request
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.cli.conftest import Command

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def server(folder: Path) -> Generator[subprocess.Popen[str]]:
    """A server on a free port, ended by its id whatever happens."""
    command = [sys.executable, "-m", "pegboard", "serve", "--port", "0", "--data", "data"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


def test_it_tells_its_address_answers_and_ends_with_0(server: subprocess.Popen[str]) -> None:
    assert server.stdout is not None
    line = server.stdout.readline()
    address = line.strip().rpartition(" ")[2]

    with urllib.request.urlopen(f"{address}/readyz", timeout=30) as answer:
        status = answer.status
    server.send_signal(signal.SIGTERM)

    assert line.startswith("Pegboard listens on http://127.0.0.1:")
    assert status == 200
    assert server.wait(timeout=50) == 0


def test_it_refuses_to_listen_beyond_loopback_without_a_token(pegboard: Command) -> None:
    done = pegboard("serve", "--host", "0.0.0.0")

    assert done.returncode == 2
    assert "PEGBOARD_TOKEN" in done.stderr


def test_it_needs_a_board_that_is_there(pegboard: Command) -> None:
    done = pegboard("serve", "--board", "no.yaml")

    assert done.returncode == 2
    assert "pegboard init" in done.stderr
