"""The folders of skills and their files."""

from pathlib import Path

import pytest
from tests.sources.skills.made import write_skill

from pegboard.errors import SourceUnavailable, ToolFailed
from pegboard.sources.skills.client import find_folders, list_files, read_file, read_text


def test_a_folder_that_is_named_twice_is_one(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "s" / "a")

    assert find_folders((Path("s"), Path("s/a")), tmp_path) == [folder]


def test_files_are_listed_by_their_paths_and_read(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "a")
    (folder / "scripts").mkdir()
    (folder / "scripts" / "run.py").write_text("print()")

    assert list_files(folder) == ["scripts/run.py"]
    assert read_file(folder, "scripts/run.py") == "print()"


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = write_skill(tmp_path / "a")
    (folder / "logo.png").write_bytes(b"\x89PNG\xff")

    with pytest.raises(ToolFailed, match="not a text in UTF-8"):
        read_file(folder, "logo.png")


def test_a_text_that_is_too_large_is_refused(tmp_path: Path) -> None:
    (tmp_path / "big").write_text("x" * 1_000_001)

    with pytest.raises(SourceUnavailable, match="larger than 1,000,000 bytes"):
        read_text(tmp_path / "big", "big")
