"""The document store port: documents of knowledge bases, their texts and their states."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from pegboard.core.knowledge import ConvertedDocument, DocumentState
from pegboard.core.principal import Principal

Audience = Literal["base", "organisation", "private"]


class StoredDocument(Struct, frozen=True, kw_only=True):
    """A document of a knowledge base.

    Attributes:
        base: The id of the base, a stored resource of kind `knowledge`, or `board:{name}` of one of
            the board file.
        source: Where it comes from: `upload`, a folder or an address.
        outer_id: What it is called there; unique in `base` and `source`.
        name: The name of its file.
        owner: Who put it in, as of `Principal.owner`.
        audience: Who may see it: everybody who may see the base, or fewer: those of `organisation`,
            or its owner alone.
        source_audience: The audience with which its folder or address was added, whatever its own
            is by now; None for an upload.
        source_organisation: Likewise its organisation.
        digest: SHA-256 of its file, in hexadecimal.
        blob: The key of its content in the blob store.
        file: The id of the stored file whose content it is; empty for one of a folder or an
            address, which nobody's quota counts.
        edition: A date or a name that orders the editions; empty for none.
        replaces: The id of the document that this one replaces; empty for none.
        replaced_by: The id of the one that replaces it; it answers only when asked for.
        state: How far it is.
        answers: Whether its stored pieces answer: also those of an older text, while a newer one is
            taken in, is held back, or has failed.
        review: What was decided about the places for which it was held back: empty, `leave_out`
            (answers leave them out) or `use` (they are text like any other).
        done: Of `total`, in the unit of the state (pages, pieces).
        code: Of a `failed` one: the code of the error.
        reason: Of a `failed` or `held` one, in a sentence.
        run: The id of the run that takes it in, last.
        attempt: Grows each time it is taken in anew.
        revision: Grows whenever its text changes; offsets of citations count in one revision.
        pieces: How many.
        pages: How many.
        priority: Larger goes first: a person who waits before a backfill.
        created_at: Unix seconds.
        updated_at: Unix seconds.
    """

    id: str
    base: str
    name: str
    owner: str
    created_at: float
    updated_at: float
    source: str = "upload"
    outer_id: str = ""
    title: str = ""
    media_type: str = ""
    size: int = 0
    digest: str = ""
    blob: str = ""
    file: str = ""
    audience: Audience = "base"
    organisation: str = ""
    source_audience: Audience | None = None
    source_organisation: str = ""
    edition: str = ""
    replaces: str = ""
    replaced_by: str = ""
    state: DocumentState = "waiting"
    answers: bool = False
    review: Literal["", "leave_out", "use"] = ""
    done: int = 0
    total: int = 0
    code: str = ""
    reason: str = ""
    run: str = ""
    attempt: int = 0
    revision: int = 0
    pieces: int = 0
    pages: int = 0
    priority: int = 0


class DocumentScope(Struct, frozen=True, kw_only=True):
    """Whose documents of which bases; the bases are those that the caller may see already.

    Attributes:
        bases: Their ids.
        principal: The caller, for documents with a smaller audience than their base. One without an
            account sees all.
        include_replaced: Whether editions that another one replaces count.
        documents: Only these; empty for all.
        editions: Only documents of these; empty for all.
        media_types: Only documents of these; empty for all.
        first_page: Only pieces that start there or later; 0 for all.
        last_page: Only pieces that start there or before; 0 for all.
    """

    bases: tuple[str, ...]
    principal: Principal
    include_replaced: bool = False
    documents: tuple[str, ...] = ()
    editions: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    first_page: int = 0
    last_page: int = 0


class ReadyCount(Struct, frozen=True):
    """How many ready documents of a base are in a scope, and how many pieces they have."""

    documents: int = 0
    pieces: int = 0


class DocumentStore(Protocol):
    """Stores documents; what is not in the scope of a caller is not there for them."""

    async def add(self, document: StoredDocument) -> StoredDocument:
        """Store a new one, or return the one of the same base, source and outer id."""
        ...

    async def change(
        self,
        id: str,  # noqa: A002 - it is known by its id
        changes: Mapping[str, Any],
        *,
        attempt: int | None = None,
        run: str | None = None,
        defaults: Mapping[str, Any] = {},
    ) -> StoredDocument | None:
        """Change fields of one at once; the others stay as somebody else has set them.

        Args:
            id: Its id.
            changes: New values of fields, by name.
            attempt: Only while the document has this one.
            run: Only while this is its run; empty for none.
            defaults: Values of fields that are empty.

        Returns:
            What is stored now; None when it is gone, or has another attempt or run.
        """
        ...

    async def get(self, id: str) -> StoredDocument | None:  # noqa: A002 - it is known by its id
        """The one of an id, for whomever; None when there is none."""
        ...

    async def get_all(self, ids: Collection[str]) -> Mapping[str, StoredDocument]:
        """The documents with these ids, by id, without asking who may see them."""
        ...

    async def list_digest(self, scope: DocumentScope, digest: str) -> Sequence[StoredDocument]:
        """Those in a scope with this file, in order of their ids."""
        ...

    async def list_visible(
        self,
        scope: DocumentScope,
        *,
        states: Sequence[DocumentState] = (),
        after: str = "",
        limit: int = 100,
    ) -> Sequence[StoredDocument]:
        """Those in a scope, in order of their ids."""
        ...

    async def count_ready(self, scope: DocumentScope) -> Mapping[str, ReadyCount]:
        """What answers in a scope, by base; a base without any is left out."""
        ...

    async def list_bases(self) -> Sequence[str]:
        """The ids of the bases that have documents, in order; also of bases that are gone."""
        ...

    async def list_unfinished(self) -> Sequence[StoredDocument]:
        """Those that are neither ready, held nor failed, most urgent first, whosever they are."""
        ...

    async def put_text(self, document: str, revision: int, text: ConvertedDocument) -> None:
        """Store the text of a revision.

        Raises:
            DocumentNotFound: It was deleted meanwhile; nothing was stored.
        """
        ...

    async def get_text(self, document: str, revision: int) -> ConvertedDocument | None:
        """The text of a revision; None when there is none."""
        ...

    async def get_texts(self, revisions: Mapping[str, int]) -> Mapping[str, ConvertedDocument]:
        """Texts that answer, by document; what is not there is left out.

        A store may keep them in memory until something is deleted, since a text that answers is
        never changed.

        Args:
            revisions: By document.
        """
        ...

    async def delete(self, id: str) -> bool:  # noqa: A002 - as above
        """Delete one for good with its texts, pieces and vectors; False when there is none."""
        ...
