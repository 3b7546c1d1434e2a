"""What a file would change in a base, before it is taken in; nothing is stored."""

import asyncio
import hashlib
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import Struct, to_builtins

from pegboard.access.document_visibility import may_take_place
from pegboard.core.knowledge import ConvertedDocument
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import Principal
from pegboard.errors import DocumentUnreadable, InvalidRequest
from pegboard.execution.limits.model_costs import ModelCosts
from pegboard.features.files import Files
from pegboard.features.key_limits import limit_keys
from pegboard.features.knowledge.bases import KnowledgeBase, check_may_edit, scope_of
from pegboard.features.knowledge.documents import (
    MAX_FILE,
    Documents,
    NewDocument,
    Outcome,
    find_own_path,
)
from pegboard.features.knowledge.parts import KnowledgeParts
from pegboard.knowledge.cut import CutSettings, cut
from pegboard.knowledge.findings import SERIOUS, find_in_document
from pegboard.knowledge.indexing import find_embedded
from pegboard.knowledge.text_changes import find_changes

_AT_ONCE = 2
"""Files that are converted for checks at the same time."""
_KINDS = ("added", "removed", "changed")
_UNKNOWN = "d_check"


class PageDifference(Struct, frozen=True, kw_only=True):
    """The pages of two texts, by the digests of what stands on them; numbers count from 1.

    Attributes:
        total: Of the new text; 0 for a format without pages.
        unchanged: How many stand in the text before, wherever.
        changed: Those whose text differs from that of the page of the same number before.
        new: Those that the text before does not have.
        vanished: Of the text before: those that the new one does not have.
    """

    total: int = 0
    unchanged: int = 0
    changed: tuple[int, ...] = ()
    new: tuple[int, ...] = ()
    vanished: tuple[int, ...] = ()


class DocumentCheck(Struct, frozen=True, kw_only=True):
    """What taking a file in would do.

    Attributes:
        outcome: What it would be.
        document: The one that it is, or whose place it would take; None for a new one.
        passages: Lines that follow each other and differ, by `added`, `removed` and `changed`.
        pieces: Of the new text.
        embedded: How many of them would be embedded; 0 for a base that works by words only.
        held: How many places would hold it back for a review.
    """

    outcome: Outcome
    name: str
    document: StoredDocument | None = None
    pages: PageDifference = PageDifference()
    passages: dict[str, int] = {}
    pieces: int = 0
    embedded: int = 0
    held: int = 0

    def to_dict(self) -> dict[str, Any]:
        """A `FileCheckAnswer`."""
        document = self.document
        return {
            "outcome": self.outcome,
            "name": self.name,
            "document": None if document is None else document.id,
            "title": "" if document is None else document.title or document.name,
            "pages": to_builtins(self.pages),
            "passages": {kind: self.passages.get(kind, 0) for kind in _KINDS},
            "pieces": self.pieces,
            "embedded": self.embedded,
            "held": self.held,
        }


