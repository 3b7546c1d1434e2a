"""The process that holds a data directory, and how others of the same user reach it."""

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from pegboard import __version__
from pegboard.core.ports.clock import Clock, SystemClock
from pegboard.errors import ConfigError
from pegboard.runtime.settings import Settings

_SYSTEM_CLOCK = SystemClock()
_OF_ONE_PROCESS = ("board", "data", "host", "port", "token", "url", "log")
"""Settings that say nothing about a board; the board file and the data are compared themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A process that holds a data directory and answers requests about its board.

    Attributes:
        token: A token of this start, for the principal `local`.
        url: The address of its HTTP API on this machine; empty for none.
        mcp: The address where further processes of `pegboard mcp` join it; empty for none.
        board: The absolute path of its board file; empty for none.
        settings: A digest of the settings of its board.
        version: Its version of Pegboard.
        command: The command that it runs, as `pegboard serve`; empty for another program.
        since: When it took the directory, in Unix seconds.
    """

    token: str = field(repr=False)
    url: str = ""
    mcp: str = ""
    board: str = ""
    settings: str = ""
    version: str = __version__
    command: str = ""
    since: float = 0.0


def announce_holder(
    settings: Settings,
    *,
    token: str = "",
    url: str = "",
    mcp: str = "",
    command: str = "",
    clock: Clock = _SYSTEM_CLOCK,
) -> None:
    """Tell other processes of this user how to reach this one, which holds the data directory.

    What is told stands in the file `lock` of the directory, which only this user can read, and
    goes with the lock. A command without `url` and `mcp` answers no requests.
    """
    from pegboard.storage.databases.directory_lock import write_note

    if settings.database is None and settings.data is not None:
        holder = Holder(
            token=token,
            url=url,
            mcp=mcp,
            board=board_path(settings),
            settings=settings_digest(settings),
            command=command,
            since=clock.time(),
        )
        write_note(settings.data, json.dumps(asdict(holder)))


def find_holder(settings: Settings) -> tuple[int, Holder | None]:
    """The process that holds the data directory, and how to reach it.

    To be asked only after the lock was refused: what a dead process has left is not told apart.

    Returns:
        Its id, 0 if unknown; and None if it does not answer requests, or not yet.
    """
    from pegboard.storage.databases.directory_lock import read_note

    if settings.data is None:
        return 0, None
    process, note = read_note(settings.data)
    try:
        said: Any = json.loads(note) if note else None
        return process, None if said is None else Holder(**said)
    except (ValueError, TypeError):  # of another version
        return process, None


def check_same_board(settings: Settings, holder: Holder, error: ConfigError) -> None:
    """Refuse a process that has the data directory and serves another board.

    Args:
        settings: Of this process; without a board file any board will do.
        holder: The process.
        error: Says that the process has the data directory.

    Raises:
        ConfigError: It serves another board; names both.
    """
    wanted = board_path(settings)
    if wanted and wanted != holder.board:
        serves = f"the board {holder.board}" if holder.board else "no board file"
        raise ConfigError(f"{error.message} It serves {serves}, not {wanted}.") from error


def explain_held(settings: Settings, error: ConfigError) -> ConfigError:
    """The error of a data directory that another process holds, with which, and until when."""
    process, holder = find_holder(settings)
    if holder is None or not holder.command or process == os.getpid():
        return error
    ending = _ENDINGS.get(holder.command, _OF_COMMANDS).format(process=process)
    who = describe_process(process, holder)
    return ConfigError(f"The data directory {settings.data} is in use by {who}. {ending}")


def describe_process(process: int, holder: Holder | None) -> str:
    """The process that holds a data directory: its id, its command, and since when."""
    who = f"process {process}" if process else "another process"
    if holder is None or not holder.command:
        return who
    since = datetime.fromtimestamp(holder.since, UTC).astimezone()
    return f"{who} ('{holder.command}', since {since:%H:%M:%S})"


_OF_COMMANDS = (
    "It answers no requests, and holds the directory until it ends: wait for it, or use another "
    "directory with --data DIR."
)
_ENDINGS = {
    "pegboard mcp": "It ends with the MCP client that started it: close that client, or run 'kill "
    "{process}'. Once 'pegboard serve' runs, clients that start 'pegboard mcp' join it.",
    "pegboard serve": "Stop it, or use another directory with --data DIR.",
}


def settings_digest(settings: Settings) -> str:
    """A digest of what the settings say about a board; secrets are left out."""
    said = settings.model_dump_json(exclude=set(_OF_ONE_PROCESS))
    return hashlib.sha256(said.encode()).hexdigest()


def board_path(settings: Settings) -> str:
    """The absolute path of the board file; empty for none."""
    return "" if settings.board is None else str(settings.board.resolve())


def is_held(error: ConfigError) -> bool:
    """Whether the error means that another process has the data directory."""
    return isinstance(error.__cause__, BlockingIOError)
