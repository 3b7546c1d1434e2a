"""How far documents are, on a terminal, while a command waits for them."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self, TextIO

from pegboard.cli.output.tables import to_plain

_MAX_LINES = 8
_STEPS = {
    "waiting": "waits for its turn",
    "converting": "converting",
    "cutting": "cutting",
    "embedding": "embedding",
    "storing": "storing",
}
_UNITS = {"converting": "pages", "embedding": "pieces"}


class DocumentProgress:
    """Draws a line for each document under way, and takes them away at the end.

    It writes nothing unless the stream is a terminal.

    Args:
        is_quiet: Never write anything.
        stream: Where to write; stderr without one.
    """

    def __init__(self, *, is_quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._is_shown = not is_quiet and self._stream.isatty()
        self._live: Any = None

    def __enter__(self) -> Self:
        """Take the lines below the cursor."""
        if self._is_shown:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream, highlight=False, markup=False)
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        """Give them back, as they were."""
        if self._live is not None:
            self._live.__exit__(*raised)

    def show(self, documents: Sequence[Mapping[str, Any]]) -> None:
        """Draw how far documents are."""
        if self._live is None:
            return
        from rich.text import Text

        lines = describe_progress(documents)
        self._live.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"), refresh=True)


def describe_progress(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for each document under way: those that are furthest first, then how many wait."""
    busy = [item for item in documents if item["state"] in _STEPS]
    busy.sort(key=lambda item: (-int(item["step"]), item["created_at"]))
    lines = [
        f"{to_plain(' '.join(item['path'].split()))}: {_describe(item)}"
        for item in busy[:_MAX_LINES]
    ]
    if len(busy) > _MAX_LINES:
        lines.append(f"and {len(busy) - _MAX_LINES} more")
    return lines


def _describe(item: Mapping[str, Any]) -> str:
    state, done, total = item["state"], item["done"], item["total"]
    step = f"{_STEPS[state]}, step {item['step']} of 4" if item["step"] else _STEPS[state]
    return f"{step}, {done} of {total} {_UNITS[state]}" if total and state in _UNITS else step