@limit_keys("knowledge bases", reads=())
class DocumentChecker:
    """Compares files with the documents of a base.

    Args:
        parts: The stores and the converter.
        documents: Those of the bases.
        files: The files that callers have uploaded.
    """

    def __init__(self, parts: KnowledgeParts, documents: Documents, files: Files) -> None:
        self._parts = parts
        self._documents = documents
        self._files = files
        self._slots = asyncio.Semaphore(_AT_ONCE)

    async def check(
        self, base: KnowledgeBase, new: NewDocument, *, principal: Principal
    ) -> DocumentCheck:
        """What taking a file in would do.

        It is compared with the document that it would replace: the one of its path, or the one
        that `replaces` names.

        Raises:
            AccessDenied: The caller may not change the base.
            DocumentUnreadable: It cannot be converted.
            InvalidRequest: It is too large, or what it replaces is not there.
            UploadConflict: It is an upload of which parts are missing.
        """
        check_may_edit(principal, base)
        chunks = new.chunks
        if new.file:
            file, chunks = await self._files.open_complete(new.file, principal=principal)
            new = replace(new, name=new.name or file.name)
        if chunks is None:
            raise InvalidRequest("Give the contents of the document.")
        costs = ModelCosts(self._parts.environment().quotas, principal)
        working = self._parts.working
        with tempfile.TemporaryDirectory(prefix="check-", dir=working) as folder:
            path = Path(folder) / "file"
            digest = await _write(path, chunks)
            before = await self._find_before(base, new, digest, principal)
            if before is not None and before.digest == digest:
                return DocumentCheck(outcome="already_here", name=new.name, document=before)
            async with self._slots:
                after = await self._convert(path, new, costs)
        return await self._compare(base, new, before, after, costs)

    async def _find_before(
        self, base: KnowledgeBase, new: NewDocument, digest: str, principal: Principal
    ) -> StoredDocument | None:
        if new.replaces:
            return await self._documents.get(base, new.replaces, principal=principal)
        made, found = self._documents.make_row(base, new, principal), None
        paths = {made.outer_id, find_own_path(made.outer_id, owner=made.owner)}
        for row in await self._documents.list_all(
            scope_of([base], principal, include_replaced=True)
        ):
            if row.source != made.source or not may_take_place(made, principal, of=row):
                continue
            if row.digest == digest:
                return row
            if row.outer_id in paths:
                found = row
        return found

    async def _convert(self, path: Path, new: NewDocument, costs: ModelCosts) -> ConvertedDocument:
        converter = self._parts.converter
        if converter is None:
            raise DocumentUnreadable(
                "This board cannot convert documents: pip install 'pegboard[knowledge]'",
                reason="no_converter",
            )
        text = await converter.convert(
            path, name=new.name, media_type=new.media_type, counter=costs
        )
        return await asyncio.to_thread(find_in_document, text)

    async def _compare(
        self,
        base: KnowledgeBase,
        new: NewDocument,
        before: StoredDocument | None,
        after: ConvertedDocument,
        costs: ModelCosts,
    ) -> DocumentCheck:
        parts, settings = self._parts, base.settings
        embedder = costs.wrap_embedder(parts.embedder(settings))
        is_same = before is not None and not new.replaces  # it keeps the id, and so its pieces
        id_ = before.id if before is not None and is_same else _UNKNOWN
        how = CutSettings(method=settings.cut, tokens=settings.tokens)
        pieces = await cut(after, how, id=id_, base=base.id, embedder=embedder)
        known: dict[str, str] = {}
        if embedder is not None and is_same:
            known = await find_embedded(pieces, parts.index, document=id_, embedder=embedder.name)
        old = None
        if before is not None and before.revision:
            old = await parts.documents.get_text(before.id, before.revision)
        changes = [] if old is None else await asyncio.to_thread(find_changes, old.text, after.text)
        return DocumentCheck(
            outcome="changed" if before is not None and is_same else "new",
            name=new.name,
            document=before,
            pages=compare_pages(old, after),
            passages=dict(Counter(change.kind for change in changes)),
            pieces=len(pieces),
            embedded=0 if embedder is None else sum(it.id not in known for it in pieces),
            held=sum(it.kind in SERIOUS for it in after.findings),
        )


def compare_pages(before: ConvertedDocument | None, after: ConvertedDocument) -> PageDifference:
    """The pages of two texts, by their digests: one that only moved is unchanged."""
    old = [] if before is None else _digest_pages(before)
    new = _digest_pages(after)
    left, right = Counter(it for _, it in old), Counter(it for _, it in new)
    here = {number for number, digest in new if not _take(left, digest)}
    gone = {number for number, digest in old if not _take(right, digest)}
    return PageDifference(
        total=len(new),
        unchanged=len(new) - len(here),
        changed=tuple(sorted(here & gone)),
        new=tuple(sorted(here - gone)),
        vanished=tuple(sorted(gone - here)),
    )


def _take(digests: Counter[str], digest: str) -> bool:
    """Whether a digest is left, which is taken away then."""
    if not digests[digest]:
        return False
    digests[digest] -= 1
    return True


def _digest_pages(text: ConvertedDocument) -> list[tuple[int, str]]:
    """The number and the digest of each page; white space does not count."""
    return [
        (page.number, hashlib.sha256(" ".join(words).encode(errors="surrogatepass")).hexdigest())
        for page in text.pages
        for words in [text.text[page.start : page.end].split()]
    ]


async def _write(path: Path, chunks: AsyncIterator[bytes]) -> str:
    """Write a file; its digest."""
    digest, size = hashlib.sha256(), 0
    with path.open("wb") as file:
        async for chunk in chunks:
            size += len(chunk)
            if size > MAX_FILE:
                raise InvalidRequest(f"A document has at most {MAX_FILE:,} bytes.")
            digest.update(chunk)
            await asyncio.to_thread(file.write, chunk)
    return digest.hexdigest()
