"""Working with what is stored while no server has it; else saying which request does the same."""

from collections.abc import Generator
from contextlib import contextmanager

from pegboard.errors import ConfigError
from pegboard.runtime import Settings


def is_held(error: ConfigError) -> bool:
    """Whether it says that another process has the data."""
    return " is in use by " in error.message


@contextmanager
def http_hint(chosen: Settings, call: str, body: str = "") -> Generator[None]:
    """Name the request that does the same, where a server has the data.

    Raises:
        ConfigError: A server has it, or it cannot be used at all.
    """
    try:
        yield
    except ConfigError as error:
        if not is_held(error):
            raise
        method, _, path = call.partition(" ")
        url = f"http://{chosen.host}:{chosen.port}{path}"
        sent = f" -H 'Content-Type: application/json' -d '{body}'" if body else ""
        raise ConfigError(
            f"{error.message}\nAsk the server that has it: curl -X {method} {url}{sent}"
        ) from error
