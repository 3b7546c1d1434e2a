"""What the board remembers: in a database, in a data directory, or in memory."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from msgspec import structs

from pegboard.core.event import Event, SourceChanged
from pegboard.core.ports.audit_store import AuditEntry, Prove, skip_proof
from pegboard.errors import AuditUnavailable, ConfigError, Unavailable
from pegboard.runtime.settings import Settings

if TYPE_CHECKING:
    from pegboard.core.ports.call_stores import History
    from pegboard.core.ports.listener import Listener
    from pegboard.storage import Storage
    from pegboard.storage.port import Auditor

NO_STORAGE = (
    "No data directory: name one with --data, or set PEGBOARD_DATA, or PEGBOARD_DATABASE for a "
    "database that servers share."
)


def storage_location(settings: Settings) -> Path | str | None:
    """Where the board remembers: the address of a database, a data directory, or nowhere."""
    return settings.data if settings.database is None else settings.database.get_secret_value()


def create_storage(settings: Settings, *, redact: Callable[[str], str] | None) -> "Storage":
    """The storage of a board.

    Raises:
        ConfigError: The database or directory cannot be used, or another process uses it; or an
            audit trail is required where there is none.
    """
    from pegboard.storage import MemoryStorage, open_storage

    if settings.audit_required and not is_audited(settings):
        raise ConfigError(
            "PEGBOARD_AUDIT_REQUIRED: there is no audit trail: set PEGBOARD_AUDIT=on, or say with "
            "PEGBOARD_DATA or PEGBOARD_DATABASE where one is kept"
        )
    place = storage_location(settings)
    given: _StorageOptions = {
        "store_arguments": settings.store_arguments,
        "redact": redact,
        "audit_reads": settings.audit == "reads",
        "audit_starts": settings.audit_required,
    }
    return MemoryStorage(**given) if place is None else open_storage(place, **given)


def open_history(settings: Settings) -> "AbstractAsyncContextManager[History]":
    """The history of the database, or else of the data directory, which is only read.

    It opens no board, and works while a server writes the history.

    Raises:
        ConfigError: Neither is named, or nothing has been recorded there.
    """
    from pegboard.storage import open_history

    place = storage_location(settings)
    if place is None:
        raise ConfigError(NO_STORAGE)
    return open_history(place)


def write_address(settings: Settings, url: str) -> None:
    """Say beside the data where this process listens, to whoever cannot have it meanwhile."""
    from pegboard.storage.databases import directory_lock

    if settings.database is None and settings.data is not None:
        directory_lock.say_address(settings.data, url)


def read_address(settings: Settings) -> str:
    """Where the process listens that has the data; empty where it does not, or has not said so."""
    from pegboard.storage.databases import directory_lock

    return "" if settings.data is None else directory_lock.said_address(settings.data)


class _StorageOptions(TypedDict):
    """What every storage is opened with."""

    store_arguments: bool
    redact: Callable[[str], str] | None
    audit_reads: bool
    audit_starts: bool


def audit_listeners(
    settings: Settings, storage: "Storage", *, brief: bool = False
) -> "list[Listener]":
    """Who writes the audit trail, if anybody does; of a brief board not how its sources open."""
    if not is_audited(settings):
        return []
    return [_WithoutFirstListing(storage.auditor) if brief else storage.auditor]


class _WithoutFirstListing:
    """Passes on whatever happens, but how each source is when it is first listed."""

    def __init__(self, auditor: "Auditor") -> None:
        self._auditor = auditor
        self._first: dict[str, Event] = {}
        self._changed: set[str] = set()

    def on_event(self, event: Event) -> None:
        if isinstance(event, SourceChanged) and event.source not in self._changed:
            state = structs.replace(event, stack="")
            if self._first.setdefault(event.source, state) == state:
                return
            self._changed.add(event.source)
        self._auditor.on_event(event)


def require_audit(settings: Settings, storage: "Storage") -> Prove:
    """What lets nobody decide or change while the trail cannot take it, where it is required."""
    if not settings.audit_required:
        return skip_proof

    async def prove(entry: AuditEntry) -> None:
        try:
            await storage.audit.append([entry])
        except Unavailable as error:
            raise AuditUnavailable(
                "Nothing was done: it could not be written into the audit trail, which has to "
                f"have it first. {error.message}",
                retry_after=error.retry_after,
                nothing_done=True,
                permanent=not error.retryable,
            ) from error

    return prove


def is_audited(settings: Settings) -> bool:
    """Whether what happens goes into the audit trail."""
    if settings.audit == "auto":
        return storage_location(settings) is not None
    return settings.audit != "off"
