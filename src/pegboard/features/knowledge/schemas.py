"""Requests and responses about knowledge bases and their documents."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pegboard.core.knowledge import DocumentState, FindingKind
from pegboard.core.ports.knowledge.document_store import Audience
from pegboard.features.conversations.schemas import ChatFile
from pegboard.features.files.schemas import FileName, FilePath

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_ANSWER = ConfigDict(extra="forbid")

MAX_CRAWLED = 500
"""The most pages below a web address."""

CutMethod = Literal["heading", "recursive", "fixed", "semantic"]
Title = Annotated[str, Field(max_length=200, description="For display.")]
Description = Annotated[str, Field(max_length=2_000, description="What can be asked of it.")]
Organisation = Annotated[
    str, Field(max_length=64, description="Handle of the organisation that it is shared with.")
]
Shared = Annotated[
    Literal["private", "organisation", "global"],
    Field(description="Who sees it beside its owner; operators alone make something `global`."),
]
Edition = Annotated[
    str,
    Field(max_length=60, description="A date (`YYYY-MM-DD`) or a name that orders editions."),
]
DocumentAudience = Annotated[
    Audience,
    Field(
        description="Who sees it: all who see the base, or fewer: an organisation, or its owner."
    ),
]


class BaseSettings(BaseModel):
    """How the documents of a base are taken in."""

    model_config = _CLOSED

    cut: Annotated[CutMethod, Field(description="How documents are cut into pieces.")] = "recursive"
    tokens: Annotated[
        int, Field(ge=40, le=2_000, description="Size of a piece, in tokens, at most.")
    ] = 220
    embedder: Annotated[
        str | None,
        Field(
            max_length=200,
            description="The embedding model, one that the board file names; null for the "
            "board's, empty to work by words only.",
        ),
    ] = None


class AddBase(BaseModel):
    """A base to add."""

    model_config = _CLOSED

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=30,
            description="Without the handle of its owner, which is put before it.",
        ),
    ]
    title: Title = ""
    description: Description = ""
    organisation: Organisation = ""
    visibility: Shared = "private"
    settings: BaseSettings = BaseSettings()


class ChangeBase(BaseModel):
    """What to change of a base; a field that is not sent stays as it is."""

    model_config = _CLOSED

    title: Title | None = None
    description: Description | None = None
    organisation: Organisation | None = None
    visibility: Shared | None = None
    settings: BaseSettings | None = None


class DocumentCounts(BaseModel):
    """How many documents of a base you see, by how far they are."""

    model_config = _ANSWER

    ready: int
    working: Annotated[int, Field(description="Waiting, or being taken in.")]
    held: Annotated[int, Field(description="Held back until somebody reviews them.")]
    failed: int


class EmbeddingProgress(BaseModel):
    """How far the vectors of another model are; until then the old ones answer."""

    model_config = _ANSWER

    embedder: str
    done: int
    total: int


class GatheringFault(BaseModel):
    """Why a file or a page could not be taken in."""

    model_config = _ANSWER

    place: Annotated[str, Field(description="Path in the folder, or address.")]
    code: str
    message: str


class GatheringAnswer(BaseModel):
    """How the last look at a folder or an address went."""

    model_config = _ANSWER

    source: Annotated[str, Field(description="Folder or address.")]
    run: Annotated[str, Field(description="The run that looks through it, if you may see it.")]
    ended_at: Annotated[
        float | None, Field(description="Unix seconds; null while it is being looked through.")
    ]
    failed: Annotated[int, Field(description="Files or pages that could not be taken in.")]
    faults: Annotated[list[GatheringFault], Field(description="Of the first 20 of these.")]


class BaseAnswer(BaseModel):
    """A knowledge base as you see it."""

    model_config = _ANSWER

    id: str
    name: Annotated[str, Field(description="As tools take it.")]
    title: str
    description: str
    owner: Annotated[str, Field(description="Handle of a person; empty for the board file.")]
    organisation: str
    visibility: Literal["private", "organisation", "global"]
    publish_status: Literal["none", "draft", "pending", "approved", "rejected"]
    seen_as: Annotated[str, Field(description="Why you see it, as of other resources.")]
    may_change: Annotated[bool, Field(description="Whether you may change it and its documents.")]
    may_add_web: Annotated[bool, Field(description="Whether you may add web addresses to it.")]
    is_declared: Annotated[bool, Field(description="Whether the board file declares it.")]
    is_being_deleted: Annotated[
        bool,
        Field(
            description="Whether it is being deleted, and takes in nothing more. A deletion that "
            "fails is tried again by itself; `DELETE` tries it at once."
        ),
    ]
    source: Annotated[str, Field(description="Folder or address of a declared one.")]
    settings: BaseSettings
    stages: Annotated[
        list[Literal["words", "meaning"]], Field(description="How its pieces are found.")
    ]
    embedder: Annotated[str, Field(description="The model that answers; empty for none.")]
    reembedding: EmbeddingProgress | None
    documents: DocumentCounts
    is_gathering: Annotated[
        bool, Field(description="Whether a folder or web pages are being looked through.")
    ]
    gatherings: Annotated[
        list[GatheringAnswer],
        Field(
            description="The last look at each folder or address, for those who may change the "
            "base. One that gave no document stays until another gathering has ended."
        ),
    ]
    pieces: Annotated[int, Field(description="Of ready documents that you see.")]
    revision: int
    created_at: Annotated[float, Field(description="Unix seconds.")]
    updated_at: Annotated[float, Field(description="Unix seconds.")]


class BaseList(BaseModel):
    """Knowledge bases, by name."""

    model_config = _ANSWER

    bases: list[BaseAnswer]


class WebPages(BaseModel):
    """Pages of the web to take in."""

    model_config = _CLOSED

    url: Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"^https?://")]
    below: Annotated[
        bool,
        Field(
            strict=True, description="Whether the pages below its path that it links to come, too."
        ),
    ] = False
    at_most: Annotated[int, Field(ge=1, le=MAX_CRAWLED, description="Pages, with those below.")] = (
        50
    )


class DocumentFile(ChatFile):
    """A small file to take in, which may be called as one that is uploaded."""

    name: Annotated[FileName, Field(description="Without folders; only shown.")]


class AddDocuments(BaseModel):
    """Documents to take in: one of `upload`, `file`, `folder` and `web`."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": [key]} for key in ("upload", "file", "folder", "web")]
        },
    )

    upload: Annotated[
        str | None,
        Field(min_length=1, max_length=100, description="Id of an upload that is complete."),
    ] = None
    file: Annotated[
        DocumentFile | None, Field(description="A small file; larger ones are uploaded first.")
    ] = None
    folder: Annotated[
        str | None,
        Field(min_length=1, max_length=1_000, description="A folder of the server; operators'."),
    ] = None
    web: WebPages | None = None
    path: Annotated[
        FilePath,
        Field(
            description="What the file is called where it comes from, with its folders. A file of "
            "the same path takes the place of the one before.",
        ),
    ] = ""
    title: Title = ""
    edition: Edition = ""
    replaces: Annotated[
        str, Field(max_length=100, description="Id of the document that it replaces.")
    ] = ""
    audience: Annotated[
        DocumentAudience | None,
        Field(
            description="Who sees it: all who see the base, or fewer: an organisation, or its "
            "owner. A smaller audience is also set on a document that is there; a larger one is "
            "not. Without it a folder or an address that was added before keeps its audience, and "
            "anything else is for all who see the base."
        ),
    ] = None
    organisation: Organisation = ""

    @model_validator(mode="after")
    def _names_one(self) -> Self:
        given = [self.upload, self.file, self.folder, self.web]
        if sum(item is not None for item in given) != 1:
            raise ValueError("Give one of 'upload', 'file', 'folder' and 'web'")
        return self


