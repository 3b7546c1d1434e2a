"""`PreparedSearch`: what a search knows of the meaning of its question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.registry.search_index import NearTools

MEANING = "meaning"
"""The stage of a search that compares vectors."""
BY_WORDS_ONLY = (
    "Searched by words only, as the embedding model has not answered: tools that are described in "
    "other words may be missing."
)
"""Where the stage was skipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedSearch:
    """What was prepared for one question; `ToolRegistry.prepare_search` makes it.

    Attributes:
        question: The search text; for another one the search is by words alone.
        meanings: How near tools lie to each thing that it asks for, by its text.
        skipped: `("meaning",)` where vectors should have been compared, and were not.
    """

    question: str = ""
    meanings: "Mapping[str, NearTools]" = field(default_factory=dict[str, "NearTools"])
    skipped: tuple[str, ...] = ()

    def find_meanings(self, question: str) -> "Mapping[str, NearTools] | None":
        """What is known for a question; None for nothing."""
        return self.meanings if self.meanings and question == self.question else None


BY_WORDS = PreparedSearch()
"""For a search by words."""
