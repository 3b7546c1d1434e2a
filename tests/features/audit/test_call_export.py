"""Exports of calls: every page once, and no cell that a spreadsheet calculates."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from pegboard.core.ports.accounts.identity_store import User
from pegboard.core.ports.call_stores import HistoryPage
from pegboard.features.audit.call_export import ExportFormat, export_calls


def a_call(number: int, **changes: Any) -> dict[str, Any]:
    row = {"call_id": f"c{number}", "started_at": 60.5 + number, "principal": "u_1", "tool": "add"}
    return row | {"duration_ms": 1.5, "error_message": "", "tokens": None} | changes


PAGES = {
    "": HistoryPage(calls=[a_call(3), a_call(2)], next_cursor="more"),
    "more": HistoryPage(calls=[a_call(1)]),
}


async def write(pages: Mapping[str, HistoryPage], format: ExportFormat) -> str:
    async def read(cursor: str) -> HistoryPage:
        return pages[cursor]

    async def read_people(ids: Iterable[str]) -> dict[str, User]:
        ada = User(id="u_1", handle="ada", name="Ada", created_at=0.0)
        return dict.fromkeys(ids, ada)

    parts = export_calls(pages[""], read=read, read_people=read_people, format=format)
    return "".join([part async for part in parts])


async def test_lines_of_json_have_each_page_once() -> None:
    lines = [json.loads(line) for line in (await write(PAGES, "jsonl")).splitlines()]

    assert lines == [a_call(number) | {"name": "Ada", "handle": "ada"} for number in (3, 2, 1)]


async def test_csv_has_times_and_names() -> None:
    rows = list(csv.DictReader(io.StringIO(await write(PAGES, "csv"))))

    assert [
        (row["time"], row["name"], row["handle"], row["call_id"], row["tokens"]) for row in rows
    ] == [
        ("1970-01-01T00:01:03.500+00:00", "Ada", "ada", "c3", ""),
        ("1970-01-01T00:01:02.500+00:00", "Ada", "ada", "c2", ""),
        ("1970-01-01T00:01:01.500+00:00", "Ada", "ada", "c1", ""),
    ]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"], ids=repr)
async def test_no_text_of_others_is_a_formula_in_a_spreadsheet(start: str) -> None:
    text = f'{start}HYPERLINK("https://evil.example", "open")'
    page = HistoryPage(calls=[a_call(1, error_message=text, duration_ms=-1.5)])

    (row,) = csv.DictReader(io.StringIO(await write({"": page}, "csv"), newline=""))

    assert row["error_message"] == f"'{text}"
    assert row["duration_ms"] == "-1.5"  # a number is no text
