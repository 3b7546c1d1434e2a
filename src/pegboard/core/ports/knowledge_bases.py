"""The knowledge port: what the tools of knowledge bases ask of the board; sources know no store."""

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from pegboard.core.context import ToolContext
from pegboard.core.knowledge import Evidence, Piece, Retrieval


class BaseSummary(Struct, frozen=True, kw_only=True):
    """A base that a caller may see."""

    id: str
    name: str
    title: str = ""
    description: str = ""
    documents: int = 0
    pieces: int = 0


class KnowledgeBases(Protocol):
    """Answers for the caller of a call, from the bases that step 3 of assembly let through.

    `bases` are names; empty means all that the caller may see. A name that is not there, or that
    the caller may not see, ends in the same `ResourceNotFound`.
    """

    async def list(self, ctx: ToolContext[Any]) -> Sequence[BaseSummary]:
        """The bases, by name."""
        ...

    async def retrieve(
        self, question: str, ctx: ToolContext[Any], *, bases: Sequence[str] = (), limit: int = 8
    ) -> Retrieval:
        """The best pieces for a question."""
        ...

    async def ground(
        self, question: str, ctx: ToolContext[Any], *, bases: Sequence[str] = (), limit: int = 8
    ) -> Evidence:
        """Checked quotes for a question, their conflicts, and whether they are enough."""
        ...

    async def open(
        self, document: str, ctx: ToolContext[Any], *, page: int = 1, pages: int = 1
    ) -> Sequence[Piece]:
        """The pieces of pages of a document; those that this run has seen are left out."""
        ...

    async def grep(
        self, document: str, pattern: str, ctx: ToolContext[Any], *, limit: int = 20
    ) -> Sequence[Piece]:
        """The pieces of a document in which a text stands, upper and lower case alike."""
        ...

    async def around(
        self, piece: str, ctx: ToolContext[Any], *, before: int = 1, after: int = 1
    ) -> Sequence[Piece]:
        """The pieces before and after one; those that this run has seen are left out."""
        ...
