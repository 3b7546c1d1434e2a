"""What the board remembers: in a database, in a data directory, or in memory."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.runtime.settings import Settings

if TYPE_CHECKING:
    from pegboard.storage import Storage
    from pegboard.storage.port import Auditor


def place_of(settings: Settings) -> Path | str | None:
    """Where the board remembers: the address of a database, a data directory, or nowhere."""
    return settings.data if settings.database is None else settings.database.get_secret_value()


def storage(settings: Settings, *, redact: Callable[[str], str] | None) -> "Storage":
    """The storage of a board.

    Raises:
        ConfigError: The database or directory cannot be used, or another process uses it.
    """
    from pegboard.storage import MemoryStorage, open_storage

    place, reads = place_of(settings), settings.audit == "reads"
    if place is None:
        return MemoryStorage(
            store_arguments=settings.store_arguments, redact=redact, audit_reads=reads
        )
    return open_storage(
        place, store_arguments=settings.store_arguments, redact=redact, audit_reads=reads
    )


def audited(settings: Settings, storage: "Storage") -> list["Auditor"]:
    """Who writes the audit trail, if anybody does."""
    return [storage.auditor] if is_audited(settings) else []


def is_audited(settings: Settings) -> bool:
    """Whether what happens goes into the audit trail."""
    if settings.audit == "auto":
        return place_of(settings) is not None
    return settings.audit != "off"
