"""Exports of the call history as CSV or as lines of JSON."""

import csv
import io
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pegboard.core.ports.accounts.identity_store import User
from pegboard.core.ports.call_stores import HistoryPage

ExportFormat = Literal["csv", "jsonl"]

JSON_LINES = "application/x-ndjson"
MEDIA_TYPES: Mapping[ExportFormat, str] = {"csv": "text/csv; charset=utf-8", "jsonl": JSON_LINES}

_COLUMNS = (
    "time",
    "name",
    "principal",
    "tenant",
    "tool",
    "source",
    "effect",
    "status",
    "decision",
    "reason",
    "duration_ms",
    "attempts",
    "error_code",
    "error_message",
    "error_id",
    "credential",
    "instead_of",
    "model",
    "tokens",
    "cost",
    "run_id",
    "call_id",
    "arguments_digest",
    "arguments",
    "handle",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets calculate instead of showing it."""

ReadPage = Callable[[str], Awaitable[HistoryPage]]
"""Reads the page behind a cursor."""

ReadPeople = Callable[[Iterable[str]], Awaitable[Mapping[str, User]]]
"""Reads the accounts of people by their ids."""


async def export_calls(
    first: HistoryPage,
    *,
    read: ReadPage,
    read_people: ReadPeople,
    format: ExportFormat,  # noqa: A002 - as in other exports
) -> AsyncGenerator[str]:
    """Write calls page by page, newest first, each with the name and the handle of its caller."""
    if format == "csv":
        yield _write_rows([_COLUMNS])
    page = first
    while True:
        people = await read_people(row["principal"] for row in page.calls)
        rows = [dict(row) | _name(people.get(row["principal"])) for row in page.calls]
        if format == "csv":
            yield _write_rows(map(_cells_of, rows))
        else:
            yield "".join(json.dumps(row) + "\n" for row in rows)
        if not page.next_cursor:
            return
        page = await read(page.next_cursor)


def _name(person: User | None) -> dict[str, str]:
    if person is None:
        return {"name": "", "handle": ""}
    return {"name": person.name, "handle": person.handle}


def _cells_of(row: Mapping[str, Any]) -> list[Any]:
    time = datetime.fromtimestamp(row["started_at"], UTC).isoformat(timespec="milliseconds")
    return [_escape(time if name == "time" else row.get(name)) for name in _COLUMNS]


def _escape(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: names and errors come from others."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value


def _write_rows(rows: Iterable[Iterable[Any]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()
