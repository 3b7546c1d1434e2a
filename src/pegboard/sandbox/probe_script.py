"""The attacks that a probe runs inside a back end; each must fail.

Run as a script by a Python without site packages; imports nothing of Pegboard. Prints the names of
the attacks that succeeded, as JSON.
"""

import ctypes
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_ATTACH, _GET_NO_NEW_PRIVS = 16, 39


def breaches(target: dict[str, Any]) -> list[str]:
    """The names of the attacks that succeeded."""
    secret, process = Path(target["secret"]), int(target["process"])
    attacks: dict[str, Callable[[], bool]] = {
        "it reads files outside": lambda: bool(secret.read_bytes()),
        "it reads files outside through a symbolic link": lambda: _through_symlink(secret),
        "it reads files outside through a hard link": lambda: _through_hard_link(secret),
        "it writes files outside": lambda: secret.open("ab").write(b"!") > 0,
        "it cuts files outside short": lambda: _succeeds(os.truncate, secret, 0),
        "it changes modes of files outside": lambda: _succeeds(secret.chmod, 0o777),
        "it changes times of files outside": lambda: _succeeds(os.utime, secret, (0, 0)),
        "it makes files outside": lambda: _succeeds(secret.with_name("made").touch),
        "it removes files outside": lambda: _succeeds(secret.unlink),
        "it reads the home of the server's user": lambda: bool(Path(target["home"]).read_bytes()),
        "it reads the machine's passwords": lambda: bool(Path("/etc/shadow").read_bytes()),
        "it reads our environment": lambda: bool(Path(f"/proc/{process}/environ").read_bytes()),
        "it sees variables it was not given": lambda: bool(os.environ.keys() - target["variables"]),  # noqa: TID251 - this is what is looked at
        "it can signal us": lambda: _succeeds(os.kill, process, 0),
        "it can trace us": lambda: _traces(process),
        "it can become root": lambda: _succeeds(os.setuid, 0),
        "it can gain rights": lambda: ctypes.CDLL(None).prctl(_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1,
        "it has our open files": _has_open_files,
        "it reaches TCP servers": lambda: _connects(socket.AF_INET, ("127.0.0.1", target["tcp"])),
        "it reaches abstract sockets": lambda: _connects(socket.AF_UNIX, "\0" + target["abstract"]),
        "it reaches sockets in the file system": lambda: _connects(socket.AF_UNIX, target["path"]),
    }
    if target["network"]:  # what was asked for
        del attacks["it reaches TCP servers"]
    _gets_through(lambda: _send(("127.0.0.1", target["udp"])))  # the listener reports it
    return [name for name, attack in attacks.items() if _gets_through(attack)]


def unusable(target: dict[str, Any]) -> list[str]:
    """The names of the things that a command must be able to do and cannot."""
    needs: dict[str, Callable[[], bool]] = {
        "it cannot write its private folder": lambda: _writes(Path(os.environ["TMPDIR"])),  # noqa: TID251 - as a command does
        "it cannot write its workspace": lambda: _writes(Path(target["workspace"])),
        "it cannot run programs": lambda: subprocess.check_output(["/bin/echo", "x"]) == b"x\n",
    }
    return [name for name, need in needs.items() if not _gets_through(need)]


def _gets_through(attack: Callable[[], bool]) -> bool:
    try:
        return attack()
    except (OSError, subprocess.SubprocessError):
        return False


def _succeeds(function: Callable[..., object], *arguments: object) -> bool:
    function(*arguments)
    return True


def _through_symlink(secret: Path) -> bool:
    link = Path("symbolic")
    link.unlink(missing_ok=True)
    link.symlink_to(secret)
    return bool(link.read_bytes())


def _through_hard_link(secret: Path) -> bool:
    link = Path("hard")
    link.hardlink_to(secret)
    return bool(link.read_bytes())


def _traces(process: int) -> bool:
    return ctypes.CDLL(None).ptrace(_ATTACH, process, 0, 0) == 0


def _has_open_files() -> bool:
    def is_open(descriptor: int) -> bool:
        return _gets_through(lambda: _succeeds(os.fstat, descriptor))

    return any(is_open(descriptor) for descriptor in range(3, 64))


def _connects(family: int, address: Any) -> bool:
    with socket.socket(family) as client:
        client.settimeout(1)
        client.connect(address)
        return True


def _send(address: Any) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        return client.sendto(b"!", address) == 1


def _writes(folder: Path) -> bool:
    path = folder / "written"
    path.write_bytes(b"x")
    return path.read_bytes() == b"x"


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(breaches(given) + unusable(given)))  # noqa: T201 - its answer
