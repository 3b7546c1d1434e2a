import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from pegboard.errors import AuditUnavailable, ConfigError, PegboardError
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.reload import BoardReloader

ONE = "sources: [{kind: builtin, name: std}]\n"


class Board:
    """Keeps which boards it was given, and refuses those that name a source `bad`."""

    def __init__(self) -> None:
        self.given: list[list[str]] = []
        self.told = asyncio.Event()

    async def __call__(self, loaded: LoadedBoard, cause: str) -> None:
        names = [source.name for source in loaded.board.sources]
        self.given.append(names)
        self.told.set()
        if "bad" in names:
            raise ConfigError("bad is refused")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "board.yaml"
    path.write_text(ONE)
    return path


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - a board tells nobody that it was refused
        await asyncio.sleep(0.01)


def write(file: Path, text: str) -> None:
    """Let the file say this."""
    file.write_text(text)


async def test_what_is_refused_is_told_until_it_is_mended(file: Path) -> None:
    board = Board()
    reloading = BoardReloader(Settings(board=file), board)
    write(file, ONE.replace("std", "bad"))
    with pytest.raises(ConfigError, match="bad is refused"):
        await reloading.reload()
    refused = reloading.problem
    write(file, "souces: []")
    with pytest.raises(ConfigError, match="souces"):
        await reloading.reload()
    unread = reloading.problem
    write(file, ONE)
    await reloading.reload()

    assert refused == "bad is refused"
    assert "did you mean 'sources'?" in unread
    assert (reloading.problem, board.given) == ("", [["bad"], ["std"]])


async def test_a_file_that_changes_is_followed_until_the_end(file: Path) -> None:
    board = Board()
    reloading = BoardReloader(Settings(board=file), board)
    reloading.watch(0.01)
    reloading.watch(0.01)
    write(file, ONE.replace("std", "bad"))
    await board.told.wait()
    await reloading.close()
    await reloading.close()
    write(file, ONE)
    await asyncio.sleep(0.05)

    assert (board.given, reloading.problem) == ([["bad"]], "bad is refused")


@pytest.mark.parametrize("text", ["", "\n", "# soon\n"])
async def test_an_empty_file_closes_nothing(file: Path, text: str) -> None:
    board = Board()
    reloading = BoardReloader(Settings(board=file), board)
    write(file, text)
    with pytest.raises(ConfigError, match=r"board\.yaml:1: the file is empty"):
        await reloading.reload()
    told = reloading.problem
    write(file, "sources: []\n")
    await reloading.reload()

    assert "'sources: []'" in told
    assert (board.given, reloading.problem) == ([[]], "")


async def test_a_server_keeps_its_sources_while_its_file_is_written(file: Path) -> None:
    async with Pegboard(settings=Settings(board=file)) as board:
        board.watch(0.01)
        write(file, "")
        await until(lambda: board.problem != "")
        meanwhile = [source.name for source in board.sources]
        write(file, ONE.replace("std", "tools"))
        await until(lambda: board.problem == "")

        assert meanwhile == ["std"]
        assert [source.name for source in board.sources] == ["tools"]


async def test_without_a_file_there_is_nothing_to_follow() -> None:
    board = Board()
    reloading = BoardReloader(Settings(), board)
    reloading.watch(0.01)
    await asyncio.sleep(0.03)
    await reloading.close()

    assert board.given == []


async def test_a_reload_that_cannot_be_proved_yet_is_made_later(file: Path) -> None:
    """Nobody else asks again; what is wrong for other reasons waits for the file to change."""
    errors: list[PegboardError] = [ConfigError("wrong"), *[AuditUnavailable("full")] * 2]
    tries: list[int] = []
    done = asyncio.Event()

    async def reopen(_loaded: LoadedBoard, _cause: str) -> None:
        tries.append(len(errors))
        if errors:
            raise errors.pop()
        done.set()

    reloading = BoardReloader(Settings(board=file), reopen)
    reloading.watch(0.01)
    write(file, ONE.replace("std", "tools"))
    await until(lambda: reloading.problem == "wrong")
    await asyncio.sleep(0.05)
    first = list(tries)
    write(file, ONE)
    await done.wait()
    await reloading.close()

    assert (first, tries, reloading.problem) == ([3, 2, 1], [3, 2, 1, 0], "")


async def test_files_that_a_reload_adds_before_it_has_ended_do_not_cause_another(
    file: Path, tmp_path: Path
) -> None:
    (tmp_path / "new.py").write_text("")
    listed: list[Path] = []
    causes: list[str] = []

    async def reopen(_loaded: LoadedBoard, cause: str) -> None:
        causes.append(cause)
        listed.append(tmp_path / "new.py")
        await asyncio.sleep(0.05)  # the watcher looks at the files meanwhile

    looked = 0

    def files() -> list[Path]:
        nonlocal looked
        looked += 1
        return list(listed)

    reloading = BoardReloader(Settings(board=file), reopen)
    reloading.watch(0.001, files=files)
    await reloading.reload()
    at_the_end = looked
    await until(lambda: looked > at_the_end + 3)
    await reloading.close()

    assert causes == [""]
