"""Reading a history without opening its board, also while a server writes it."""

from contextlib import AbstractAsyncContextManager

from pegboard.core.ports.call_stores import History
from pegboard.errors import ConfigError
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.storage import place_of
from pegboard.storage import open_history

NOWHERE = (
    "No data directory: name one with --data, or set PEGBOARD_DATA, or PEGBOARD_DATABASE for a "
    "database that servers share."
)


def history(settings: Settings) -> AbstractAsyncContextManager[History]:
    """The history of the database, or else of the data directory, which is only read.

    Raises:
        ConfigError: Neither is named, or nothing has been recorded there.
    """
    place = place_of(settings)
    if place is None:
        raise ConfigError(NOWHERE)
    return open_history(place)
