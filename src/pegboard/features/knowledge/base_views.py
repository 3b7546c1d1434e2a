"""Bases and documents as JSON-compatible data."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, structs, to_builtins

from pegboard.access.visibility import VisibilityDecision
from pegboard.core.knowledge import ConvertedDocument, DocumentFinding, PageSpan, Piece
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import Principal
from pegboard.features.knowledge.bases import KnowledgeBase, WebPolicy, may_add_web, may_edit_base
from pegboard.features.knowledge.gatherings import SourceLook

_STEPS = {"converting": 1, "cutting": 2, "embedding": 3, "storing": 4}
_MAX_SHOWN = 1_000
_CHARACTERS = 1_000
"""Of a piece, where there is none."""
_ROW = (
    "id", "base", "name", "title", "source", "audience", "organisation", "media_type", "size",
    "digest", "edition", "replaces", "replaced_by", "state", "done", "total", "code", "reason",
    "review", "run", "answers", "revision", "pieces", "pages", "created_at", "updated_at",
)  # fmt: skip


class BaseFacts(Struct, frozen=True, kw_only=True):
    """What one caller sees of a base.

    Attributes:
        counts: Of documents, by how far they are.
        pieces: Of documents that answer.
        embedder: The model whose vectors answer; empty for none.
        new_embedder: The model that the base is to have; empty for none.
        without_vectors: Pieces that `new_embedder` has not embedded yet.
        web: Who may add web addresses.
        updated_at: Of the document that was changed last.
        gatherings: The last look at each source; none for readers.
        is_being_deleted: Whether a deletion has begun that has not ended.
    """

    base: KnowledgeBase
    counts: Mapping[str, int]
    pieces: int
    embedder: str
    new_embedder: str
    without_vectors: int
    principal: Principal
    web: WebPolicy
    updated_at: float
    gatherings: Sequence[SourceLook] = ()
    is_being_deleted: bool = False

    def to_dict(self, *, owner: str = "", seen: VisibilityDecision | None = None) -> dict[str, Any]:
        """A `BaseAnswer`."""
        base, resource = self.base, self.base.resource
        return {
            "id": base.id,
            "name": base.name,
            "title": base.title or base.name,
            "description": base.description,
            "owner": owner,
            "organisation": "" if resource is None else resource.organisation,
            "visibility": "global" if resource is None else resource.visibility,
            "publish_status": "none" if resource is None else resource.publish_status,
            "seen_as": "global" if seen is None else seen.kind,
            "may_change": may_edit_base(self.principal, base),
            "may_add_web": may_edit_base(self.principal, base)
            and may_add_web(self.principal, self.web),
            "is_declared": base.declared is not None,
            "is_being_deleted": self.is_being_deleted,
            "source": "" if base.declared is None else base.declared.folder or base.declared.url,
            "settings": base.settings.model_dump(),
            "stages": ["words", *(["meaning"] if self.embedder else [])],
            "embedder": self.embedder,
            "reembedding": self._view_reembedding(),
            "documents": dict(self.counts),
            "gatherings": [it.to_dict(self.principal) for it in self.gatherings],
            "pieces": self.pieces,
            "revision": 1 if resource is None else resource.revision,
            "created_at": 0.0 if resource is None else resource.created_at,
            "updated_at": max(self.updated_at, 0.0 if resource is None else resource.updated_at),
        }

    def _view_reembedding(self) -> dict[str, Any] | None:
        if not self.without_vectors:
            return None
        done = max(self.pieces - self.without_vectors, 0)
        return {"embedder": self.new_embedder, "done": done, "total": self.pieces}


class DocumentView(Struct, frozen=True):
    """A document as one caller sees it."""

    row: StoredDocument
    may_change: bool

    def to_dict(self, *, owner: str = "") -> dict[str, Any]:
        """A `DocumentAnswer`."""
        row = self.row
        return {
            **{name: getattr(row, name) for name in _ROW},
            "title": row.title or row.name,
            "path": row.outer_id,
            "owner": owner or row.owner.rpartition("/")[2],
            "step": _STEPS.get(row.state, 0),
            "may_change": self.may_change,
        }


def view_detail(
    view: DocumentView, text: ConvertedDocument | None, *, owner: str = ""
) -> dict[str, Any]:
    """A `DocumentDetail`."""
    receipt = None
    if text is not None:
        receipt = {**to_builtins(text.receipt), "converter": text.converter}
    findings = [] if text is None else [view_finding(it, text, view.row) for it in text.findings]
    return {**view.to_dict(owner=owner), "receipt": receipt, "findings": findings}


def view_finding(
    finding: DocumentFinding, text: ConvertedDocument, row: StoredDocument
) -> dict[str, Any]:
    """A `FindingAnswer`."""
    shown = text.text[finding.start : min(finding.end, finding.start + _MAX_SHOWN)]
    data: dict[str, Any] = to_builtins(finding)
    return {**data, "text": shown, "is_left_out": row.review != "use"}


def view_page(
    row: StoredDocument,
    revision: int,
    text: ConvertedDocument,
    page: PageSpan,
    pieces: list[Piece],
) -> dict[str, Any]:
    """A `TextAnswer`, of a page or a part of it."""
    whole = find_page(text, offset=page.start)
    return {
        "document": row.id,
        "revision": revision,
        "current_revision": row.revision,
        "page": page.number,
        "pages": len(text.pages),
        "label": page.label,
        "start": page.start,
        "end": page.end,
        "next_offset": page.end if page.end < whole.end else None,
        "text": text.text[page.start : page.end],
        "pieces": [
            {
                "id": piece.id,
                "number": piece.number,
                "start": piece.start,
                "end": piece.end,
                "page": piece.page,
                "heading": piece.heading,
            }
            for piece in pieces
            if piece.start < page.end and page.start < piece.end
        ],
        "findings": [
            view_finding(it, text, row)
            for it in text.findings
            if it.start < page.end and page.start < it.end
        ],
    }


def find_page(text: ConvertedDocument, *, page: int = 1, offset: int | None = None) -> PageSpan:
    """A page of a text; a text without pages is one."""
    whole = PageSpan(number=0, start=0, end=len(text.text))
    if not text.pages:
        return whole
    if offset is not None:
        found = [span for span in text.pages if span.start <= offset < span.end]
        return found[0] if found else text.pages[-1]
    return text.pages[min(page, len(text.pages)) - 1]


def cut_page(page: PageSpan, pieces: Sequence[Piece], *, offset: int, limit: int) -> PageSpan:
    """The part of a page with a number of pieces, from the one at an offset on.

    A text without pieces, of an earlier revision, is cut by characters.
    """
    start = min(max(page.start, offset), page.end)
    inside = [it for it in pieces if page.start <= it.start < page.end]
    if not inside:
        return structs.replace(page, start=start, end=min(page.end, start + limit * _CHARACTERS))
    first = max(sum(it.start <= start for it in inside) - 1, 0)
    start = min(start, max(inside[first].start, page.start))
    last = first + limit
    end = inside[last].start if last < len(inside) else page.end
    return structs.replace(page, start=start, end=max(end, min(start + 1, page.end)))
