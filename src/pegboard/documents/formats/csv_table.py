"""CSV: one table, its first row as the head."""

import csv
import io
from pathlib import Path

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats.encodings import decode_text
from pegboard.documents.formats.markdown_text import MarkdownText
from pegboard.documents.formats.media_types import CSV, TSV
from pegboard.documents.formats.refusal import refuse_file

MAX_CELLS = 2_000_000
_SAMPLE = 64 * 1024
_MAX_FIELD = 1_000_000


def read_csv(file: Path, *, media_type: str = CSV) -> ConvertedDocument:
    """The document of a CSV file.

    Raises:
        DocumentUnreadable: It is no table of text, has no text, or too many cells.
    """
    text = decode_text(file.read_bytes())
    csv.field_size_limit(_MAX_FIELD)
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in csv.reader(io.StringIO(text), delimiter=_delimiter(text, media_type)):
            cells += len(row)
            if cells > MAX_CELLS:
                raise refuse_file("too_large", f"It has more than {MAX_CELLS:,} cells.")
            rows.append(row)
    except csv.Error as error:
        raise refuse_file("broken", f"It is no CSV: {error}.") from error
    made = MarkdownText()
    made.add_table(rows)
    if not made.length:
        raise refuse_file("empty", "It has no text.")
    return made.finish(media_type=media_type, converter="pegboard csv 1")


def _delimiter(text: str, media_type: str) -> str:
    """The separator that parts the first lines into the same number of fields."""
    if media_type == TSV:
        return "\t"
    lines = [line for line in text[:_SAMPLE].split("\n") if line.strip()][:20]
    best, score = ",", 0.0
    for candidate in ",;\t|":
        widths = [len(row) for row in csv.reader(lines, delimiter=candidate)]
        common = max(set(widths), key=widths.count) if widths else 1
        if common > 1 and widths.count(common) / len(widths) * common**0.1 > score:
            best, score = candidate, widths.count(common) / len(widths) * common**0.1
    return best
