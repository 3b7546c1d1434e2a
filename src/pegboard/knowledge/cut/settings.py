"""How documents are cut."""

from typing import Literal

from msgspec import Struct

CutMethod = Literal["recursive", "heading", "fixed", "semantic"]


class CutSettings(Struct, frozen=True, kw_only=True):
    """How documents are cut.

    Attributes:
        method: `recursive` packs blocks until a piece is full; `heading` makes one of each section;
            `fixed` counts words alone; `semantic` parts where the meaning changes.
        tokens: How many a piece has at most, as of `measure_text`. Pieces of some 100 words are
            found best by their words.
        overlap: Of `fixed`: how many tokens of a piece stand in the next one too.
    """

    method: CutMethod = "recursive"
    tokens: int = 220
    overlap: int = 0
