"""A board follows the modules and scripts of its tools."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.runtime.steered import Heard

from pegboard.core.event import Notice
from pegboard.runtime import Pegboard

BOARD = """
sources:
  - {kind: functions, name: my, config: {files: [mine.py]}}
  - {kind: script, name: ops, config: {paths: [scripts], sandbox: none}}
tools:
  - {tool_id: wave_v1, type: PythonFunction, import: "watched_others:wave"}
"""
TOOL = '''
from pegboard import tool


@tool(effect="read")
def NAME() -> str:
    """Say it."""
    return "TEXT"
'''
SCRIPT = "#!/bin/sh\n# /// tool\n# description: Say hi.\n# ///\necho hi\n"


class Told(Heard):
    """Keeps notices, and waits for the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.notices: asyncio.Queue[Notice] = asyncio.Queue()

    def on_event(self, event: object) -> None:
        if isinstance(event, Notice):
            self.notices.put_nowait(event)


def function(name: str, text: str) -> str:
    return TOOL.replace("NAME", name).replace("TEXT", text)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncGenerator[tuple[Pegboard, Told]]:
    """A board with a tool of each kind, that follows their files."""
    (tmp_path / "mine.py").write_text(function("greet", "one"))
    (tmp_path / "watched_others.py").write_text(function("wave", "one"))
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "hi.sh").write_text(SCRIPT)
    (tmp_path / "board.yaml").write_text(BOARD)
    told = Told()
    async with Pegboard(tmp_path / "board.yaml", listeners=[told]) as board:
        board.watch(0.01, files=True)
        yield board, told


async def test_a_changed_module_is_used_from_then_on(
    watched: tuple[Pegboard, Told], tmp_path: Path
) -> None:
    board, told = watched
    (tmp_path / "mine.py").write_text(function("greet", "two") + function("more", "x"))
    notice = await told.notices.get()

    assert (await board.call("my__greet")).unwrap() == "two"
    assert notice.message == "mine.py reloaded: new tool my__more"


async def test_a_module_that_breaks_leaves_its_tools_as_they_were(
    watched: tuple[Pegboard, Told], tmp_path: Path
) -> None:
    board, told = watched
    (tmp_path / "mine.py").write_text("def broken(:\n")
    notice = await told.notices.get()
    (source, _) = board.sources

    assert (await board.call("my__greet")).unwrap() == "one"
    assert (source.status, notice.level) == ("degraded", "warning")
    assert notice.message.startswith(
        "mine.py reloaded: source my is degraded and keeps its tools: 'mine.py' failed to import"
    )


async def test_a_module_of_the_tools_list_that_breaks_is_refused(
    watched: tuple[Pegboard, Told], tmp_path: Path
) -> None:
    board, told = watched
    (tmp_path / "watched_others.py").write_text("def broken(:\n")
    refused = await told.notices.get()
    kept = (await board.call("wave")).unwrap()
    (tmp_path / "watched_others.py").write_text(function("wave", "three"))
    await told.notices.get()

    assert refused.level == "error"
    assert "board.yaml:6: 'wave': 'watched_others' failed to import" in refused.message
    assert kept == "one"
    assert (await board.call("wave")).unwrap() == "three"
    assert board.problem == ""


async def test_a_script_that_is_added_to_a_folder_becomes_a_tool(
    watched: tuple[Pegboard, Told], tmp_path: Path
) -> None:
    board, told = watched
    (tmp_path / "scripts" / "ho.sh").write_text(SCRIPT)
    notice = await told.notices.get()

    assert "ops__ho" in board.registry
    assert notice.message == "ho.sh reloaded: new tool ops__ho"


async def test_files_of_a_source_that_a_reload_adds_are_followed_without_another_reload(
    watched: tuple[Pegboard, Told], tmp_path: Path
) -> None:
    board, told = watched
    (tmp_path / "new.py").write_text(function("fresh", "one"))
    added = BOARD.replace(
        "tools:", "  - {kind: functions, name: new, config: {files: [new.py]}}\ntools:"
    )
    (tmp_path / "board.yaml").write_text(added)
    await told.notices.get()
    await asyncio.sleep(0.1)
    quiet = told.notices.empty()
    (tmp_path / "new.py").write_text(function("fresh", "two"))
    while (await board.call("new__fresh")).unwrap() != "two":
        await told.notices.get()

    assert quiet


async def test_a_board_that_does_not_watch_keeps_its_modules(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(function("greet", "one"))
    (tmp_path / "board.yaml").write_text(
        "sources: [{kind: functions, name: my, config: {files: [mine.py]}}]"
    )
    async with Pegboard(tmp_path / "board.yaml") as board:
        board.watch(0.01)
        (tmp_path / "mine.py").write_text(function("greet", "two"))
        await asyncio.sleep(0.1)

        assert (await board.call("my__greet")).unwrap() == "one"
