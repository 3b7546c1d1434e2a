"""The server as a process of its own."""

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO

import httpx2
import pytest
from tests.shape import tree

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

SERVE = "from pegboard.runtime import Settings; from pegboard.servers.http import serve; "
SHOP = tree.ROOT / "examples" / "shop" / "board.yaml"
NEVER_ENDING = '''
import asyncio
from pathlib import Path

from pegboard import tool


@tool(effect="read")
async def never_end() -> str:
    """Ignore every cancellation."""
    Path(__file__).with_name("begun").touch()
    while True:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            pass
'''
POST = b"POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json"
OTHERS = "import fastapi, httpx2, mcp.types, uvicorn"
MOST_OF_OTHERS = 2.0
"""What a start may cost, as a multiple of what it costs to load these libraries alone."""


@contextlib.contextmanager
def server(code: str) -> Generator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def address(stream: IO[str] | None) -> str:
    assert stream is not None
    line = stream.readline()
    found = re.fullmatch(r"Pegboard listens on (http://127\.0\.0\.1:\d+)\n", line)
    assert found, line
    return found.group(1)


def connected(url: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 30)


def is_open(url: str) -> bool:
    with contextlib.suppress(ConnectionRefusedError), connected(url):
        return True
    return False


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 40
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_prints_where_it_listens_and_ends_without_an_error(
    number: signal.Signals,
) -> None:
    with server("serve(Settings(port=0))") as process:
        answer = httpx2.get(f"{address(process.stdout)}/healthz", timeout=30)
        process.send_signal(number)
        out, err = process.communicate(timeout=80)

    assert answer.json() == {"status": "ok"}
    assert (process.returncode, out, err) == (0, "", "")


def test_a_tool_that_can_not_be_ended_does_not_keep_the_process(tmp_path: Path) -> None:
    (tmp_path / "never_ending.py").write_text(NEVER_ENDING)
    board = tmp_path / "board.yaml"
    board.write_text("sources: [{kind: functions, name: my, config: {modules: [never_ending]}}]")
    with server(f"serve(Settings(board={str(board)!r}, port=0))") as process:
        url = address(process.stdout)
        with connected(url) as leaving:
            body = b'{"name": "my__never_end"}'
            leaving.sendall(b"%s\r\nContent-Length: %d\r\n\r\n%s" % (POST, len(body), body))
            until((tmp_path / "begun").exists)
        process.terminate()
        until(lambda: not is_open(url))  # two signals at once would be one
        process.terminate()
        _, err = process.communicate(timeout=80)

    assert process.returncode == 0
    assert "could not be cancelled" in err


def test_log_lines_have_stdout_for_themselves() -> None:
    with server("serve(Settings(port=0, log='stdout'))") as process:
        url = address(process.stderr)
        httpx2.post(f"{url}/execute", json={"name": "nothing"}, timeout=30)
        process.terminate()
        out, _ = process.communicate(timeout=80)

    assert all(line.startswith('{"time"') for line in out.splitlines())
    assert '"event": "call"' in out


def test_a_request_that_is_no_http_gets_an_answer_and_harms_nobody() -> None:
    with server("serve(Settings(port=0))") as process:
        url = address(process.stdout)
        with connected(url) as raw:
            raw.sendall(b"\x16\x03\x01 no http\r\n\r\n")
            told = raw.recv(100)
        alive = httpx2.get(f"{url}/healthz", timeout=30).status_code

    assert told.startswith(b"HTTP/1.1 400")
    assert alive == 200


def test_an_upload_without_an_end_is_cut_off() -> None:
    with server("serve(Settings(port=0, max_request_bytes=100_000))") as process:
        url = address(process.stdout)
        with connected(url) as raw:
            raw.sendall(POST + b"\r\nTransfer-Encoding: chunked\r\n\r\n")
            told = b""
            with contextlib.suppress(ConnectionError):
                for _ in range(1000):
                    raw.sendall(b"1000\r\n" + b" " * 0x1000 + b"\r\n")
            with contextlib.suppress(ConnectionError):
                told = raw.recv(1000)
        alive = httpx2.get(f"{url}/healthz", timeout=30).status_code

    assert told == b"" or told.startswith(b"HTTP/1.1 413")
    assert alive == 200


def test_a_real_board_starts_lightly(record_property: Callable[[str, object], None]) -> None:
    with server(f"serve(Settings(board={str(SHOP)!r}, port=0))") as process:
        address(process.stdout)
        proc = Path("/proc") / str(process.pid)
        fields = (proc / "stat").read_text().rpartition(")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        peak = re.search(r"VmHWM:\s+(\d+) kB", (proc / "status").read_text())

    assert peak is not None
    record_property("cpu_seconds", cpu)
    record_property("peak_kilobytes", int(peak.group(1)))
    assert int(peak.group(1)) < 140_000
    assert cpu < MOST_OF_OTHERS * cpu_of(OTHERS)


def cpu_of(code: str) -> float:
    """Seconds of processor time, which grow with what else the machine has to do."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
