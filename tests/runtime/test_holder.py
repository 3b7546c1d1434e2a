"""What the process that holds a data directory tells others."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime import Settings
from pegboard.runtime.holder import (
    Holder,
    announce_holder,
    describe_process,
    explain_held,
    find_holder,
    settings_digest,
)
from pegboard.storage.databases.directory_lock import DirectoryLock, write_note
from pegboard.testing import FakeClock


def test_a_holder_is_found_until_it_ends(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, board=Path("board.yaml"))
    lock = DirectoryLock(tmp_path)
    before = find_holder(settings)
    announce_holder(settings, url="http://127.0.0.1:1", token="t", clock=FakeClock())
    found = find_holder(settings)
    lock.release()

    board = str(Path("board.yaml").resolve())
    known = Holder(
        url="http://127.0.0.1:1",
        token="t",
        board=board,
        settings=settings_digest(settings),
        since=FakeClock().time(),
    )
    assert (before, found) == ((os.getpid(), None), (os.getpid(), known))
    assert find_holder(settings) == (0, None)


def test_its_token_is_in_no_representation() -> None:
    assert "hunter2" not in repr(Holder(url="http://127.0.0.1:1", token="hunter2"))


@pytest.mark.parametrize("note", ["nonsense", '{"address": 1}', "[1]", "http://127.0.0.1:1"])
def test_a_note_of_another_version_is_none(note: str, tmp_path: Path) -> None:
    lock = DirectoryLock(tmp_path)
    write_note(tmp_path, note)
    found = find_holder(Settings(data=tmp_path))
    lock.release()

    assert found == (os.getpid(), None)


def test_memory_has_no_holder() -> None:
    announce_holder(Settings(), url="http://127.0.0.1:1", token="t")

    assert find_holder(Settings()) == (0, None)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("pegboard run", "until it ends: wait for it"),
        ("pegboard mcp", "close that client, or run 'kill 1'"),
        ("pegboard serve", "Stop it"),
    ],
)
def test_the_error_of_a_held_directory_says_which_command_has_it_and_until_when(
    tmp_path: Path, command: str, says: str
) -> None:
    settings, clock = Settings(data=tmp_path), FakeClock()
    (tmp_path / "lock").write_text("1\n")
    (tmp_path / "lock").chmod(0o600)
    announce_holder(settings, command=command, clock=clock)

    said = explain_held(settings, ConfigError("It is in use.")).message

    since = datetime.fromtimestamp(clock.time(), UTC).astimezone()
    assert f"in use by process 1 ('{command}', since {since:%H:%M:%S})." in said
    assert says in said


def test_another_program_leaves_the_error_as_it_is(tmp_path: Path) -> None:
    error = ConfigError("It is in use.")

    assert explain_held(Settings(data=tmp_path), error) is error
    assert describe_process(0, None) == "another process"
