"""Processes that hold a data directory without a board."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_HOLD = """
import sys
from pathlib import Path
from pegboard.runtime import Settings
from pegboard.runtime.holder import announce_holder
from pegboard.storage.databases.directory_lock import DirectoryLock

lock = DirectoryLock(Path("data"))
if sys.argv[1]:
    announce_holder(Settings(data=Path("data")), command=sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def holding(folder: Path, *, command: str = "") -> Generator["subprocess.Popen[bytes]"]:
    """A process that holds `data` in this folder until its stdin is closed, or the block is left.

    Args:
        folder: Where `data` is; it is made.
        command: What the process says that it runs; empty to say nothing.
    """
    (folder / "data").mkdir(exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, command],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
