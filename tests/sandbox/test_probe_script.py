"""The attacks of the probe are real: with no wall around them, they get through."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.sandbox import probe_script

ALWAYS = {
    "it reads files outside",
    "it reads files outside through a symbolic link",
    "it reads files outside through a hard link",
    "it writes files outside",
    "it changes modes of files outside",
    "it changes times of files outside",
    "it makes files outside",
    "it cuts files outside short",
    "it removes files outside",
    "it reads the home of the server's user",
    "it reads our environment",
    "it sees variables it was not given",
    "it can signal us",
    "it can gain rights",
    "it has our open files",
    "it reaches TCP servers",
    "it reaches abstract sockets",
    "it reaches sockets in the file system",
}
BY_RIGHT = {"it reads the machine's passwords", "it can become root", "it can trace us"}


@pytest.mark.parametrize("network", [False, True], ids=["offline", "online"])
def test_every_attack_gets_through_where_there_is_no_wall(tmp_path: Path, network: bool) -> None:
    secret = tmp_path / "outside" / "secret"
    secret.parent.mkdir()
    secret.write_text("secret")
    (tmp_path / "home").write_text("home")
    (tmp_path / "own").mkdir()
    name = f"pegboard-{os.getpid()}-{network}"
    opened, other = os.pipe()
    victim = subprocess.Popen(["/bin/sleep", "60"], env={"X": "y"})
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as named,
    ):
        abstract.bind("\0" + name)
        abstract.listen()
        named.bind(str(tmp_path / "s"))
        named.listen()
        target = {
            "secret": str(secret), "home": str(tmp_path / "home"), "process": victim.pid,
            "variables": [], "tcp": tcp.getsockname()[1], "udp": 9, "abstract": name,
            "path": str(tmp_path / "s"), "network": network, "workspace": str(tmp_path / "own"),
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, probe_script.__file__, json.dumps(target)],
            cwd=tmp_path / "own", env={**os.environ, "TMPDIR": str(tmp_path / "own")},
            pass_fds=[opened], capture_output=True, text=True, check=True,
        )  # fmt: skip
    victim.kill()
    victim.wait()
    os.close(opened)
    os.close(other)

    found = set(json.loads(done.stdout))
    assert ALWAYS - found == ({"it reaches TCP servers"} if network else set())
    assert found <= ALWAYS | BY_RIGHT


def test_what_a_command_needs_is_missed_where_it_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "no"))

    assert probe_script.unusable({"workspace": str(tmp_path / "no")}) == [
        "it cannot write its private folder",
        "it cannot write its workspace",
    ]
