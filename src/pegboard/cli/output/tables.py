"""Output for people and scripts: lines, tables and JSON."""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

_CONTROLS = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]|\\r(?!\\n)"
)
"""Control characters but tab and the ends of lines, and those that set the direction of text."""


def say(text: str) -> None:
    """Print a line to stdout; on a terminal without control characters."""
    sys.stdout.write(f"{to_plain(text) if sys.stdout.isatty() else text}\n")


def note(text: str) -> None:
    """Print a line to stderr, beside the answer."""
    sys.stderr.write(f"{to_plain(text)}\n")


def say_json(value: Any) -> None:
    """Print indented JSON; NaN and infinities become null."""
    try:
        text = _write_json(value)
    except ValueError:
        from pegboard.schemas.strict_json import replace_not_finite

        text = _write_json(replace_not_finite(value))
    say(text)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table, as wide as the terminal, or 200 columns in a pipe."""
    from rich.console import Console
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        drawn.add_column(heading, overflow="fold")
    for row in rows:
        drawn.add_row(*(to_plain(cell) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False)
    with console.capture() as captured:
        console.print(drawn)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def format_time(seconds: float) -> str:
    """Format Unix seconds in the local time zone."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC).astimezone():%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):  # a run may wait for longer than calendars go
        return "never"


def count_noun(number: int, noun: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def first_line(text: str) -> str:
    """The first line of a description, cut at 90 characters."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 90 else f"{line[:89]}…"


def _write_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str, allow_nan=False)


def to_plain(cell: str) -> str:
    """Replace control characters, which could control the terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in cell)


def without_controls(text: str) -> str:
    """Replace what could control a terminal behind a pipe, and leave all other text as it is."""
    return _CONTROLS.sub("�", text)