class ChangeDocument(BaseModel):
    """What to change of a document; a field that is not sent stays as it is."""

    model_config = _CLOSED

    title: Title | None = None
    edition: Edition | None = None
    replaces: Annotated[
        str | None, Field(max_length=100, description="Id of a document; empty for none.")
    ] = None
    audience: DocumentAudience | None = None
    organisation: Organisation | None = None


class DocumentFilter(BaseModel):
    """Which documents to list."""

    model_config = _CLOSED

    state: Annotated[
        Literal["failed", "held", "working", "ready"] | None,
        Field(description="Only those that are this far."),
    ] = None
    text: Annotated[str, Field(max_length=200, description="Stands in the name or title.")] = ""
    limit: Annotated[int, Field(ge=1, le=500, description="Documents on a page.")] = 100
    cursor: Annotated[
        str, Field(max_length=200, description="`next_cursor` of the page before; empty at first.")
    ] = ""


class GapAnswer(BaseModel):
    """What did not come out of a document."""

    model_config = _ANSWER

    page: Annotated[int, Field(description="From 1; 0 for the document as a whole.")]
    reason: str


class ReceiptAnswer(BaseModel):
    """What went into a conversion, and what came out of it."""

    model_config = _ANSWER

    pages_in: int
    pages_out: int
    tables: int
    pictures: int
    characters: int
    gaps: list[GapAnswer]
    edges: Annotated[int, Field(description="Headers and footers of a Word document.")]
    notes: Annotated[int, Field(description="Its footnotes and endnotes.")]
    comments: Annotated[int, Field(description="Its comments.")]
    converter: Annotated[str, Field(description="Name and version of the library.")]


