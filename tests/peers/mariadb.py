"""A MariaDB server that listens on a socket file only: one for each run of tests that needs it."""

import atexit
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

_STARTED: list[tuple["subprocess.Popen[bytes]", Path]] = []
_TRIES = 600


def started_mariadb() -> str:
    """The URL of an empty server, without its database; skips where MariaDB is not installed."""
    if shutil.which("mariadbd") is None or shutil.which("mariadb-install-db") is None:
        pytest.skip("MariaDB is not installed; on Debian: apt-get install mariadb-server")
    folder = Path(tempfile.mkdtemp(prefix="pegboard-maria-"))
    user = folder.owner()
    subprocess.run(
        [
            "mariadb-install-db",
            f"--user={user}",
            f"--datadir={folder / 'data'}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ],
        check=True,
        capture_output=True,
    )
    server = subprocess.Popen(
        [
            "mariadbd",
            f"--user={user}",
            f"--datadir={folder / 'data'}",
            f"--socket={folder / 's'}",
            "--skip-networking",
            "--skip-log-bin",
            "--innodb-flush-log-at-trx-commit=0",
            "--innodb-buffer-pool-size=32M",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    atexit.register(end_mariadb)
    _STARTED.append((server, folder))
    _wait(folder / "s")
    return f"mysql://root@localhost/{{}}?unix_socket={quote(str(folder / 's'))}"


def end_mariadb() -> None:
    """End each server that this process has started."""
    while _STARTED:
        server, folder = _STARTED.pop()
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(path: Path) -> None:
    for _ in range(_TRIES):
        with closing(socket.socket(socket.AF_UNIX)) as line:
            if line.connect_ex(str(path)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("MariaDB did not start")
