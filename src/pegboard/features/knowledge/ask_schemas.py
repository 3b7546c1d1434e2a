"""Requests and responses about questions to knowledge bases."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.knowledge import RetrievalMode
from pegboard.features.citation_schemas import CitationAnswer, ConflictAnswer

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_ANSWER = ConfigDict(extra="forbid")

MAX_QUESTION = 4_000
"""Characters of a question."""


class AskBase(BaseModel):
    """A question to a base."""

    model_config = _CLOSED

    question: Annotated[str, Field(min_length=1, max_length=MAX_QUESTION, pattern=r"\S")]
    mode: RetrievalMode = "grounding"
    limit: Annotated[int, Field(ge=1, le=50, description="Pieces, at most.")] = 8


class StageAnswer(BaseModel):
    """How one stage found a piece."""

    model_config = _ANSWER

    rank: Annotated[int, Field(description="From 1.")]
    score: Annotated[float, Field(description="Calibrated, 0 to 1.")]


class HitAnswer(BaseModel):
    """A piece that was found."""

    model_config = _ANSWER

    piece: str
    number: int
    document: str
    base: str
    title: str
    edition: str
    page: int
    heading: str
    start: int
    end: int
    text: str
    score: Annotated[float, Field(description="Calibrated, 0 to 1.")]
    stages: Annotated[
        dict[str, StageAnswer],
        Field(description="`words`, `meaning`, `rerank`: those that ran and found it."),
    ]
    citations: Annotated[list[int], Field(description="Numbers of the citations in it.")]


class ConfidenceAnswer(BaseModel):
    """`0.4 * retrieval + 0.4 * alignment + 0.2 * coverage`."""

    model_config = _ANSWER

    value: float
    retrieval: float
    alignment: float
    coverage: float
    threshold: Annotated[float, Field(description="From where on it is enough.")]


class QuestionPartAnswer(BaseModel):
    """A part of a question, and the numbers of the citations that speak to it."""

    model_config = _ANSWER

    text: str
    citations: list[int]


class LookAnswer(BaseModel):
    """How a base was searched."""

    model_config = _ANSWER

    base: str
    name: str
    stages: list[str]
    documents: int
    pieces: int
    not_ready: Annotated[list[str], Field(description="Titles of documents that did not answer.")]
    failure: Annotated[str, Field(description="Why it could not be searched; else empty.")]
    skipped: Annotated[
        list[str],
        Field(description="Stages that failed (`meaning`, `rerank`): the others answered alone."),
    ] = []


AskEnd = Literal["found", "nothing", "enough", "conflict", "not_enough", "failed"]


class AskSummary(BaseModel):
    """A question that you asked before."""

    model_config = _ANSWER

    call: Annotated[str, Field(description="Id of the call.")]
    question: str
    mode: RetrievalMode
    at: Annotated[float, Field(description="Unix seconds.")]
    end: Annotated[AskEnd, Field(description="`found` and `nothing` are those of the simple mode.")]
    citations: int
    confidence: float | None


class AskList(BaseModel):
    """Your last questions to a base, the last first."""

    model_config = _ANSWER

    asks: list[AskSummary]


class AskAnswer(AskSummary):
    """What was found for a question. In the simple mode nothing is judged."""

    reason: Annotated[str, Field(description="Why it is not enough; else empty.")]
    took: Annotated[float, Field(description="Seconds.")]
    hits: list[HitAnswer]
    quotes: Annotated[
        list[CitationAnswer],
        Field(
            description="Its citations, by number; of `not_enough` the nearest that was found, of "
            "the simple mode the passage of each piece that speaks to the question."
        ),
    ]
    conflicts: Annotated[
        list[ConflictAnswer], Field(description="Between its quotes; none of `not_enough`.")
    ]
    parts_of_confidence: ConfidenceAnswer | None
    parts: list[QuestionPartAnswer]
    looks: list[LookAnswer]
    left_out: Annotated[
        int, Field(description="Quotes that were dropped because they do not stand in the text.")
    ]
