"""Copies of files that a killed process was working on are deleted, those of others are not."""

import asyncio
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pegboard import Pegboard
from pegboard.errors import ConfigError
from pegboard.runtime import Settings
from pegboard.runtime.working_folder import open_working_folder

CHILD = """
import pathlib, sys
from pegboard.runtime import Settings
from pegboard.runtime.working_folder import open_working_folder

with open_working_folder(pathlib.Path(sys.argv[1])) as folder:
    (folder / "copy").write_text("secret")
    print(folder, flush=True)
    sys.stdin.read()
"""


@contextmanager
def running(data: Path) -> Generator[tuple[Path, "subprocess.Popen[str]"]]:
    """Another process with a copy in its working folder."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(data)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        folder = Path(child.stdout.readline().strip())
        yield folder, child


def test_what_a_killed_process_left_is_deleted_by_the_next_one(tmp_path: Path) -> None:
    with running(tmp_path) as (folder, child):
        child.kill()
        assert child.wait() == -signal.SIGKILL
        assert (folder / "copy").read_text() == "secret"

        with open_working_folder(tmp_path):
            assert not folder.exists()


def test_what_a_running_process_works_on_stays_and_goes_at_its_end(tmp_path: Path) -> None:
    with running(tmp_path) as (folder, child):
        with open_working_folder(tmp_path) as own, open_working_folder(tmp_path) as another:
            assert len({own, another, folder}) == 3
            assert (folder / "copy").read_text() == "secret"
            assert own.stat().st_mode & 0o777 == own.parent.stat().st_mode & 0o777 == 0o700
            assert own.exists()
        child.communicate()

    assert [*(tmp_path / "working").iterdir()] == []


def test_boards_without_a_data_directory_share_a_folder_of_their_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with open_working_folder(None) as own, open_working_folder(None) as another:
        assert own.parent == another.parent
        assert own.parent.parent == tmp_path
        parent = own.parent

    parent.chmod(0o755)
    with pytest.raises(ConfigError, match="another user can read or change it"):
        open_working_folder(None).__enter__()
    parent.rmdir()
    parent.symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="another user can read or change it"):
        open_working_folder(None).__enter__()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "working").touch()

    with pytest.raises(ConfigError, match="cannot be used for copies of documents"):
        open_working_folder(tmp_path).__enter__()


def test_a_relative_data_directory_gives_a_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with open_working_folder(Path("data")) as folder:
        assert folder.is_relative_to(tmp_path / "data")


def test_a_board_that_stores_nothing_needs_no_such_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    async def open_board() -> None:
        async with Pegboard(settings=Settings(data=None)):
            pass

    asyncio.run(open_board())

    assert not list(tmp_path.glob("pegboard-working-*"))
