"""The documents of knowledge bases: put in, listed, changed, reviewed and deleted."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from msgspec import structs

from pegboard.access.document_visibility import (
    find_audience,
    is_document_visible,
    may_take_place,
    narrow_audience,
)
from pegboard.core.knowledge import ConvertedDocument
from pegboard.core.ports.knowledge.document_store import Audience, DocumentScope, StoredDocument
from pegboard.core.principal import Principal
from pegboard.errors import DocumentNotFound, InvalidRequest
from pegboard.features.files import Files
from pegboard.features.key_limits import limit_keys
from pegboard.features.knowledge.bases import (
    KnowledgeBase,
    check_audience,
    check_may_edit,
    may_edit_document,
    scope_of,
)
from pegboard.features.knowledge.editions import Editions
from pegboard.features.knowledge.parts import DocumentChange, KnowledgeParts
from pegboard.features.knowledge.queue import IngestionQueue

MAX_FILE = 200 * 1024 * 1024
"""Bytes of a file that becomes a document."""
MAX_DOCUMENTS = 100_000
"""Documents of one base."""
PERSON, BACKFILL = 10, 0
"""How urgent a document is: one that somebody waits for, and one of a folder or of web pages."""

_PAGE = 500
_ORDER = {"failed": 0, "held": 1, "ready": 3}
Outcome = Literal["new", "changed", "already_here"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A file that becomes a document.

    Attributes:
        chunks: Its contents, while they are iterated; None where it is stored already.
        file: The id of the stored file.
        path: What it is called where it comes from; empty for its name.
        source: Where it comes from: `upload`, `file:` and a folder, or an address.
        replaces: The id of the document that it replaces.
        owner: Whose it is, as of `Principal.owner`; empty for the caller.
        keeps_audience: Whether a document that is there stays for those who see it, as when its
            folder is only looked at again.
        priority: Larger goes first.
    """

    name: str
    chunks: AsyncIterator[bytes] | None = None
    file: str = ""
    path: str = ""
    title: str = ""
    source: str = "upload"
    media_type: str = ""
    edition: str = ""
    replaces: str = ""
    audience: Audience = "base"
    organisation: str = ""
    owner: str = ""
    keeps_audience: bool = False
    priority: int = PERSON


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEdit:
    """What to change of a document; None leaves a field as it is."""

    title: str | None = None
    edition: str | None = None
    replaces: str | None = None
    audience: Audience | None = None
    organisation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentQuery:
    """Which documents of a base to list.

    Attributes:
        state: `working` is all from waiting to storing; empty for any.
        text: Stands in the name, the title or the path.
        cursor: How many to leave out.
    """

    state: str = ""
    text: str = ""
    limit: int = 100
    cursor: str = ""


