"""`pegboard kb add` shows on a terminal how far documents are."""

from io import StringIO
from typing import Any

from pegboard.cli.commands.kb.progress import DocumentProgress, describe_progress


class Terminal(StringIO):
    """A stream that a person reads."""

    def isatty(self) -> bool:
        return True


def make(path: str, state: str, **more: Any) -> dict[str, Any]:
    """A document as it is listed."""
    return {"path": path, "state": state, "step": 0, "done": 0, "total": 0, "created_at": 1} | more


DOCUMENTS = [
    make("late.md", "waiting"),
    make("old.md", "ready"),
    make("book.pdf", "embedding", step=3, done=64, total=188),
]


def test_a_document_under_way_has_a_line_and_the_furthest_stands_first() -> None:
    assert describe_progress(DOCUMENTS) == [
        "book.pdf: embedding, step 3 of 4, 64 of 188 pieces",
        "late.md: waits for its turn",
    ]


def test_of_many_documents_the_rest_is_counted() -> None:
    lines = describe_progress([make(f"{number}.md", "waiting") for number in range(20)])

    assert (len(lines), lines[-1]) == (9, "and 12 more")


def test_a_terminal_shows_the_lines_and_is_left_without_them() -> None:
    stream = Terminal()

    with DocumentProgress(stream=stream) as progress:
        progress.show(DOCUMENTS)
        shown = stream.getvalue()

    assert "book.pdf: embedding" in shown
    assert "\x1b[2K" in stream.getvalue()[len(shown) :]


def test_a_pipe_and_a_quiet_command_show_nothing() -> None:
    pipe, terminal = StringIO(), Terminal()

    for progress in (
        DocumentProgress(stream=pipe),
        DocumentProgress(is_quiet=True, stream=terminal),
    ):
        with progress:
            progress.show(DOCUMENTS)

    assert pipe.getvalue() + terminal.getvalue() == ""


def test_a_name_does_not_steer_the_terminal() -> None:
    (line,) = describe_progress([make("a\x1b]0;taken\x07\nb.md", "waiting")])

    assert "\x1b" not in line
    assert "\n" not in line
