"""Options shared by commands, and opening the board that they name."""

import logging
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

from pegboard.cli.exit_codes import WANTS_JSON
from pegboard.cli.lazy_group import RUNNING
from pegboard.cli.spare_collections import spare_loaded_modules
from pegboard.errors import ConfigError, InvalidRequest

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient
    from pegboard.runtime import Pegboard, Settings

T = TypeVar("T")

BoardOption = Annotated[
    Path | None,
    typer.Option("--board", "-b", help="The board file [default: $PEGBOARD_BOARD or board.yaml]."),
]
DataOption = Annotated[
    str | None,
    typer.Option(
        "--data",
        help="The data directory; `memory` keeps nothing [default: $PEGBOARD_DATA, else .pegboard "
        "beside the board file].",
    ),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        help="A server to ask instead of opening a board, with PEGBOARD_TOKEN as its token "
        "[default: $PEGBOARD_URL].",
    ),
]


def _note_json(wanted: bool) -> bool:
    WANTS_JSON.set(wanted)
    return wanted


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.", callback=_note_json)]

SvgOption = Annotated[Path | None, typer.Option("--svg", help="Write it as an SVG to this file.")]
TimelineOption = Annotated[
    Path | None, typer.Option("--timeline", help="Write its time line as an SVG to this file.")
]

Keep = Literal["read", "write", "serve", "mcp"]
"""What a command does with the default data directory: one that only reads makes none."""

Opens = Literal["all", "named", "stored", "history"]
"""What a command needs of a board that it opens.

All its tools, those that are named, its stored data without any tool, or the history alone.
"""

DEFAULT_BOARD = Path("board.yaml")

_LOG = logging.getLogger("pegboard.sources")
_REPORTED = ("mcp", "client", "pegboard.tools")
"""Loggers of the MCP library, whose source reports the same as its reason, and of exceptions of
tools, which the command reports with their error id."""


def settings(
    board: Path | None = None,
    data: str | None = None,
    url: str | None = None,
    *,
    keep: Keep = "read",
) -> "Settings":
    """Read the settings from the environment and the command line.

    A board or a data directory of the command line takes precedence over `PEGBOARD_URL`.

    Args:
        board: The board file.
        data: The data directory.
        url: A server to ask.
        keep: What the command does with the default data directory.

    Raises:
        ConfigError: A setting is wrong.
        InvalidRequest: A server is named beside a board or a data directory.
    """
    from pegboard.runtime import Settings

    spare_loaded_modules()
    is_local = board is not None or data is not None
    if url and is_local:
        raise InvalidRequest(
            "--url names a server, which has its own board and data: leave --board and --data out."
        )
    found = Settings.from_environment()
    is_named = data is not None or "data" in found.model_fields_set
    found = found.replace(board=board, url="" if is_local else url)
    if data is not None:
        found = found.model_copy(update={"data": None if data == "memory" else Path(data)})
    if data == "memory" and keep in {"write", "mcp"}:
        typer.echo("pegboard: --data memory: nothing is kept when this command ends.", err=True)
    if found.board is None and DEFAULT_BOARD.is_file():
        found = found.replace(board=DEFAULT_BOARD)
    if is_named or found.url or found.database is not None:
        return found
    return found.replace(data=_default_data(found.board, keep))


def _default_data(board: Path | None, keep: Keep) -> Path | None:
    """The default data directory, or what takes its place; None for memory.

    Raises:
        ConfigError: A server cannot write it.
    """
    from pegboard.runtime.data_directory import (
        default_data_directory,
        make_data_directory,
        state_data_directory,
    )

    path = default_data_directory(board)
    if keep == "read":
        return path if path.is_dir() else None
    reason = make_data_directory(path)
    if not reason:
        return path
    said = f"The data directory {path} cannot be used: {reason}."
    if keep == "serve":
        raise ConfigError(f"{said} Name another with --data DIR, or use --data memory.")
    if keep == "mcp":
        other = state_data_directory(path)
        if not make_data_directory(other):
            typer.echo(f"pegboard: {said} {other} is used instead.", err=True)
            return other
    typer.echo(f"pegboard: {said} Nothing is kept; name another with --data DIR.", err=True)
    return None


def refuse_url() -> None:
    """Refuse a server where a command edits a file of this machine.

    Raises:
        InvalidRequest: `PEGBOARD_URL` names one.
    """
    from pegboard.runtime import Settings

    if Settings.from_environment().url:
        raise InvalidRequest(
            "This edits a board file of this machine, not the board of a server: unset "
            "PEGBOARD_URL for it."
        )


