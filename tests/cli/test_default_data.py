"""The data directory of commands that name none."""

import os
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.cli.holding import holding

from pegboard.cli.client import connect
from pegboard.cli.options import settings, with_client
from pegboard.errors import ConfigError
from pegboard.runtime import Settings

CALL = ("call", "my__greet", "--arg", "name=Ada")
DEFAULT = {"PEGBOARD_DATA": ""}


def test_a_call_is_kept_beside_the_board_file(pegboard: Command, folder: Path) -> None:
    pegboard(*CALL, **DEFAULT)
    history = pegboard("history", **DEFAULT)

    assert "my__greet" in history.stdout
    assert (folder / ".pegboard" / "pegboard.db").is_file()
    assert (folder / ".pegboard" / ".gitignore").read_text() == "*\n"


def test_it_is_that_of_the_board_which_is_named(pegboard: Command, folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "board.yaml").write_text("sources: []\n")
    pegboard("plan", "--board", "other/board.yaml", "std__calculator", **DEFAULT)

    assert (folder / "other" / ".pegboard").is_dir()
    assert not (folder / ".pegboard").exists()


@pytest.mark.parametrize(
    "arguments",
    [("tools",), ("show", "my__greet"), ("sources",), ("runs", "list"), ("market", "list")],
    ids=" ".join,
)
def test_what_only_reads_makes_none(
    arguments: tuple[str, ...], pegboard: Command, folder: Path
) -> None:
    done = pegboard(*arguments, **DEFAULT)

    assert done.returncode == 0, done.stderr
    assert not (folder / ".pegboard").exists()


@pytest.mark.parametrize(
    ("options", "environment"),
    [(("--data", "memory"), DEFAULT), ((), {"PEGBOARD_DATA": "memory"})],
    ids=["option", "variable"],
)
def test_memory_keeps_nothing(
    options: tuple[str, ...], environment: dict[str, str], pegboard: Command, folder: Path
) -> None:
    done = pegboard(*CALL, *options, **environment)

    assert done.stdout == "Hello Ada!\n"
    assert ("nothing is kept" in done.stderr) is ("--data" in options)
    assert not (folder / ".pegboard").exists()
    assert not (folder / "memory").exists()


def test_where_it_cannot_be_written_nothing_is_kept_and_that_is_said(
    pegboard: Command, folder: Path
) -> None:
    (folder / ".pegboard").touch()
    done = pegboard(*CALL, **DEFAULT)

    assert (done.returncode, done.stdout) == (0, "Hello Ada!\n")
    assert "Nothing is kept" in done.stderr


def test_a_server_is_not_started_without_it(pegboard: Command, folder: Path) -> None:
    (folder / ".pegboard").touch()
    done = pegboard("serve", "--port", "0", **DEFAULT)

    assert done.returncode == 2
    assert "use --data memory" in done.stderr


def test_mcp_takes_the_users_state_directory_and_then_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PEGBOARD_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".pegboard").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    state = settings(keep="mcp").data
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".pegboard"))
    nothing = settings(keep="mcp").data

    said = capsys.readouterr().err
    assert state is not None
    assert state.parent == tmp_path / "state" / "pegboard"
    assert nothing is None
    assert "is used instead" in said
    assert "Nothing is kept" in said


def test_a_named_one_that_cannot_be_written_is_an_error(pegboard: Command, folder: Path) -> None:
    (folder / "file").touch()
    done = pegboard(*CALL, "--data", "file")

    assert done.returncode == 2
    assert "file" in done.stderr


LOOK = '''
from pegboard import tool
from pegboard.runtime import Settings
from pegboard.runtime.holder import find_holder


@tool(effect="read")
def look() -> str:
    """Say which command holds the data directory."""
    process, holder = find_holder(Settings(data="data"))
    return f"{process} {holder.command}"
'''


def test_a_command_tells_others_what_holds_the_directory(folder: Path, pegboard: Command) -> None:
    (folder / "tools.py").write_text(LOOK)

    done = pegboard("call", "my__look", "--data", "data")

    assert done.stdout == f"{os.getpid()} pegboard call\n"


@pytest.mark.slow
def test_a_command_beside_a_long_one_says_which_and_until_when(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "PATIENCE", 0.0)
    chosen = Settings(data=folder / "data")
    with (
        holding(folder, command="pegboard run") as holder,
        pytest.raises(
            ConfigError,
            match=rf"in use by process {holder.pid} \('pegboard run', since .* until it ends",
        ),
    ):
        with_client(chosen, lambda client: client.list_switches())
