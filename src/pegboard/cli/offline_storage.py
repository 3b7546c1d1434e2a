"""Working with what is stored while no server has it; else saying which request does the same."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, TypeVar

from pegboard.errors import ConfigError

if TYPE_CHECKING:
    from pegboard.runtime import Settings
    from pegboard.runtime.wiring.offline import OfflineBoard

T = TypeVar("T")


def run_offline(
    chosen: "Settings", call: str, use: "Callable[[OfflineBoard], Awaitable[T]]", *, body: str = ""
) -> T:
    """Use what is stored, without opening the board.

    Args:
        chosen: Where it is.
        call: The request that does the same, as `GET /audit`.
        use: What to do with it.
        body: Of that request; empty for none.

    Raises:
        ConfigError: Nothing says where it is, a server has it, or it cannot be used at all.
    """
    import asyncio

    from pegboard.runtime.wiring.offline import open_offline

    async def run() -> T:
        async with open_offline(with_data(chosen)) as opened:
            return await use(opened)

    with http_hint(chosen, call, body):
        return asyncio.run(run())


def with_data(chosen: "Settings") -> "Settings":
    """The settings, if they say where something is kept.

    Raises:
        ConfigError: They do not.
    """
    from pegboard.runtime.wiring.storage import NO_STORAGE

    if chosen.data is None and chosen.database is None:
        raise ConfigError(NO_STORAGE)
    return chosen


def is_held(error: ConfigError) -> bool:
    """Whether another process has the data: the kernel has told so when the lock was asked for."""
    return isinstance(error.__cause__, BlockingIOError)


@contextmanager
def http_hint(chosen: "Settings", call: str, body: str = "") -> Generator[None]:
    """Name the request that does the same, where a server has the data.

    The address is the one that the server has written beside the data; what else has it listens
    nowhere, or did not say where.

    Raises:
        ConfigError: A server has it, or it cannot be used at all.
    """
    from pegboard.runtime.wiring.storage import read_address

    try:
        yield
    except ConfigError as error:
        if not is_held(error):
            raise
        method, _, path = call.partition(" ")
        where = read_address(chosen)
        if not where:
            sent = f" with the body {body}" if body else ""
            raise ConfigError(
                f"{error.message}\nIf it is a server, ask it: {call}{sent}"
            ) from error
        sent = f" -H 'Content-Type: application/json' -d {quote(body)}" if body else ""
        raise ConfigError(
            f"{error.message}\nAsk the server that has it: "
            f"curl -X {method} {quote(where + path)}{sent}"
        ) from error