def explicit_options(
    board: Path | None = None, data: str | None = None, url: str | None = None
) -> str:
    """The given options as text, for a suggested command; empty, or with a leading space."""
    given = (("--board", board), ("--data", data), ("--url", url))
    return "".join(f" {name} {quote(str(value))}" for name, value in given if value is not None)


def keeps_data(chosen: "Settings") -> bool:
    """Whether runs and plans outlive the command."""
    from pegboard.runtime.wiring.storage import storage_location

    return bool(chosen.url) or storage_location(chosen) is not None


def with_client(
    chosen: "Settings", use: "Callable[[BoardClient], Awaitable[T]]", *, opens: Opens = "all"
) -> T:
    """Use the board of a server, of the process that has the data, or one that is opened for it.

    Args:
        chosen: Which server or board.
        use: What to do with it.
        opens: What is needed of a board that is opened here.

    Raises:
        ConfigError: A setting or the board is wrong, or another process has its data.
        Unavailable: The server cannot be reached.
    """
    from pegboard.cli.client.connect import open_or_join, use_server

    if chosen.url:
        return use_server(chosen, use)
    if opens in ("stored", "history"):
        chosen = chosen.model_copy(update={"board": None})
    return open_or_join(chosen, lambda: _use_own_board(chosen, use, opens), use)


def _use_own_board(
    chosen: "Settings", use: "Callable[[BoardClient], Awaitable[T]]", opens: Opens
) -> T:
    from pegboard.cli.client.connect import name_caller
    from pegboard.cli.client.local import LocalBoard
    from pegboard.cli.run_async import run_async

    async def read_history() -> T:
        from pegboard.runtime.wiring.storage import has_accounts, open_history

        if not await has_accounts(chosen):
            async with open_history(chosen) as history:
                return await use(LocalBoard(None, history=history))
        from pegboard.runtime.wiring.offline import open_offline

        async with open_offline(with_data(chosen)) as stored, open_history(chosen) as history:
            caller = await name_caller(stored, chosen)
            return await use(LocalBoard(stored, history=history, principal=caller))

    async def use_stored() -> T:
        from pegboard.runtime.wiring.offline import open_offline

        async with open_offline(with_data(chosen)) as stored:
            return await use(LocalBoard(stored, principal=await name_caller(stored, chosen)))

    if opens == "history":
        return run_async(read_history())
    if opens == "stored":
        return run_async(use_stored())

    async def use_board(board: "Pegboard") -> T:
        return await use(LocalBoard(board, principal=await name_caller(board, chosen)))

    return with_board(chosen, use_board, whole=opens == "all")


def with_data(chosen: "Settings") -> "Settings":
    """Return the settings if they configure a storage.

    Raises:
        ConfigError: They do not.
    """
    from pegboard.runtime.wiring.storage import NO_STORAGE, storage_location

    if storage_location(chosen) is None:
        raise ConfigError(NO_STORAGE)
    return chosen


def with_board(
    chosen: "Settings", use: "Callable[[Pegboard], Awaitable[T]]", *, whole: bool = True
) -> T:
    """Open the board, use it, close it.

    Args:
        chosen: Which board.
        use: What to do with it.
        whole: Whether to wait until each source has answered or timed out; otherwise sources are
            opened on demand.
    """
    from pegboard.cli.run_async import run_async
    from pegboard.cli.tool_name_cache import cache_tools
    from pegboard.runtime import Pegboard
    from pegboard.runtime.holder import announce_holder

    async def run() -> T:
        on_demand = None if whole else True
        asked = chosen.replace(open_on_demand=on_demand)
        async with Pegboard(settings=asked, brief=True) as board:
            announce_holder(asked, command=RUNNING.get())
            if whole:
                await board.wait_for_sources()
                cache_tools(chosen, board.registry.names())
            return await use(board)

    with hide_source_tracebacks(chosen):
        return run_async(run())


@contextmanager
def hide_source_tracebacks(chosen: "Settings") -> Generator[None]:
    """Hide stack traces of foreign code: commands print the reason with the source.

    To see them, set PEGBOARD_LOG, as in `PEGBOARD_LOG=stderr pegboard sources`.
    """
    if chosen.log in {"stderr", "stdout"}:
        yield
        return
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(lambda record: not record.exc_info)
    silent = logging.NullHandler()
    _LOG.addHandler(handler)
    for name in _REPORTED:
        logging.getLogger(name).addHandler(silent)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        for name in _REPORTED:
            logging.getLogger(name).removeHandler(silent)
