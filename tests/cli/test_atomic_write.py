"""Files of others are written whole or not at all."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pegboard.cli import atomic_write
from pegboard.cli.atomic_write import lock_folder, write_file
from pegboard.errors import ConfigError


def test_a_link_goes_on_pointing_to_what_was_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("before")
    link.symlink_to(real)

    kept = write_file(link, "after", backup=True)

    assert link.is_symlink()
    assert real.read_text() == "after"
    assert kept == tmp_path / "real.bak"


def test_what_cannot_be_written_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text("before")

    def full(_handle: int, _mode: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic_write.os, "fdopen", full)
    with pytest.raises(ConfigError, match="No space left"):
        write_file(path, "after")

    assert path.read_text() == "before"
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_what_is_no_file_is_not_written_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ConfigError, match="is not a regular file and is not overwritten"):
            write_file(path, "after")

    assert (tmp_path / "pipe").is_fifo()


def test_of_many_who_add_a_line_each_none_loses_anothers(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"

    def add(number: int) -> None:
        with lock_folder(path):
            before = path.read_text() if path.exists() else ""
            write_file(path, f"{before}{number}\n", before=before)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(40)))

    assert sorted(map(int, path.read_text().split())) == list(range(40))
    assert [item.name for item in path.parent.iterdir()] == ["file"]


def test_who_waits_too_long_for_another_is_told(tmp_path: Path) -> None:
    def alone_again() -> None:
        with lock_folder(tmp_path / "other", patience=0.05):
            raise AssertionError("two at once")

    with (
        lock_folder(tmp_path / "file"),
        pytest.raises(ConfigError, match="another process is changing"),
    ):
        alone_again()

    with lock_folder(tmp_path / "file", patience=0.0):
        pass


def test_a_folder_that_cannot_be_locked_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(_handle: int, _how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(atomic_write.fcntl, "flock", unsupported)
    with lock_folder(tmp_path / "file"):
        write_file(tmp_path / "file", "after", before="")

    assert (tmp_path / "file").read_text() == "after"


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with (
        pytest.raises(ConfigError, match=r"Not a directory|File exists"),
        lock_folder(tmp_path / "file" / "inner"),
    ):
        raise AssertionError("there is no folder")


@pytest.mark.parametrize("now", ["changed by hand", None])
def test_what_somebody_else_changed_meanwhile_is_left_as_it_is(
    tmp_path: Path, now: str | None
) -> None:
    path = tmp_path / "file"
    if now is not None:
        path.write_text(now)

    with pytest.raises(ConfigError, match="was changed by another process in the meantime"):
        write_file(path, "after", before="before", backup=True)

    assert [item.read_text() for item in tmp_path.iterdir()] == ([] if now is None else [now])
