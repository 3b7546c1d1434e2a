"""The storage of a board: a database, a data directory, or memory."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from msgspec import structs

from pegboard.core.event import Event, SourceChanged
from pegboard.core.ports.audit_store import AuditEntry, Prove, skip_proof
from pegboard.errors import AuditUnavailable, ConfigError, Unavailable
from pegboard.runtime.settings import Settings
from pegboard.storage.audit_entries import ReadAudit

if TYPE_CHECKING:
    from pegboard.core.ports.call_stores import History
    from pegboard.core.ports.listener import Listener
    from pegboard.storage import Storage
    from pegboard.storage.port import Auditor

NO_STORAGE = (
    "There is no data directory here: name one with --data or PEGBOARD_DATA, or a database that "
    "servers share with PEGBOARD_DATABASE. Without a name it is .pegboard beside the board file, "
    "once a command has stored something."
)


_AUDITED_READS: Mapping[str, ReadAudit] = {"auto": "remote", "reads": "all"}


def storage_location(settings: Settings) -> Path | str | None:
    """The address of a database or a data directory; None for memory."""
    return settings.data if settings.database is None else settings.database.get_secret_value()


def create_storage(settings: Settings, *, redact: Callable[[str], str] | None) -> "Storage":
    """Create the storage of a board.

    Raises:
        ConfigError: The database or directory cannot be used, or another process uses it; or an
            audit trail is required where there is none.
    """
    from pegboard.storage import MemoryStorage, open_storage

    if settings.audit_required and not is_audited(settings):
        raise ConfigError(
            "PEGBOARD_AUDIT_REQUIRED: there is no audit trail: set PEGBOARD_AUDIT=on, or set "
            "PEGBOARD_DATA or PEGBOARD_DATABASE to store one"
        )
    place = storage_location(settings)
    given: _StorageOptions = {
        "store_arguments": settings.store_arguments,
        "redact": redact,
        "audit_reads": _AUDITED_READS.get(settings.audit, "none"),
        "audit_starts": settings.audit_required,
        "result_quota": settings.max_stored_bytes,
    }
    return MemoryStorage(**given) if place is None else open_storage(place, **given)


def open_history(settings: Settings) -> "AbstractAsyncContextManager[History]":
    """Open the history of the database or data directory, read-only.

    It works while a server writes the history.

    Raises:
        ConfigError: Neither is configured, or nothing has been recorded there.
    """
    from pegboard.storage import open_history

    place = storage_location(settings)
    if place is None:
        raise ConfigError(NO_STORAGE)
    return open_history(place)


async def has_accounts(settings: Settings) -> bool:
    """Whether the database or data directory has accounts; read as `open_history` does.

    Raises:
        ConfigError: As of `open_history`.
    """
    from pegboard.storage import has_accounts

    place = storage_location(settings)
    return place is not None and await has_accounts(place)


class _StorageOptions(TypedDict):
    """Arguments of every storage."""

    store_arguments: bool
    redact: Callable[[str], str] | None
    audit_reads: ReadAudit
    audit_starts: bool
    result_quota: int


def audit_listeners(
    settings: Settings, storage: "Storage", *, brief: bool = False
) -> "list[Listener]":
    """The listener that writes the audit trail, if it is on."""
    if not is_audited(settings):
        return []
    return [_WithoutFirstListing(storage.auditor) if brief else storage.auditor]


class _WithoutFirstListing:
    """Passes events on, except the first state of each source."""

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
    """Return the hook that writes a change into the audit trail before it is made."""
    if not settings.audit_required:
        return skip_proof

    async def prove(entry: AuditEntry) -> None:
        try:
            await storage.audit.append([entry])
        except Unavailable as error:
            raise AuditUnavailable(
                "Nothing was done: it could not be written to the audit trail "
                f"first. {error.message}",
                retry_after=error.retry_after,
                nothing_done=True,
                permanent=not error.retryable,
            ) from error

    return prove


def is_audited(settings: Settings) -> bool:
    """Whether the audit trail is on."""
    if settings.audit == "auto":
        return storage_location(settings) is not None
    return settings.audit != "off"
