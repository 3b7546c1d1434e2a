"""The server as a process of its own."""

import contextlib
import os
import re
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

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

SERVE = "from pegboard.runtime import Settings; from pegboard.servers.http import serve; "
SHOP = tree.ROOT / "examples" / "shop" / "board.yaml"
NEVER_ENDING = '''
import asyncio
from pegboard import tool


@tool(effect="read")
async def never_end() -> str:
    """Ignore every cancellation."""
    while True:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            pass
'''
CPU_SECONDS = 1.8
"""What a start may cost, measured on a quiet machine; a busy one shows up to half more."""


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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_prints_where_it_listens_and_ends_without_an_error(
    number: signal.Signals,
) -> None:
    with server("serve(Settings(port=0))") as process:
        answer = httpx2.get(f"{address(process.stdout)}/healthz")
        process.send_signal(number)
        out, err = process.communicate(timeout=20)

    assert answer.json() == {"status": "ok"}
    assert (process.returncode, out, err) == (0, "", "")


def test_a_tool_that_can_not_be_ended_does_not_keep_the_process(tmp_path: Path) -> None:
    (tmp_path / "never_ending.py").write_text(NEVER_ENDING)
    board = tmp_path / "board.yaml"
    board.write_text("sources: [{kind: functions, name: my, config: {modules: [never_ending]}}]")
    with server(f"serve(Settings(board={str(board)!r}, port=0))") as process:
        url = address(process.stdout)
        with pytest.raises(httpx2.ReadTimeout):
            httpx2.post(f"{url}/execute", json={"name": "my__never_end"}, timeout=0.5)
        process.terminate()
        time.sleep(0.5)  # two signals at once would be one
        process.terminate()
        _, err = process.communicate(timeout=30)

    assert process.returncode == 0
    assert "cannot be ended" in err


def test_log_lines_have_stdout_for_themselves() -> None:
    with server("serve(Settings(port=0, log='stdout'))") as process:
        url = address(process.stderr)
        httpx2.post(f"{url}/execute", json={"name": "nothing"})
        process.terminate()
        out, _ = process.communicate(timeout=20)

    assert all(line.startswith('{"time"') for line in out.splitlines())
    assert '"event": "call"' in out


def test_a_request_that_is_no_http_gets_an_answer_and_harms_nobody() -> None:
    with server("serve(Settings(port=0))") as process:
        url = address(process.stdout)
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 5) as raw:
            raw.sendall(b"\x16\x03\x01 no http\r\n\r\n")
            told = raw.recv(100)
        alive = httpx2.get(f"{url}/healthz").status_code

    assert told.startswith(b"HTTP/1.1 400")
    assert alive == 200


def test_an_upload_without_an_end_is_cut_off() -> None:
    with server("serve(Settings(port=0, max_request_bytes=100_000))") as process:
        url = address(process.stdout)
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 5) as raw:
            raw.sendall(
                b"POST /execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n"
            )
            told = b""
            with contextlib.suppress(ConnectionError):
                for _ in range(1000):
                    raw.sendall(b"1000\r\n" + b" " * 0x1000 + b"\r\n")
            with contextlib.suppress(ConnectionError):
                told = raw.recv(1000)
        alive = httpx2.get(f"{url}/healthz").status_code

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
    assert cpu < CPU_SECONDS * 1.5