@limit_keys("knowledge bases", reads=("list_page", "get"), free=("make_row",))
class Documents:
    """The documents of the bases that a caller may see.

    Args:
        parts: The stores.
        queue: Takes documents in.
        files: Stores the files that people put in, within their quota.
        forget: Deletes what was kept of the answers that quote a document.
    """

    def __init__(
        self,
        parts: KnowledgeParts,
        queue: IngestionQueue,
        *,
        files: Files,
        forget: Callable[[StoredDocument], Awaitable[None]],
    ) -> None:
        self._parts = parts
        self._queue = queue
        self._files = files
        self._forget = forget
        self._editions = Editions(parts.documents, self._change)

    async def add(
        self, base: KnowledgeBase, new: NewDocument, *, principal: Principal
    ) -> tuple[StoredDocument, Outcome]:
        """Put a file in; it is taken in by a run.

        An uploaded file with the digest of another upload adds none. A file of the same source and
        path takes the place of the one before, whose pieces answer until then. In both cases the
        given title, edition and `replaces` are set on the document that is there, and so is a
        smaller audience; a larger one is not. A file for fewer people than a document of another
        owner becomes a document of its own.

        Raises:
            AccessDenied: The caller may not change the base.
            InvalidRequest: It is too large, or what it replaces is not there, or the document that
                is there cannot have this audience.
            ResourceNotFound: The base is deleted, or is being deleted.
        """
        check_may_edit(principal, base)
        await self._parts.bases.check_takes_in(base)
        check_audience(new.audience, new.organisation, principal)
        if new.replaces:
            await self._editions.check_replaced(self.make_row(base, new, principal), principal)
        row = await self._store_file(self.make_row(base, new, principal), new, principal)
        try:
            keeps = new.keeps_audience
            known, outcome = await self._add_row(row, principal, keeps_audience=keeps)
        except BaseException:
            await self._discard_file(row)
            raise
        if outcome == "already_here":
            await self._discard_file(row)
            return known, outcome
        # a deletion of the base may have listed its documents before
        await self._parts.bases.check_takes_in(base, undo=partial(self.remove, known))
        self._notify(known)
        # a run of a caller who may not see the document would not find it
        is_seen = is_document_visible(principal, known)
        self._queue.wake(known.id, by=principal if is_seen else None)
        return known, outcome

    async def _store_file(
        self, row: StoredDocument, new: NewDocument, principal: Principal
    ) -> StoredDocument:
        """The row with its content: a file of the caller, or one that the board has fetched."""
        files, holder = self._files, f"document:{row.id}"
        if new.file:
            file = await files.hold(new.file, holder, principal=principal)
        elif new.chunks is None:
            raise InvalidRequest("Give the contents of the document.")
        elif new.source != "upload":
            stored = await self._parts.blobs.put(row.blob, new.chunks, limit=MAX_FILE)
            return structs.replace(row, digest=stored.digest, size=stored.size)
        else:
            file = await files.store(new.name, new.chunks, purpose="knowledge", principal=principal)
            await files.hold(file.id, holder, principal=principal)
        return structs.replace(
            row,
            name=row.name or file.name,
            outer_id=row.outer_id or file.name,
            file=file.id,
            blob=file.blob,
            digest=file.digest,
            size=file.size,
            media_type=row.media_type or file.media_type,
        )

    async def _discard_file(self, row: StoredDocument) -> None:
        if row.file:
            await self._files.discard(row.file)
        else:
            await self._parts.blobs.delete(row.blob)

    def make_row(
        self, base: KnowledgeBase, new: NewDocument, principal: Principal
    ) -> StoredDocument:
        """A row for a file that is not stored yet."""
        id_, now = f"d_{secrets.token_hex(10)}", self._parts.environment().now()
        organisation = new.organisation if new.audience == "organisation" else ""
        is_upload = new.source == "upload"
        return StoredDocument(
            id=id_,
            base=base.id,
            name=new.name,
            owner=new.owner or principal.owner,
            created_at=now,
            updated_at=now,
            source=new.source,
            outer_id=new.path or new.name,
            title=new.title,
            media_type=new.media_type,
            blob=f"documents/{id_}/{secrets.token_hex(8)}",
            audience=new.audience,
            organisation=organisation,
            source_audience=None if is_upload else new.audience,
            source_organisation="" if is_upload else organisation,
            edition=new.edition,
            replaces=new.replaces,
            priority=new.priority,
        )

    async def _add_row(
        self, new: StoredDocument, principal: Principal, *, keeps_audience: bool
    ) -> tuple[StoredDocument, Outcome]:
        """Store a row, or give its file to the one that is there."""
        row = await self._find_same(new, principal) or await self._add_in_place(new, principal)
        if row.id == new.id:
            return row, "new"
        said = structs.replace(new, audience="base") if keeps_audience else new
        row = await self._update(row, said, principal)  # before the file: it may hide it
        if row.digest == new.digest:
            return row, "already_here"
        names = ("name", "size", "digest", "blob", "file", "priority")
        changes = {name: getattr(new, name) for name in names}
        before, queued = await self._requeue(row, changes, review="")
        await self._discard_file(before)
        return queued, "changed"

    async def _find_same(self, new: StoredDocument, principal: Principal) -> StoredDocument | None:
        """An upload with the same file, for the same people or for fewer if none are said."""
        if new.source != "upload":
            return None
        scope = DocumentScope(bases=(new.base,), principal=principal, include_replaced=True)
        for row in await self._parts.documents.list_digest(scope, new.digest):
            is_fit = new.audience == "base" or find_audience(row) == find_audience(new)
            if row.source == new.source and is_fit and may_take_place(new, principal, of=row):
                return row
        return None

    async def _add_in_place(self, new: StoredDocument, principal: Principal) -> StoredDocument:
        """Store a row, or find the one of its path whose place its file takes."""
        for path in (new.outer_id, find_own_path(new.outer_id, owner=new.owner)):
            row = await self._parts.documents.add(structs.replace(new, outer_id=path))
            if row.id == new.id or may_take_place(new, principal, of=row):
                return row
        path = f"{new.outer_id} ({new.id})"
        return await self._parts.documents.add(structs.replace(new, outer_id=path))

    async def _update(
        self, row: StoredDocument, new: StoredDocument, principal: Principal
    ) -> StoredDocument:
        """Set on a document what is said of its new file."""
        label = {name: getattr(new, name) for name in ("source_audience", "source_organisation")}
        is_known = all(getattr(row, name) == value for name, value in label.items())
        if row.source != "upload" and row.owner == new.owner and not is_known:
            row = await self._change(row.id, label)
        names = ("title", "edition", "replaces")
        given = {name: value for name in names if (value := getattr(new, name))}
        audience, organisation = narrow_audience(row, to=new)
        if (audience, organisation) != find_audience(row):
            given |= {"audience": audience, "organisation": organisation}
        return await self._apply(row, given, principal) if given else row

    async def list_page(
        self, base: KnowledgeBase, query: DocumentQuery, *, principal: Principal
    ) -> tuple[Sequence[StoredDocument], str]:
        """Those that the caller may see: failed, held back, under way, then ready; the last first.

        Returns:
            A page of them, and the cursor of the next one; empty for none.

        Raises:
            InvalidRequest: The cursor is invalid.
        """
        if query.cursor and not query.cursor.isdecimal():
            raise InvalidRequest("The cursor is not one of a page before.")
        wanted = query.text.casefold()
        rows = [
            row
            for row in await self.list_all(scope_of([base], principal, include_replaced=True))
            if query.state in {"", find_group(row)} and wanted in _text_of(row)
        ]
        rows.sort(key=lambda row: (_ORDER.get(row.state, 2), -row.updated_at, row.id))
        start = int(query.cursor or 0)
        end = start + query.limit
        return rows[start:end], str(end) if end < len(rows) else ""

    async def list_all(self, scope: DocumentScope) -> list[StoredDocument]:
        """All in a scope, in order of their ids."""
        found: list[StoredDocument] = []
        while len(found) < MAX_DOCUMENTS:
            after = found[-1].id if found else ""
            page = await self._parts.documents.list_visible(scope, after=after, limit=_PAGE)
            found += page
            if len(page) < _PAGE:
                break
        return found

    async def get(
        self, base: KnowledgeBase, document: str, *, principal: Principal
    ) -> StoredDocument:
        """One that the caller may see.

        Raises:
            DocumentNotFound: There is none for this caller.
        """
        scope = scope_of([base], principal, include_replaced=True, documents=(document,))
        found = await self._parts.documents.list_visible(scope, limit=1)
        if not found:
            raise DocumentNotFound(f"There is no document '{document[:100]}'.")
        return found[0]

    async def get_text(
        self, row: StoredDocument, *, revision: int | None = None
    ) -> tuple[int, ConvertedDocument]:
        """The text of a document that the caller sees; of one that is held back what waits.

        Raises:
            DocumentNotFound: It has no such text.
        """
        wanted = revision or (row.revision + 1 if row.state == "held" else row.revision)
        text = await self._parts.documents.get_text(row.id, wanted) if wanted else None
        if text is None:
            raise DocumentNotFound("The document has no text, or not of this revision.")
        return wanted, text

    def read_file(self, row: StoredDocument) -> AsyncIterator[bytes]:
        """The file of a document that the caller sees."""
        return self._parts.blobs.read(row.blob)

    async def change(
        self, base: KnowledgeBase, document: str, edit: DocumentEdit, *, principal: Principal
    ) -> StoredDocument:
        """Change what is said of a document; its text stays as it is.

        Raises:
            DocumentNotFound: There is none for this caller.
            AccessDenied: The caller may not change it.
            InvalidRequest: What it replaces is not there, or cannot be replaced by it.
        """
        row = await self._find_to_change(base, document, principal)
        names = ("title", "edition", "replaces", "audience", "organisation")
        given = {name: value for name in names if (value := getattr(edit, name)) is not None}
        return await self._apply(row, given, principal)

    async def _apply(
        self, row: StoredDocument, given: dict[str, Any], principal: Principal
    ) -> StoredDocument:
        wanted = structs.replace(row, **given)
        if wanted.audience != "organisation":
            given["organisation"] = ""
            wanted = structs.replace(wanted, organisation="")
        check_audience(wanted.audience, wanted.organisation, principal)
        if find_audience(wanted) != find_audience(row):
            await self._editions.check_neighbours(wanted)
        is_other = wanted.replaces != row.replaces
        if is_other and wanted.replaces:
            await self._editions.check_replaced(wanted, principal)
        changed = await self._change(row.id, given)
        if is_other:
            await self._editions.record(changed, before=row)
        return changed

    async def retry(
        self, base: KnowledgeBase, document: str, *, principal: Principal
    ) -> StoredDocument:
        """Take a document in anew, as after a failure.

        Raises:
            DocumentNotFound: There is none for this caller.
            AccessDenied: The caller may not change it.
            InvalidRequest: It is being taken in.
        """
        row = await self._find_to_change(base, document, principal)
        if find_group(row) == "working":
            raise InvalidRequest("It is being taken in already.")
        _, queued = await self._requeue(row, {"priority": PERSON}, review=row.review)
        self._queue.wake(queued.id, by=principal)
        return queued

    async def review(
        self,
        base: KnowledgeBase,
        document: str,
        decision: Literal["leave_out", "use"],
        *,
        principal: Principal,
    ) -> StoredDocument:
        """Decide what becomes of the places for which a document is held back, or was.

        Raises:
            DocumentNotFound: There is none for this caller.
            AccessDenied: The caller may not change it.
            InvalidRequest: It is being taken in, or was never held back.
        """
        row = await self._find_to_change(base, document, principal)
        if row.state != "held" and not (row.review and row.state == "ready"):
            raise InvalidRequest("It is not held back.")
        _, queued = await self._requeue(row, {"priority": PERSON}, review=decision)
        self._queue.wake(queued.id, by=principal)
        return queued

    async def delete(self, base: KnowledgeBase, document: str, *, principal: Principal) -> None:
        """Delete a document for good: its file, texts, pieces, and what was kept that quotes it.

        Raises:
            DocumentNotFound: There is none for this caller.
            AccessDenied: The caller may not change it.
        """
        row = await self._find_to_change(base, document, principal)
        await self.remove(row)

    async def remove(self, row: StoredDocument) -> None:
        """The same for a row; nothing finds it any more once this has begun."""
        stopped = {"answers": False, "attempt": row.attempt + 1}  # no run lets it answer again
        await self._parts.documents.change(row.id, stopped)
        await self._editions.set_replaced(row.replaces, by="", instead_of=row.id)
        await self._forget(row)
        await self._discard_file(row)
        await self._parts.blobs.delete_below(f"documents/{row.id}")
        await self._parts.documents.delete(row.id)
        await self._parts.index.drop_deleted()
        self._notify(row)

    async def _find_to_change(
        self, base: KnowledgeBase, document: str, principal: Principal
    ) -> StoredDocument:
        row = await self.get(base, document, principal=principal)
        if not may_edit_document(principal, base, row):
            check_may_edit(principal, base)
        return row

    async def _requeue(
        self,
        row: StoredDocument,
        changes: Mapping[str, Any],
        *,
        review: Literal["", "leave_out", "use"],
    ) -> tuple[StoredDocument, StoredDocument]:
        """Have a document taken in anew; what it was, and what it is now."""
        documents = self._parts.documents
        new = {"state": "waiting", "review": review, "run": "", "code": "", "reason": ""}
        new |= {"done": 0, "total": 0, "updated_at": self._parts.environment().now(), **changes}
        before: StoredDocument | None = row
        while before is not None:
            new["attempt"] = before.attempt + 1
            queued = await documents.change(row.id, new, attempt=before.attempt)
            if queued is not None:
                self._notify(queued)
                return before, queued
            before = await documents.get(row.id)
        raise DocumentNotFound(f"There is no document '{row.id}'.")

    async def _change(self, document: str, changes: Mapping[str, Any]) -> StoredDocument:
        new = {**changes, "updated_at": self._parts.environment().now()}
        changed = await self._parts.documents.change(document, new)
        if changed is None:
            raise DocumentNotFound(f"There is no document '{document}'.")
        self._notify(changed)
        return changed

    def _notify(self, row: StoredDocument) -> None:
        self._parts.changes.notify(DocumentChange(row.base, row.id))


def find_own_path(path: str, *, owner: str) -> str:
    """The path of a document whose plain path another document has, which it cannot become."""
    return f"{path} ({owner.removeprefix('/')})"


def find_group(row: StoredDocument) -> Literal["failed", "held", "working", "ready"]:
    """How far a document is, for people."""
    if row.state in {"failed", "held", "ready"}:
        return row.state  # type: ignore[return-value]  # one of these
    return "working"


def _text_of(row: StoredDocument) -> str:
    return f"{row.name}\n{row.title}\n{row.outer_id}".casefold()
