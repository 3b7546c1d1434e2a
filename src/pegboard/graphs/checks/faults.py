"""One thing that is wrong with a graph, or worth knowing, and where."""

import re
from dataclasses import dataclass
from typing import Any

from pegboard.core.graph import Graph
from pegboard.errors import Problem

_NODE = re.compile(r"(?:^|\.graph\.)nodes\[(\d+)\]")


def step_at(graph: Graph, place: str) -> str:
    """The path of the node that a place is in, as a run has it; empty for the graph's own."""
    path: list[str] = []
    inner: Graph | None = graph
    for found in _NODE.finditer(place):
        number = int(found[1])
        if inner is None or number >= len(inner.nodes):
            break
        path.append(inner.nodes[number].id)
        inner = inner.nodes[number].graph
    return "/".join(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault, or a note.

    Attributes:
        code: Stable, one per kind of fault.
        place: As `nodes[2].input.text`; inner graphs stand behind their node's.
        step: The path of the node as a run has it: `fetch`, `inner/fetch`; empty for the graph.
        message: A sentence that says what to do about it.
        is_note: Whether the graph can run all the same.
    """

    code: str
    place: str
    message: str
    is_note: bool = False
    step: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message

    @property
    def where(self) -> str:
        """For people: the step, and the place in the document."""
        return f"step '{self.step}' ({self.place})" if self.step else self.place

    @property
    def about(self) -> str:
        """The message, with the step that it is about."""
        return f"Step '{self.step}': {self.message}" if self.step else self.message

    def to_problem(self) -> Problem:
        """As errors say it."""
        return Problem(path=self.place, message=self.about, kind=self.code)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data."""
        severity = "note" if self.is_note else "fault"
        return {
            "code": self.code,
            "place": self.place,
            "step": self.step,
            "message": self.message,
            "severity": severity,
        }
