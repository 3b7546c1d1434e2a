"""Documents, what is found in them, and what stands on it: values of knowledge bases."""

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

BlockKind = Literal["heading", "paragraph", "list", "table", "code", "picture"]
FindingKind = Literal["orders", "hidden", "link"]
DocumentState = Literal[
    "waiting", "converting", "cutting", "embedding", "storing", "ready", "held", "failed"
]
UNFINISHED: tuple[DocumentState, ...] = ("waiting", "converting", "cutting", "embedding", "storing")
"""The states of a document whose run has not ended."""
RetrievalMode = Literal["simple", "grounding"]
ConflictJudge = Literal["model", "figures", "dates", "names", "negation"]


class PageSpan(Struct, frozen=True):
    """Where a page stands in the text of its document: offsets in characters, `end` excluded.

    Attributes:
        number: From 1; of a sheet or a slide its position.
        label: What the document calls it: the name of a sheet, a roman number; empty for none.
    """

    number: int
    start: int
    end: int
    label: str = ""


class TextBlock(Struct, frozen=True):
    """A part of a document that is not cut if it fits: offsets in characters, `end` excluded.

    Attributes:
        level: Of a heading, from 1; else 0.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0


class DocumentFinding(Struct, frozen=True, kw_only=True):
    """A place in a document that is not what it seems.

    Attributes:
        kind: `orders` speaks to a model; `hidden` is text that a reader does not see; `link`
            carries data to an address.
        start: Offset in characters.
        end: Offset in characters, excluded.
        page: From 1; 0 for a document without pages.
        reason: What is wrong with it, in a sentence.
    """

    kind: FindingKind
    start: int
    end: int
    page: int = 0
    reason: str = ""


class Gap(Struct, frozen=True):
    """A page, a table or a picture that did not come out of a document.

    Attributes:
        page: From 1; 0 for the document as a whole.
        reason: Why, in a sentence.
    """

    page: int
    reason: str


class Receipt(Struct, frozen=True, kw_only=True):
    """What went into a conversion, and what came out of it.

    Attributes:
        pictures: In all of it, headers and notes included.
        edges: Headers and footers of a Word document, each text once.
        notes: Its footnotes and endnotes.
        comments: Its comments.
    """

    pages_in: int = 0
    pages_out: int = 0
    tables: int = 0
    pictures: int = 0
    characters: int = 0
    gaps: tuple[Gap, ...] = ()
    edges: int = 0
    notes: int = 0
    comments: int = 0


class ConvertedDocument(Struct, frozen=True, kw_only=True):
    """The text of a document as Markdown, with where everything stands in it.

    Attributes:
        text: All pages; every offset counts its characters.
        media_type: By content, not by name.
        title: From the document itself; empty when it says none.
        date: `YYYY-MM-DD` from the document itself; empty when it says none.
        pages: In order; empty for a format without pages.
        blocks: In order, without overlaps.
        converter: Name and version of the library that made it.
    """

    text: str
    media_type: str
    title: str = ""
    date: str = ""
    pages: tuple[PageSpan, ...] = ()
    blocks: tuple[TextBlock, ...] = ()
    findings: tuple[DocumentFinding, ...] = ()
    receipt: Receipt = Receipt()
    converter: str = ""


class Piece(Struct, frozen=True, kw_only=True):
    """A stretch of a document that is found as one.

    Attributes:
        id: Unique on a board, the same for the same text at the same place of a document.
        number: Its position in the document, from 1.
        page: Where it starts, from 1; 0 for a document without pages.
        start: Offset in the text of the document, in characters.
        end: Offset, excluded.
        heading: The headings above it, joined by ` > `.
    """

    id: str
    document: str
    base: str
    number: int
    text: str
    start: int
    end: int
    page: int = 0
    heading: str = ""


class Hit(Struct, frozen=True, kw_only=True):
    """A piece that was found.

    Attributes:
        score: Calibrated, 0 to 1; means the same with and without an embedder or a reranker.
        title: Of its document.
        edition: The date or name of the edition; empty for none.
        stages: By stage (`words`, `meaning`, `rerank`): its rank there, from 1. A stage that did
            not run, or did not find it, is left out.
        scores: By stage, the calibrated score there, 0 to 1.
    """

    piece: Piece
    score: float
    title: str = ""
    edition: str = ""
    stages: Mapping[str, int] = {}
    scores: Mapping[str, float] = {}


class BaseLook(Struct, frozen=True, kw_only=True):
    """How one base was searched.

    Attributes:
        base: Its id.
        name: Its name.
        stages: The stages that ran.
        documents: How many ready documents of it the caller may see.
        not_ready: Ids of documents that the caller may see and that do not answer yet.
        failure: Why it could not be searched; empty when it was.
        skipped: The stages that failed (`meaning`, `rerank`), so that the others answered alone.
    """

    base: str
    name: str
    stages: tuple[str, ...] = ()
    documents: int = 0
    pieces: int = 0
    not_ready: tuple[str, ...] = ()
    failure: str = ""
    skipped: tuple[str, ...] = ()


class Retrieval(Struct, frozen=True, kw_only=True):
    """What was found for a question, best first."""

    question: str
    hits: tuple[Hit, ...] = ()
    looks: tuple[BaseLook, ...] = ()


class Citation(Struct, frozen=True, kw_only=True):
    """A quote that stands, word for word, in a piece.

    Attributes:
        number: `[n]` in the answer, from 1.
        quote: The text between `start` and `end`.
        start: Offset in the text of the document, in characters.
        end: Offset, excluded.
        alignment: How well it supports the question or claim, 0 to 1; None if not judged.
        revision: Of the text of the document that the offsets count in.
    """

    number: int
    piece: str
    document: str
    base: str
    quote: str
    start: int
    end: int
    title: str = ""
    edition: str = ""
    page: int = 0
    heading: str = ""
    alignment: float | None = None
    revision: int = 1


class Conflict(Struct, frozen=True, kw_only=True):
    """Two verified quotes of different documents that contradict each other.

    Attributes:
        first: The number of a citation.
        second: The number of another.
        judge: Who says so.
        about: What they disagree on, in a few words.
    """

    first: int
    second: int
    judge: ConflictJudge
    about: str = ""


class Confidence(Struct, frozen=True, kw_only=True):
    """`0.4 * retrieval + 0.4 * alignment + 0.2 * coverage`, each 0 to 1.

    Attributes:
        retrieval: Mean of the three best calibrated scores.
        alignment: Mean of the three best alignments.
        coverage: The share of the question's parts for which evidence was found.
        threshold: From where on it is enough.
    """

    value: float
    retrieval: float
    alignment: float
    coverage: float
    threshold: float


class QuestionPart(Struct, frozen=True):
    """A part of a question, and the numbers of the citations that speak to it."""

    text: str
    citations: tuple[int, ...] = ()


class Evidence(Struct, frozen=True, kw_only=True):
    """The outcome of grounding a question.

    Attributes:
        enough: Whether the citations answer it.
        reason: Why not, in a sentence; empty when they do.
        citations: The quotes; where they are not enough, the nearest that was found.
        conflicts: Between citations; none where they are not enough.
        left_out: How many quotes were dropped because they do not stand in their piece.
    """

    question: str
    enough: bool
    reason: str = ""
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    confidence: Confidence | None = None
    parts: tuple[QuestionPart, ...] = ()
    retrieval: Retrieval = Retrieval(question="")
    left_out: int = 0


class CitedAnswer(Struct, frozen=True, kw_only=True):
    """An answer of a model whose numbers were checked against the stored texts.

    Attributes:
        text: Without the numbers that failed.
        citations: Those whose numbers are left, and those that contradict one of them.
        left_out: How many numbers were dropped.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    left_out: int = 0
