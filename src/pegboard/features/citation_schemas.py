"""Citations in responses: of answers in conversations, and of knowledge bases."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.knowledge import ConflictJudge

_ANSWER = ConfigDict(extra="forbid")


class CitationAnswer(BaseModel):
    """A quote that stands, word for word, in the text of a document."""

    model_config = _ANSWER

    number: Annotated[int, Field(description="`[n]` in the answer.")]
    piece: str
    document: str
    base: str
    quote: Annotated[str, Field(description="Empty once the document is deleted.")]
    start: Annotated[int, Field(description="Offset in the text of the document.")]
    end: int
    title: str
    edition: str
    page: int
    heading: str
    alignment: Annotated[
        float | None, Field(description="How well it supports the claim; null if not judged.")
    ]
    revision: Annotated[int, Field(description="Of the text that the offsets count in.")]
    is_deleted: Annotated[bool, Field(description="Whether the document was deleted.")] = False


class ConflictAnswer(BaseModel):
    """Two citations of different documents that contradict each other."""

    model_config = _ANSWER

    first: int
    second: int
    judge: ConflictJudge
    about: str
