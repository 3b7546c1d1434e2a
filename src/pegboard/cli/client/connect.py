"""Chooses the board of a command: that of a server, of a process that has the data, or its own."""

import os
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from pegboard.cli.client.addresses import is_reachable
from pegboard.cli.client.remote import open_remote_board
from pegboard.cli.run_async import run_async
from pegboard.cli.stored_keys import read_key
from pegboard.core.ports.accounts.identity_store import KEY_PREFIX
from pegboard.errors import ConfigError
from pegboard.runtime.holder import Holder, check_same_board, explain_held, find_holder, is_held

if TYPE_CHECKING:
    from pegboard.cli.client.port import BoardClient
    from pegboard.core.principal import Principal
    from pegboard.runtime import Pegboard, Settings
    from pegboard.runtime.wiring.offline import OfflineBoard

T = TypeVar("T")
Use = Callable[["BoardClient"], Awaitable[T]]

PATIENCE = 5.0
"""Seconds to wait for a process that has the data directory to end, or to answer requests."""

_LOOK_AGAIN = 0.05


def use_server(chosen: "Settings", use: Use[T]) -> T:
    """Use the board of the server that the settings name.

    Raises:
        Unavailable: It cannot be reached.
    """
    return _ask(chosen.url, _token_of(chosen) or read_key(chosen.url) or None, use)


def use_holder(holder: Holder, use: Use[T], *, key: str = "") -> T:
    """Use the board of the process that has the data directory.

    Args:
        holder: The process.
        use: What to do with it.
        key: The key of an account; without one the caller is `local`.
    """
    return _ask(holder.url, key or holder.token, use, is_direct=True)


def open_or_join(chosen: "Settings", open_own: Callable[[], T], use: Use[T]) -> T:
    """Open the board, or use that of the process that has its data directory.

    A process that has it for a moment, as another command does, is waited for.

    Raises:
        ConfigError: The board is wrong; or another process has the data directory, and serves
            another board or does not answer requests.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return open_own()
        except ConfigError as error:
            if not is_held(error):
                raise
            process, holder = find_holder(chosen)
            if holder is not None and holder.url and run_async(is_reachable(holder.url)):
                check_same_board(chosen, holder, error)
                return use_holder(holder, use, key=_key_of(chosen))
            if process == os.getpid() or time.monotonic() > end:
                raise explain_held(chosen, error) from error
        time.sleep(_LOOK_AGAIN)


async def name_caller(board: "Pegboard | OfflineBoard", chosen: "Settings") -> "Principal | None":
    """The caller of a board that this process has opened.

    `local`, and once there are accounts the person of the key in PEGBOARD_TOKEN; None without one.
    """
    from pegboard.errors import AccessDenied

    try:
        return await board.identity.callers.name_local(_key_of(chosen))
    except AccessDenied:
        return None


def _token_of(chosen: "Settings") -> str:
    return "" if chosen.token is None else chosen.token.get_secret_value()


def _key_of(chosen: "Settings") -> str:
    """The key of an account in the settings; a token of another form is the server's own."""
    token = _token_of(chosen)
    return token if token.startswith(KEY_PREFIX) else ""


def _ask(url: str, token: str | None, use: Use[T], *, is_direct: bool = False) -> T:
    async def ask() -> T:
        async with open_remote_board(url, token, is_direct=is_direct) as board:
            return await use(board)

    return run_async(ask())
