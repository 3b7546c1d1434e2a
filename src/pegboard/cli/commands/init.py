"""`pegboard init`: write a first board."""

from pathlib import Path
from typing import Annotated

import typer

from pegboard.cli.exit_codes import exit_on_error
from pegboard.cli.options import refuse_url
from pegboard.cli.output.tables import say
from pegboard.errors import ConfigError

_BOARD = """\
# A board: where tools come from, and who may call them.
# A mistake in here is reported with its line and what to write instead: try `pegboard doctor`.
sources:
  # The functions of my_tools.py that carry @tool, as mine__greet and so on.
  - {kind: functions, name: mine, config: {modules: [my_tools]}}
  # The built-in tools: std__calculator, std__web_fetch, ...
  - {kind: builtin, name: std}
  # A database, read only:
  # - {kind: sql, name: db, config: {url: "sqlite:///my.db", hidden_tables: []}}

# Globs over tool names: deny beats ask beats allow.
policy:
  deny: []
  ask: []
  limits:
    "std__web_*": {rate: "5/s"}
"""

_TOOLS = '''\
"""Tools of my own: every function with @tool is one."""

from pegboard import tool


@tool(effect="read")
def greet(name: str, times: int = 1) -> str:
    """Greet somebody.

    Args:
        name: Whom.
        times: How often.
    """
    return " ".join([f"Hello {name}!"] * times)
'''


def init(
    folder: Annotated[Path, typer.Argument(help="Where to write; made if missing.")] = Path(),
    *,
    board: Annotated[
        Path | None, typer.Option("--board", "-b", help="The board file to write.")
    ] = None,
) -> None:
    """Write a board.yaml and a my_tools.py to start from.

    Files that exist are not overwritten.
    """
    with exit_on_error():
        refuse_url()
        path = board or folder / "board.yaml"
        tools = path.parent / "my_tools.py"
        for file in (path, tools):
            if file.exists():
                raise ConfigError(
                    f"{file} exists already; init does not overwrite files. Name another folder: "
                    "'pegboard init DIR'."
                )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{error.filename}: {error.strerror}") from error
        _write({path: _BOARD, tools: _TOOLS})
    option = "" if path == Path("board.yaml") else f" --board {path}"
    say(f"Wrote {path} and {tools}. Try:")
    say(f"  pegboard tools{option}")
    say(f"  pegboard call mine__greet --arg name=Ada --arg times=2{option}")
    say(f"  pegboard serve{option}")


def _write(contents: dict[Path, str]) -> None:
    """Write new files, or none of them."""
    written: list[Path] = []
    for file, text in contents.items():
        try:
            with file.open("x", encoding="utf-8") as opened:
                written.append(file)
                opened.write(text)
        except OSError as error:
            for made in written:
                made.unlink(missing_ok=True)
            raise ConfigError(f"{file}: {error.strerror}. Nothing was written.") from error
