"""Opens storages. Database drivers are imported only when a database is opened."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.core.ports.call_stores import RESULT_QUOTA, History
from pegboard.core.ports.clock import Clock, SystemClock
from pegboard.storage.audit_entries import ReadAudit
from pegboard.storage.history_rows import Redact, redact_nothing
from pegboard.storage.port import Storage

if TYPE_CHECKING:
    from pegboard.storage.databases.database import StorageDatabase
    from pegboard.storage.databases.transaction import Rows

_SYSTEM_CLOCK = SystemClock()
DAY = 86_400.0


def open_storage(  # noqa: PLR0913 - each is a setting of the storage
    place: Path | str,
    *,
    clock: Clock = _SYSTEM_CLOCK,
    store_arguments: bool = False,
    redact: Redact | None = None,
    outcome_ttl: float = DAY,
    audit_reads: ReadAudit = "none",
    audit_starts: bool = False,
    result_quota: int = RESULT_QUOTA,
    max_queued: int = 10_000,
) -> Storage:
    """Open a data directory for this process alone, or a PostgreSQL database that others share.

    It blocks for some milliseconds at start, longer when tables are created or migrated.

    ```python
    async with open_storage("data") as storage:
        page = await storage.history.calls(HistoryQuery(unfinished=True))
    ```

    Args:
        place: A directory on a local disk, made if it is missing; or `postgresql://...`.
        clock: What time it is.
        store_arguments: Whether history keeps the arguments of calls and not only their digest.
        redact: Takes secrets out of arguments and messages before they are stored.
        outcome_ttl: Seconds for which an idempotency key is remembered.
        audit_reads: Which calls that only read go into the audit trail too.
        audit_starts: Whether no call that goes into the trail may run before its start is in it.
        result_quota: Bytes of stored results of one owner, beyond which the oldest are deleted;
            0 for no limit.
        max_queued: Records that may wait to be written; further ones are dropped and counted.

    Raises:
        ConfigError: Another process has it, or it is damaged, newer, of another program or
            unreachable.
    """
    from pegboard.storage.sql.storage import SqlStorage

    def opened(sweep: "Rows") -> "StorageDatabase":
        if is_postgres(place):
            from pegboard.storage.databases.postgres import PostgresDatabase

            return PostgresDatabase(str(place), clock=clock, sweep=sweep, max_rows=max_queued)
        from pegboard.storage.databases.sqlite import SqliteDatabase

        return SqliteDatabase(Path(place), clock=clock, sweep=sweep, max_rows=max_queued)

    return SqlStorage(
        opened,
        clock=clock,
        store_arguments=store_arguments,
        redact=redact or redact_nothing,
        outcome_ttl=outcome_ttl,
        audit_reads=audit_reads,
        audit_starts=audit_starts,
        result_quota=result_quota,
    )


@asynccontextmanager
async def open_history(place: Path | str) -> AsyncGenerator[History]:
    """Open the history read-only, also while another process writes it.

    Raises:
        ConfigError: Nothing has been recorded there, or it is damaged, newer or of another program.
    """
    from pegboard.storage.databases.sqlite_file import FILE, open_reader
    from pegboard.storage.databases.sqlite_reader import SqliteReader
    from pegboard.storage.sql.history import SqlHistory

    if is_postgres(place):
        async with open_storage(place) as storage:
            yield storage.history
        return
    reader = SqliteReader(open_reader(Path(place) / FILE))
    try:
        yield SqlHistory(reader)
    finally:
        reader.close()


async def has_accounts(place: Path | str) -> bool:
    """Whether there are accounts, read as `open_history` does.

    Raises:
        ConfigError: As of `open_history`.
        Unavailable: The database cannot be read.
    """
    from pegboard.storage.databases.sqlite_file import FILE, open_reader
    from pegboard.storage.databases.sqlite_reader import SqliteReader
    from pegboard.storage.sql.accounts.identity import read_has_users

    if is_postgres(place):
        async with open_storage(place) as storage:
            return await storage.identity.has_users()
    reader = SqliteReader(open_reader(Path(place) / FILE))
    try:
        return await reader.read(read_has_users)
    finally:
        reader.close()


def is_postgres(place: Path | str) -> bool:
    """Whether a place is the address of a PostgreSQL database."""
    return isinstance(place, str) and place.startswith(("postgresql://", "postgres://"))
