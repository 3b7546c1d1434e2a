"""Uses stored data without a board; while a server has it, names the equivalent request."""

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
    """Use the stored data without opening the board.

    Args:
        chosen: Where it is.
        call: The equivalent request, for example `GET /audit`.
        use: What to do with it.
        body: Of that request; empty for none.

    Raises:
        ConfigError: No storage is configured, a server has it, or it cannot be used.
    """
    import asyncio

    from pegboard.runtime.wiring.offline import open_offline

    async def run() -> T:
        async with open_offline(with_data(chosen)) as opened:
            return await use(opened)

    with http_hint(chosen, call, body):
        return asyncio.run(run())


def with_data(chosen: "Settings") -> "Settings":
    """Return the settings if they configure a storage.

    Raises:
        ConfigError: They do not.
    """
    from pegboard.runtime.wiring.storage import NO_STORAGE

    if chosen.data is None and chosen.database is None:
        raise ConfigError(NO_STORAGE)
    return chosen


def is_held(error: ConfigError) -> bool:
    """Whether the error means that another process has the data."""
    return isinstance(error.__cause__, BlockingIOError)


@contextmanager
def http_hint(chosen: "Settings", call: str, body: str = "") -> Generator[None]:
    """Name the equivalent request where a server has the data.

    The address is the one that the server has recorded beside the data, if any.

    Raises:
        ConfigError: A server has the data, or it cannot be used.
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
                f"{error.message}\nIf it is a server, send the request to it: {call}{sent}"
            ) from error
        sent = f" -H 'Content-Type: application/json' -d {quote(body)}" if body else ""
        raise ConfigError(
            f"{error.message}\nSend the request to the server that has it: curl -X {method} "
            f"{quote(where + path)}{sent}"
        ) from error
