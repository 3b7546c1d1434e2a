"""What the server takes until it answers: CPU and memory of the whole process."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import URLError
from urllib.request import urlopen

from measure import peak_mb
from table import goal, section

BOARD = Path(__file__).parents[1] / "examples" / "shop" / "board.yaml"
ROUNDS = 3
LONGEST = 30.0


def cost_of_serving() -> str:
    """Start `pegboard serve` with the shop's board and a data directory, wait, stop it."""
    title = "Starting the server"
    if subprocess.run(
        [*_pegboard(), "serve", "--help"], check=False, capture_output=True
    ).returncode:
        return section(title, "Skipped: this Pegboard has no `serve` command.")
    runs = [_start() for _ in range(ROUNDS)]
    return section(
        title,
        "\n".join(
            [
                goal("CPU from start to stop", min(cpu for cpu, _ in runs), 1.8, unit=" s"),
                goal("peak memory", min(memory for _, memory in runs), 140, unit=" MB"),
            ]
        ),
    )


def _start() -> tuple[float, float]:
    port = _free_port()
    with TemporaryDirectory() as folder:
        where = ["--board", str(BOARD), "--data", folder, "--port", str(port)]
        process = subprocess.Popen(
            [*_pegboard(), "serve", *where],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/readyz", process)
            memory = peak_mb(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, memory


def _wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and process.poll() is None:
        try:
            with urlopen(url, timeout=1):
                return
        except (URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError("the server did not answer")


def _pegboard() -> list[str]:
    return [str(Path(sys.executable).with_name("pegboard"))]


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]
