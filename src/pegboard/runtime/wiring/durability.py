"""Where runs of graphs are kept so that they outlive the process that plays them."""

from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.storage import place_of

if TYPE_CHECKING:
    from pegboard.durability import StoredDurability
    from pegboard.storage import Storage

_OWNER = "this board"
"""Of every process that has a data directory, or memory, for itself alone."""


def durability(settings: Settings, storage: "Storage") -> "StoredDurability":
    """The durable back end of a board: its own storage.

    Processes that share a database have an owner each and take over from one another; one that has
    its directory alone takes up at once what the one before it left.
    """
    from pegboard.durability import StoredDurability

    place = place_of(settings)
    is_shared = place is not None and not isinstance(place, Path)
    owner = "" if is_shared else _OWNER
    return StoredDurability(storage.runs, owner=owner, lease=settings.run_lease)
