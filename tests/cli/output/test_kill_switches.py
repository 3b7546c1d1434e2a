"""Whoever turns off what there is not is told so, and nothing is started to find out."""

from pathlib import Path

import pytest
from tests.cli.conftest import Command

DATA = {"PEGBOARD_DATA": "data"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("my__gret",), "there is no tool 'my__gret' now; did you mean 'my__greet'"),
        (("typo",), "there is no tool 'typo' now; 'pegboard tools' lists them"),
        (("my",), "there is no tool 'my' now; a source is: --source my"),
        (("my__x*",), "there is no tool 'my__x*' now;"),
        (("--source", "myy"), "there is no source 'myy' now; did you mean 'my'?"),
        (("--source", "elsewhere"), "there is no source 'elsewhere' now; there are my"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_name_that_nothing_has_is_off_and_told(
    pegboard: Command, arguments: tuple[str, ...], told: str
) -> None:
    off = pegboard("switches", "off", *arguments, **DATA)

    assert (off.returncode, off.stdout) == (0, f"off: {arguments[-1]}\n")
    assert told in off.stderr


@pytest.mark.parametrize(
    "arguments",
    [("my__greet",), ("my__g*",), ("*greet",), ("--source", "my"), ("--writes",)],
    ids=" ".join,
)
def test_of_what_there_is_nothing_more_is_said(
    pegboard: Command, arguments: tuple[str, ...]
) -> None:
    off = pegboard("switches", "off", *arguments, **DATA)

    assert (off.returncode, off.stderr) == (0, "")


def test_no_server_is_started_to_find_out(pegboard: Command, folder: Path) -> None:
    config = "{command: sh, args: [-c, 'touch started; cat']}"
    (folder / "board.yaml").write_text(
        f"sources:\n  - {{kind: mcp, name: odd, config: {config}}}\n"
    )
    tool = pegboard("switches", "off", "odd__rm", **DATA)
    source = pegboard("switches", "off", "--source", "odd", **DATA)

    assert (tool.stderr, source.stderr) == ("", "")
    assert not (folder / "started").exists()


def test_a_board_that_cannot_be_opened_hinders_nothing(pegboard: Command, folder: Path) -> None:
    (folder / "board.yaml").write_text("sources: 7\n")
    off = pegboard("switches", "off", "my__greet", **DATA)

    assert (off.returncode, off.stdout, off.stderr) == (0, "off: my__greet\n", "")
