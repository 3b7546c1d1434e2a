"""Files of others are written whole or not at all."""

import os
from pathlib import Path

import pytest

from pegboard.cli import file_writing
from pegboard.cli.file_writing import write_whole
from pegboard.errors import ConfigError


def test_a_link_goes_on_pointing_to_what_was_written(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("before")
    link.symlink_to(real)

    kept = write_whole(link, "after", backup=True)

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

    monkeypatch.setattr(file_writing.os, "fdopen", full)
    with pytest.raises(ConfigError, match="No space left"):
        write_whole(path, "after")

    assert path.read_text() == "before"
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_what_is_no_file_is_not_written_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ConfigError, match="is not a file, and is not written over"):
            write_whole(path, "after")

    assert (tmp_path / "pipe").is_fifo()
