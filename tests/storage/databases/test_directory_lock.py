"""One process at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.peers.disk import no_room

from pegboard.errors import ConfigError
from pegboard.storage import open_storage
from pegboard.storage.databases.directory_lock import DirectoryLock, read_note, write_note

HOLDER = """
import sys
from pegboard.storage import open_storage
storage = open_storage(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_a_directory_that_another_process_holds_is_refused_with_its_pid(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(ConfigError) as caught:
            open_storage(tmp_path)
        holder.kill()

    message = str(caught.value)
    assert str(tmp_path) in message
    assert f"process {holder.pid}" in message
    assert "Stop it, or use another directory with --data" in message


async def test_a_directory_is_free_again_after_close(tmp_path: Path) -> None:
    async with open_storage(tmp_path):
        with pytest.raises(ConfigError, match=f"this process .{os.getpid()}."):
            open_storage(tmp_path)

    async with open_storage(tmp_path) as again:
        await again.flush()


def test_a_directory_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()

    with pytest.raises(ConfigError, match=r"cannot be used: Is a directory. Make it writable"):
        open_storage(tmp_path)


def test_a_note_lasts_as_long_as_the_lock(tmp_path: Path) -> None:
    nothing = read_note(tmp_path)
    one = DirectoryLock(tmp_path)
    silent = read_note(tmp_path)
    write_note(tmp_path, "a note")
    noted = read_note(tmp_path)
    with pytest.raises(ConfigError, match=rf"in use by this process \({os.getpid()}\)\."):
        DirectoryLock(tmp_path)
    one.release()
    released = (tmp_path / "lock").read_bytes()
    other = DirectoryLock(tmp_path)
    anew = read_note(tmp_path)
    other.release()

    mine = os.getpid()
    assert (nothing, silent, noted, anew) == ((0, ""), (mine, ""), (mine, "a note"), (mine, ""))
    assert released == b""


def test_a_note_is_for_this_user_alone(tmp_path: Path) -> None:
    lock = DirectoryLock(tmp_path)
    (tmp_path / "lock").chmod(0o644)
    write_note(tmp_path, "a note")
    narrowed = (tmp_path / "lock").stat().st_mode & 0o777
    (tmp_path / "lock").chmod(0o640)
    read = read_note(tmp_path)
    lock.release()

    assert narrowed == 0o600
    assert read == (os.getpid(), "")


def test_a_note_that_is_only_half_written_is_none(tmp_path: Path) -> None:
    lock = DirectoryLock(tmp_path)
    with (tmp_path / "lock").open("a") as file:
        file.write('{"url": "http')
        file.flush()
        read = read_note(tmp_path)
    lock.release()

    assert read == (os.getpid(), "")


def test_a_note_that_cannot_be_written_is_not_known(tmp_path: Path) -> None:
    write_note(tmp_path / "gone", "a note")

    assert read_note(tmp_path / "gone") == (0, "")


def test_a_directory_without_room_is_refused_and_free_afterwards(tmp_path: Path) -> None:
    with no_room(), pytest.raises(ConfigError, match=r"cannot be written: .* Free some space"):
        DirectoryLock(tmp_path)

    DirectoryLock(tmp_path).release()
