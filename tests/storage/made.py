"""Events, results and storages for the tests of this room."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Select

from pegboard.core.event import CallRecord, CallStarted, RunErrorNoted
from pegboard.core.ports.call_stores import HistoryQuery, Outcome, StoredResult
from pegboard.core.ports.clock import Clock
from pegboard.core.principal import Principal
from pegboard.storage import MemoryStorage, Storage, open_storage
from pegboard.storage.databases.sqlite_file import FILE, open_reader, open_writer

ADA = Principal(id="ada", tenant="acme")
NOON = 1_767_268_800.0
ROOT = Path(__file__).parents[2]


def a_storage(kind: str, directory: Path, clock: Clock, **options: Any) -> Storage:
    """A storage of this kind, open; a PostgreSQL one by its address."""
    if kind == "memory":
        return MemoryStorage(clock=clock, **options)
    if is_postgres(kind):
        return open_storage(kind, clock=clock, **options)
    if not (directory / FILE).exists():
        (directory / FILE).write_bytes(_migrated_file())
    return open_storage(directory, clock=clock, **options)


@cache
def _migrated_file() -> bytes:
    """A SQLite database without rows: its migrations take longer than most of the tests."""
    with TemporaryDirectory() as folder:
        open_writer(Path(folder) / FILE, NOON).close()
        return (Path(folder) / FILE).read_bytes()


def is_postgres(kind: str) -> bool:
    """Whether a kind of storage is the address of a database server."""
    return kind.startswith("postgresql://")


def a_record(call_id: str = "c1", **changes: Any) -> CallRecord:
    """A completed call of a read tool."""
    fields: dict[str, Any] = {
        "call_id": call_id,
        "tool": "shop__find",
        "status": "completed",
        "started_at": NOON,
        "duration_ms": 1.5,
        "principal": ADA,
        "source": "shop",
        "effect": "read",
    }
    return CallRecord(**(fields | changes))


def a_start(call_id: str = "w1", **changes: Any) -> CallStarted:
    """A write that is about to run."""
    fields: dict[str, Any] = {
        "call_id": call_id,
        "tool": "shop__refund",
        "version": "1.0.0",
        "source": "shop",
        "principal": "ada",
        "tenant": "acme",
        "effect": "write",
        "arguments_digest": "d" * 64,
        "started_at": NOON,
    }
    return CallStarted(**(fields | changes))


def a_written(call_id: str = "w1", **changes: Any) -> CallRecord:
    """The record of a write that `a_start` started."""
    return a_record(call_id, tool="shop__refund", effect="write", **changes)


def a_result(handle: str = "pegboard://results/r1", **changes: Any) -> StoredResult:
    """A stored result of Ada's, good for an hour."""
    fields: dict[str, Any] = {
        "handle": handle,
        "owner": "acme/ada",
        "media_type": "application/json",
        "body": b'{"rows": []}',
        "created_at": NOON,
        "expires_at": NOON + 3600,
        "name": "rows.json",
    }
    return StoredResult(**(fields | changes))


def an_outcome(key: str = "k1", **changes: Any) -> Outcome:
    """A claim of Ada's on this idempotency key."""
    fields: dict[str, Any] = {
        "key": key,
        "owner": "acme/ada",
        "tool": "shop__refund",
        "digest": "d" * 64,
        "created_at": NOON,
    }
    return Outcome(**(fields | changes))


async def ids(storage: Storage, **query: Any) -> list[str]:
    """The ids of the calls that a query gives, in its order."""
    page = await storage.history.calls(HistoryQuery(**query))
    return [row["call_id"] for row in page.calls]


def a_run_error(error_id: str, **changes: Any) -> RunErrorNoted:
    """An error of a run that is none of a call."""
    fields: dict[str, Any] = {
        "run_id": "r",
        "at": NOON,
        "code": "tool_failed",
        "message": "Failed.",
    }
    return RunErrorNoted(error_id=error_id, detail="Traceback", **(fields | changes))


def explain_query(folder: Path, wanted: "Select[Any]") -> list[str]:
    """The plan of a query in the SQLite file of a folder, a line for each of its steps."""
    reading = open_reader(folder / FILE)
    try:
        made = wanted.compile(
            dialect=reading.core.dialect, compile_kwargs={"render_postcompile": True}
        )
        values = [made.params[name] for name in made.positiontup or ()]
        return [row[-1] for row in reading.driver.execute(f"EXPLAIN QUERY PLAN {made}", values)]
    finally:
        reading.close()
