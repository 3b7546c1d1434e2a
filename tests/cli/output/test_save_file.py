"""Writing what a command downloads."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from pegboard.cli.output.save_file import save_file
from pegboard.errors import InvalidRequest


async def content(*, fails: bool = False) -> AsyncGenerator[bytes]:
    yield b"one"
    if fails:
        raise RuntimeError
    yield b"two"


def _read(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def test_a_file_is_complete_or_not_there(tmp_path: Path) -> None:
    target, half = tmp_path / "a", tmp_path / "b"
    await save_file(content(), target)
    with pytest.raises(RuntimeError):
        await save_file(content(fails=True), half)

    assert _read(tmp_path) == {"a": b"onetwo"}


async def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    target = tmp_path / "a"
    await save_file(content(), target)
    with pytest.raises(InvalidRequest, match="exists already"):
        await save_file(content(), target)
    with pytest.raises(InvalidRequest, match="cannot be written"):
        await save_file(content(), tmp_path / "none" / "a")

    assert _read(tmp_path) == {"a": b"onetwo"}
