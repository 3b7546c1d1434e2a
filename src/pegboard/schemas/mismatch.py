"""One reason why values may not fit a schema, and what finds such reasons."""

from dataclasses import dataclass, replace
from typing import Any, Protocol

from pegboard.schemas.document import Document
from pegboard.schemas.type_facts import Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """One thing that does not surely fit.

    Attributes:
        path: Where in the values, as `items[].price`; empty for the whole.
        message: What may come and what is wanted.
    """

    message: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message

    def within(self, step: str) -> "Mismatch":
        """The same, seen from one step further out: a property's name, or `[]`."""
        dot = "." if self.path and not self.path.startswith("[") else ""
        return replace(self, path=f"{step}{dot}{self.path}")


class Comparing(Protocol):
    """What the rules for single keywords need of the whole comparison."""

    def mismatches(self, given: Values, document: Document, wanted: Any) -> list[Mismatch]:
        """Why values may not fit a schema of this document; nothing when they surely do."""
        ...

    def inside(self, step: str, given: Values, document: Document, wanted: Any) -> list[Mismatch]:
        """The same for what the values hold at this step."""
        ...

    def may_go_on(self) -> bool:
        """Whether one more step may be taken; a comparison does not go on for ever."""
        ...
