"""Workbooks: each sheet is a page with one table."""

import datetime as dt
import zipfile
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats.csv_table import MAX_CELLS
from pegboard.documents.formats.markdown_text import MarkdownText, Run
from pegboard.documents.formats.media_types import XLSX
from pegboard.documents.formats.package_check import check_package
from pegboard.documents.formats.refusal import refuse_file

_MAX_COLUMNS = 16_384
"""Of a sheet, as Excel limits them."""


def read_xlsx(file: Path) -> ConvertedDocument:
    """The document of a workbook; cells have the values that were computed last.

    Raises:
        DocumentUnreadable: It is damaged, unfolds to too much, or has no text.
    """
    import openpyxl

    check_package(file)
    with ExitStack() as stack:
        # openpyxl goes by the ending of a name, and what was uploaded is stored without one
        content = stack.enter_context(file.open("rb"))
        opened = cast("Any", openpyxl.load_workbook(content, read_only=True, data_only=True))
        stack.callback(opened.close)
        made = MarkdownText()
        made.pages_in = _count_sheets(file)
        cells = 0
        for number, sheet in enumerate(opened.worksheets, 1):
            made.start_page(number, str(sheet.title))
            cells = _write_sheet(made, sheet, cells)
        made.end_page()
    if not made.length:
        raise refuse_file("empty", "It has no text.")
    for sheet in opened.chartsheets:
        made.add_gap(f"The sheet '{sheet.title}' is a chart.")
    made.pages_in -= len(opened.chartsheets)
    _check_formulas(made, file)
    said = opened.properties
    date = said.modified or said.created
    return made.finish(
        media_type=XLSX,
        converter=f"openpyxl {version('openpyxl')}",
        title=said.title or "",
        date=date.date().isoformat() if date else "",
    )


def _count_sheets(file: Path) -> int:
    """How many sheets the workbook names."""
    with zipfile.ZipFile(file) as package:
        return package.read("xl/workbook.xml").count(b"<sheet ") or len(
            [name for name in package.namelist() if name.startswith("xl/worksheets/sheet")]
        )


def _write_sheet(made: MarkdownText, sheet: Any, cells: int) -> int:
    """Write a sheet, and return how many cells there are by now."""
    hidden = f"The sheet '{sheet.title}' is hidden." if sheet.sheet_state != "visible" else ""
    hidden_rows, hidden_columns = _find_hidden(sheet)
    of_row = hidden or f"Rows of the sheet '{sheet.title}' are hidden."
    of_column = hidden or f"Columns of the sheet '{sheet.title}' are hidden."
    sheet.reset_dimensions()  # what the file says of its size may be anything
    rows: list[list[list[Run]]] = []
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells += len(row)
        if cells > MAX_CELLS:
            raise refuse_file("too_large", f"It has more than {MAX_CELLS:,} cells.")
        if any(value is not None for value in row):
            here = of_row if number in hidden_rows else hidden
            rows.append(
                [
                    [Run(_format(value), here or (of_column if at in hidden_columns else ""))]
                    for at, value in enumerate(row, 1)
                ]
            )
    if rows:
        made.add_heading([Run(str(sheet.title), hidden)], 2)
        made.add_table(rows)
    return cells


def _find_hidden(sheet: Any) -> tuple[set[int], set[int]]:
    """The numbers of the rows and of the columns that are hidden, from 1."""
    from openpyxl.xml import functions

    rows: set[int] = set()
    columns: set[int] = set()
    number = 0
    with sheet._get_source() as source:  # noqa: SLF001 - it reads values and not what is hidden
        for _, found in cast("Any", functions).iterparse(source):
            match found.tag.rpartition("}")[2]:
                case "row":
                    number = int(float(found.get("r") or number + 1))
                    if _is_hidden(found, "ht"):
                        rows.add(number)
                    found.clear()
                case "col" if _is_hidden(found, "width"):
                    last = min(int(found.get("max")), _MAX_COLUMNS)
                    columns.update(range(int(found.get("min")), last + 1))
                case _:
                    pass
    return rows, columns


def _is_hidden(found: Any, size: str) -> bool:
    """Whether the element of a row or of columns says that they are hidden, or have no size."""
    given = found.get(size)
    return found.get("hidden") in {"1", "true"} or (given is not None and float(given) == 0)


def _format(value: Any) -> str:
    """A value as a reader expects it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, dt.datetime):
        midnight = (value.hour, value.minute, value.second) == (0, 0, 0)
        return (
            value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="seconds")
        )
    return str(value)


def _check_formulas(made: MarkdownText, file: Path) -> None:
    """Record a gap for sheets whose formulas were never computed."""
    with zipfile.ZipFile(file) as package:
        names = [name for name in package.namelist() if name.startswith("xl/worksheets/sheet")]
        empty = 0
        for name in names:
            content = package.read(name)
            empty += content.count(b"</f><v></v>") + content.count(b"</f><v/>")
            empty += content.count(b"</f><v />") + content.count(b"</f></c>")
    if empty:
        made.add_gap(f"{empty} formulas have no value: no program has computed them yet.")
