"""The knowledge port: what the tools of knowledge bases ask of the board; sources know no store."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct

from pegboard.core.context import ToolContext
from pegboard.core.knowledge import CitedAnswer
from pegboard.core.principal import Principal


class KnowledgeReply(Struct, frozen=True, kw_only=True):
    """The answer of a tool.

    Attributes:
        text: For a model: what documents say stands in it as data.
        data: The same for programs, with citations.
        tokens: What models used for it; None where none took part.
        cost: Of that, in US dollars; None where a price is not known.
        model: The model that took part.
    """

    text: str
    data: Mapping[str, Any]
    tokens: int | None = None
    cost: float | None = None
    model: str = ""


class KnowledgeBases(Protocol):
    """Answers for the caller of a call, from the bases that step 3 of assembly let through.

    `bases` are names or ids; empty means all that the caller may see. A name that is not there, or
    that the caller may not see, ends in the same `ResourceNotFound`, and a document or piece in the
    same `DocumentNotFound`. Citations are numbered on within a conversation or run.
    """

    def describe(self, principal: Principal) -> Mapping[str, str]:
        """The bases that a caller may see, with what can be asked of them, by name; no query."""
        ...

    async def list(self, ctx: ToolContext[Any]) -> KnowledgeReply:
        """The bases, by name."""
        ...

    async def retrieve(
        self, question: str, ctx: ToolContext[Any], *, bases: Sequence[str] = (), limit: int = 8
    ) -> KnowledgeReply:
        """The best pieces for a question."""
        ...

    async def ground(
        self, question: str, ctx: ToolContext[Any], *, bases: Sequence[str] = (), limit: int = 8
    ) -> KnowledgeReply:
        """Checked quotes for a question, their conflicts, and whether they are enough."""
        ...

    async def read(self, document: str, ctx: ToolContext[Any], *, base: str = "") -> str:
        """The whole text of a document in its frame, without places that a reviewer leaves out."""
        ...

    async def open(
        self, document: str, ctx: ToolContext[Any], *, page: int = 1, pages: int = 1
    ) -> KnowledgeReply:
        """The pieces of pages of a document; those that this run has seen are left out."""
        ...

    async def grep(
        self, document: str, pattern: str, ctx: ToolContext[Any], *, limit: int = 20
    ) -> KnowledgeReply:
        """The pieces of a document in which a text stands, upper and lower case alike."""
        ...

    async def around(
        self, piece: str, ctx: ToolContext[Any], *, before: int = 1, after: int = 1
    ) -> KnowledgeReply:
        """The pieces before and after one; those that this run has seen are left out."""
        ...


class AnswerCiter(Protocol):
    """Checks the numbers that an answer cites by."""

    async def cite(self, text: str, run: str, *, question: str = "") -> CitedAnswer:
        """An answer without the numbers that no quote carries.

        Args:
            text: The answer, with numbers as `[1]`.
            run: That has made it; what its calls have found is what it may cite.
            question: What was asked.
        """
        ...


@runtime_checkable
class BaseDescriber(Protocol):
    """A tool that knows which bases a caller may see."""

    def describe(self, principal: Principal) -> Mapping[str, str]:
        """The bases that a caller may see, with what can be asked of them, by name."""
        ...
