from pathlib import Path

import pytest

from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.data_directory import (
    default_data_directory,
    make_data_directory,
    state_data_directory,
)


def test_it_is_beside_the_board_file_or_in_the_current_folder() -> None:
    assert default_data_directory(Path("a/board.yaml")) == Path("a/.pegboard")
    assert default_data_directory(None) == Path(".pegboard")


def test_it_is_for_this_user_alone_and_ignored_by_git(tmp_path: Path) -> None:
    path = tmp_path / ".pegboard"

    assert make_data_directory(path) == make_data_directory(path) == ""
    assert path.stat().st_mode & 0o777 == 0o700
    assert (path / ".gitignore").read_text() == "*\n"


def test_why_it_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert make_data_directory(tmp_path / "file" / ".pegboard") == "Not a directory"


def test_each_board_has_a_directory_of_its_own_among_the_users_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    one, other = (
        state_data_directory(Path("a/.pegboard")),
        state_data_directory(Path("b/.pegboard")),
    )
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))

    assert one.parent == other.parent == tmp_path / "pegboard"
    assert one != other
    assert state_data_directory(Path("a")).parent == tmp_path / ".local" / "state" / "pegboard"


def test_memory_is_no_directory() -> None:
    assert Settings.from_environment({"PEGBOARD_DATA": "memory"}).data is None
    assert Settings.from_environment({"PEGBOARD_DATA": "./memory"}).data == Path("memory")


async def test_the_workspaces_in_it_are_for_this_user_alone(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir(mode=0o755)
    async with Pegboard(data=tmp_path):
        pass

    assert (tmp_path / "workspace").stat().st_mode & 0o777 == 0o700
