"""Requests and responses about the texts of a document, what changed in them, and who cites it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.knowledge import FindingKind
from pegboard.features.knowledge.schemas import FindingAnswer

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_ANSWER = ConfigDict(extra="forbid")
_REVISION = Field(ge=1, le=2_000_000_000)

MAX_SHOWN = 2_000
"""Characters of a passage."""


class ChangesQuery(BaseModel):
    """Which texts of a document to compare."""

    model_config = _CLOSED

    since: Annotated[
        int | None, _REVISION, Field(description="The earlier text; null for the one before.")
    ] = None
    until: Annotated[
        int | None, _REVISION, Field(description="The later text; null for the current one.")
    ] = None
    start: Annotated[
        int, Field(ge=0, le=10_000_000, description="So many passages are left out; `next_start`.")
    ] = 0
    limit: Annotated[int, Field(ge=1, le=200, description="Passages, at most.")] = 50


class ChangedSide(BaseModel):
    """A passage in one of two texts."""

    model_config = _ANSWER

    page: Annotated[int, Field(description="From 1; 0 for a text without pages.")]
    start: Annotated[int, Field(description="Offset in that text, in characters.")]
    end: Annotated[int, Field(description="Offset, excluded.")]
    text: Annotated[str, Field(description="As data; at most 2,000 characters.")]
    contains: Annotated[
        list[FindingKind], Field(description="What of it is not what it seems, as of a finding.")
    ]


class ChangedPassage(BaseModel):
    """Lines that follow each other and were added, removed or changed."""

    model_config = _ANSWER

    kind: Literal["added", "removed", "changed"]
    before: Annotated[ChangedSide | None, Field(description="Null for an added passage.")]
    after: Annotated[ChangedSide | None, Field(description="Null for a removed passage.")]


class ChangesAnswer(BaseModel):
    """What changed between two texts of a document: counts, then passages in their order."""

    model_config = _ANSWER

    document: str
    since: Annotated[int, Field(description="Revision; 0 where there is no text before.")]
    until: Annotated[int, Field(description="Revision.")]
    current_revision: int
    pages: Annotated[int, Field(description="Of the later text; 0 without pages.")]
    changed_pages: Annotated[int, Field(description="Of these, how many have a changed passage.")]
    added: Annotated[int, Field(description="Passages.")]
    removed: Annotated[int, Field(description="Passages.")]
    changed: Annotated[int, Field(description="Passages.")]
    passages: list[ChangedPassage]
    next_start: Annotated[int | None, Field(description="Null when these were the last ones.")]


class PageDifferenceAnswer(BaseModel):
    """The pages of a new text beside those of the text before; numbers count from 1."""

    model_config = _ANSWER

    total: Annotated[int, Field(description="Of the new text; 0 for a format without pages.")]
    unchanged: Annotated[int, Field(description="Pages that the text before has, wherever.")]
    changed: list[int]
    new: list[int]
    vanished: Annotated[list[int], Field(description="Numbers in the text before.")]


class PassageCounts(BaseModel):
    """How many passages differ: lines that follow each other."""

    model_config = _ANSWER

    added: int
    removed: int
    changed: int


class FileCheckAnswer(BaseModel):
    """What taking a file in would do; nothing was stored."""

    model_config = _ANSWER

    outcome: Annotated[
        Literal["new", "changed", "already_here"],
        Field(description="`changed` takes the place of `document`."),
    ]
    name: str
    document: Annotated[
        str | None, Field(description="Id of the document that it was compared with.")
    ]
    title: Annotated[str, Field(description="Of that document.")]
    pages: PageDifferenceAnswer
    passages: PassageCounts
    pieces: Annotated[int, Field(description="Of the new text.")]
    embedded: Annotated[
        int, Field(description="Pieces that the embedding model would be sent; the rest has some.")
    ]
    held: Annotated[int, Field(description="Places that would hold it back for a review.")]


class CitingAnswerView(BaseModel):
    """An answer of yours that cites a document."""

    model_config = _ANSWER

    kind: Annotated[
        Literal["conversation", "ask", "run"],
        Field(description="Whether it stands in a conversation, under a question, or in a run."),
    ]
    id: Annotated[str, Field(description="Of the conversation, the call or the run.")]
    exchange: Annotated[str, Field(description="Of a conversation: the id of the message.")]
    title: Annotated[str, Field(description="Of the conversation, else the question.")]
    question: str
    at: Annotated[float, Field(description="Unix seconds.")]
    numbers: Annotated[list[int], Field(description="The numbers by which it cites the document.")]


class CitingAnswersQuery(BaseModel):
    """Which of your answers that cite a document are shown."""

    model_config = _CLOSED

    limit: Annotated[
        int,
        Field(
            ge=1,
            le=500,
            description="How many answers end a page, which has all of a conversation.",
        ),
    ] = 100
    cursor: Annotated[
        str, Field(max_length=400, description="`next_cursor` of the page before; empty at first.")
    ] = ""


class CitingAnswerList(BaseModel):
    """A page of your answers that cite a document, the last first."""

    model_config = _ANSWER

    answers: list[CitingAnswerView]
    next_cursor: Annotated[str | None, Field(description="Null when this was the last page.")]


class PieceAnswer(BaseModel):
    """A piece of a document."""

    model_config = _ANSWER

    id: str
    number: int
    start: Annotated[int, Field(description="Offset in the text of the document.")]
    end: Annotated[int, Field(description="Offset, excluded.")]
    page: int
    heading: str


class TextAnswer(BaseModel):
    """The text of a page of a document."""

    model_config = _ANSWER

    document: str
    revision: int
    current_revision: int
    page: Annotated[int, Field(description="From 1; 0 for a document without pages.")]
    pages: int
    label: Annotated[str, Field(description="What the document calls the page, as a sheet.")]
    start: Annotated[int, Field(description="Offset of this text in the text of the document.")]
    end: int
    next_offset: Annotated[
        int | None, Field(description="Where the page goes on; null when it was shown to its end.")
    ]
    text: str
    pieces: list[PieceAnswer]
    findings: list[FindingAnswer]


class TextQuery(BaseModel):
    """Which text of a document to show."""

    model_config = _CLOSED

    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    revision: Annotated[
        int | None,
        Field(ge=1, le=2_000_000_000, description="Of the text; null for the current one."),
    ] = None
    offset: Annotated[
        int | None, Field(ge=0, description="Show the page with this character instead.")
    ] = None
    limit: Annotated[
        int | None,
        Field(
            ge=1,
            le=1_000,
            description="So many pieces of the page, from `offset` or its start; null for all.",
        ),
    ] = None
