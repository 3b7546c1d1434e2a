from pathlib import Path

import pytest

from pegboard.cli.tool_name_cache import cache_tools, read_tool_names
from pegboard.runtime import Settings


def test_each_board_has_its_own_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    one, two = Settings(board=tmp_path / "one.yaml"), Settings(board=tmp_path / "two.yaml")
    cache_tools(one, ["a"])
    cache_tools(one, ["a", "b"])

    assert read_tool_names(one) == ["a", "b"]
    assert read_tool_names(two) == []


def test_a_cache_that_cannot_be_written_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))

    cache_tools(Settings(), ["a"])
    assert read_tool_names(Settings()) == []
