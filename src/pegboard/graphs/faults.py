"""One thing that is wrong with a graph, or worth knowing, and where."""

from dataclasses import dataclass
from typing import Any

from pegboard.errors import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault, or a note.

    Attributes:
        code: Stable, one per kind of fault.
        place: As `nodes[2].input.text`; inner graphs stand behind their node's.
        message: A sentence that says what to do about it.
        is_note: Whether the graph can run all the same.
    """

    code: str
    place: str
    message: str
    is_note: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message

    def to_problem(self) -> Problem:
        """As errors say it."""
        return Problem(path=self.place, message=self.message, kind=self.code)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data."""
        severity = "note" if self.is_note else "fault"
        return {
            "code": self.code,
            "place": self.place,
            "message": self.message,
            "severity": severity,
        }
