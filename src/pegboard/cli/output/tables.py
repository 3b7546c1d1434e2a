"""What people and scripts read: tables on a terminal, JSON when asked."""

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any


def say(text: str) -> None:
    """A line for whoever asked: as it is in a pipe, and so that it cannot steer a terminal."""
    sys.stdout.write(f"{_plain(text) if sys.stdout.isatty() else text}\n")


def note(text: str) -> None:
    """A line beside the answer: on stderr, so that the answer can be piped."""
    sys.stderr.write(f"{_plain(text)}\n")


def say_json(value: Any) -> None:
    """JSON, indented, with a newline."""
    say(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table; as wide as the terminal, or as wide as needed in a pipe."""
    from rich.console import Console
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        drawn.add_column(heading, overflow="fold")
    for row in rows:
        drawn.add_row(*(_plain(cell) for cell in row))
    terminal = sys.stdout.isatty()
    Console(width=None if terminal else 200, highlight=False, markup=False).print(drawn)


def moment(seconds: float) -> str:
    """A time, given in Unix seconds, where the reader is."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC).astimezone():%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):  # a run may wait for longer than calendars go
        return "never"


def counted(number: int, noun: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def first_line(text: str) -> str:
    """The first line of a description, cut at 90 characters."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 90 else f"{line[:89]}…"


def _plain(cell: str) -> str:
    """Without control characters, which a foreign text could steer a terminal with."""
    return "".join(char if char.isprintable() or char in "\n\t" else "�" for char in cell)