class FindingAnswer(BaseModel):
    """A place in a document that is not what it seems."""

    model_config = _ANSWER

    kind: FindingKind
    start: Annotated[int, Field(description="Offset in the text, in characters.")]
    end: Annotated[int, Field(description="Offset, excluded.")]
    page: int
    reason: str
    text: Annotated[str, Field(description="The place, as data; at most 1,000 characters.")]
    is_left_out: Annotated[bool, Field(description="Whether answers leave it out.")]


class DocumentAnswer(BaseModel):
    """A document of a base."""

    model_config = _ANSWER

    id: str
    base: str
    name: Annotated[str, Field(description="Of its file.")]
    title: str
    path: Annotated[str, Field(description="What it is called where it comes from.")]
    source: Annotated[str, Field(description="`upload`, `file:` a folder, or an address.")]
    owner: Annotated[str, Field(description="Handle of who put it in.")]
    audience: Audience
    organisation: str
    media_type: str
    size: Annotated[int, Field(description="Bytes.")]
    digest: Annotated[str, Field(description="SHA-256 of its file.")]
    edition: str
    replaces: str
    replaced_by: Annotated[
        str, Field(description="Id of the document that replaces it: that one answers.")
    ]
    state: DocumentState
    step: Annotated[
        int, Field(description="Of 4 (convert, cut, embed, store) while it is taken in; else 0.")
    ]
    done: Annotated[int, Field(description="Of `total`, pages or pieces.")]
    total: int
    code: Annotated[str, Field(description="Of a failed one: the code of the error.")]
    reason: Annotated[str, Field(description="Why it failed or is held back, in a sentence.")]
    review: Annotated[
        Literal["", "leave_out", "use"], Field(description="What a reviewer decided.")
    ]
    run: Annotated[str, Field(description="Id of the run that took it in, last.")]
    answers: Annotated[
        bool, Field(description="Whether pieces of it answer, perhaps those of an older text.")
    ]
    revision: Annotated[int, Field(description="Of its text; 0 before it was taken in.")]
    pieces: int
    pages: int
    may_change: bool
    created_at: Annotated[float, Field(description="Unix seconds.")]
    updated_at: Annotated[float, Field(description="Unix seconds.")]


class DocumentDetail(DocumentAnswer):
    """A document with what came out of it."""

    receipt: Annotated[ReceiptAnswer | None, Field(description="Null before its conversion.")]
    findings: list[FindingAnswer]


class DocumentList(BaseModel):
    """One page of documents: failed, held back, under way, then ready; the last changed first."""

    model_config = _ANSWER

    documents: list[DocumentAnswer]
    next_cursor: Annotated[str | None, Field(description="Null when this was the last page.")]


class AddedDocument(BaseModel):
    """A document that was put in."""

    model_config = _ANSWER

    document: DocumentAnswer
    outcome: Annotated[
        Literal["new", "changed", "already_here"],
        Field(description="`already_here` for a file with the same digest."),
    ]


class AddedDocuments(BaseModel):
    """What was put in; of a folder and of web pages they come one by one, as events."""

    model_config = _ANSWER

    documents: list[AddedDocument]
    run: Annotated[str, Field(description="Of a folder or web pages: the run that gathers them.")]


class ReviewDocument(BaseModel):
    """What to do with the places for which a document is held back."""

    model_config = _CLOSED

    decision: Annotated[
        Literal["leave_out", "use", "delete"],
        Field(description="Leave those places out, use them as text, or delete the document."),
    ]


class RefreshAnswer(BaseModel):
    """What looking again at where documents come from has begun."""

    model_config = _ANSWER

    run: Annotated[str, Field(description="Empty when nothing of it comes from elsewhere.")]


class DeletionAnswer(BaseModel):
    """What goes when a document, or a base, is deleted."""

    model_config = _ANSWER

    documents: int
    bytes: Annotated[int, Field(description="Of files.")]
    pieces: int
    results: Annotated[int, Field(description="Kept results of calls that quote it.")]
    answers: Annotated[
        int, Field(description="Of your conversations, which stay without its quotes.")
    ]
