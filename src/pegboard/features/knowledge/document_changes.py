"""What changed between two texts of a document."""

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from pegboard.core.knowledge import ConvertedDocument, DocumentFinding, PageSpan
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.errors import InvalidRequest
from pegboard.features.knowledge.documents import Documents
from pegboard.features.knowledge.history_schemas import MAX_SHOWN, ChangesQuery
from pegboard.knowledge.text_changes import Span, TextChange, find_changes


class DocumentChanges(Struct, frozen=True, kw_only=True):
    """The changes from one text of a document to another.

    Attributes:
        since: The revision of the earlier text; 0 where there is none.
        until: That of the later text.
    """

    since: int
    until: int
    before: ConvertedDocument
    after: ConvertedDocument
    changes: Sequence[TextChange] = ()

    def to_dict(self, row: StoredDocument, *, start: int, limit: int) -> dict[str, Any]:
        """A `ChangesAnswer`."""
        shown = self.changes[start : start + limit]
        kinds = Counter(change.kind for change in self.changes)
        is_more = start + limit < len(self.changes)
        return {
            "document": row.id,
            "since": self.since,
            "until": self.until,
            "current_revision": row.revision,
            "pages": len(self.after.pages),
            "changed_pages": self._count_pages(),
            "added": kinds["added"],
            "removed": kinds["removed"],
            "changed": kinds["changed"],
            "passages": [self._view(change) for change in shown],
            "next_start": start + limit if is_more else None,
        }

    def _view(self, change: TextChange) -> dict[str, Any]:
        is_new, is_gone = change.kind == "added", change.kind == "removed"
        return {
            "kind": change.kind,
            "before": None if is_new else _view_side(self.before, change.before),
            "after": None if is_gone else _view_side(self.after, change.after),
        }

    def _count_pages(self) -> int:
        pages = self.after.pages
        found: set[int] = set()
        for change in self.changes:
            first = find_page_at(pages, change.after[0])
            last = find_page_at(pages, max(change.after[0], change.after[1] - 1))
            found.update(range(first, last + 1))
        return len(found) if pages else 0


async def compare_revisions(
    documents: Documents, row: StoredDocument, wanted: ChangesQuery
) -> DocumentChanges:
    """What changed between two texts of a document that the caller sees.

    Raises:
        DocumentNotFound: It has no such text.
        InvalidRequest: The earlier text is not earlier.
    """
    until, after = await documents.get_text(row, revision=wanted.until)
    since = until - 1 if wanted.since is None else wanted.since
    if since >= until:
        raise InvalidRequest("'since' is the revision of an earlier text than 'until'.")
    if not since:
        return DocumentChanges(since=0, until=until, before=after, after=after)
    _, before = await documents.get_text(row, revision=since)
    changes = await asyncio.to_thread(find_changes, before.text, after.text)
    return DocumentChanges(since=since, until=until, before=before, after=after, changes=changes)


def find_page_at(pages: Sequence[PageSpan], offset: int) -> int:
    """The number of the page at an offset; 0 for a text without pages."""
    at = bisect_right(pages, offset, key=lambda page: page.start) - 1
    return pages[max(at, 0)].number if pages else 0


def _view_side(text: ConvertedDocument, span: Span) -> dict[str, Any]:
    start, end = span
    return {
        "page": find_page_at(text.pages, start),
        "start": start,
        "end": end,
        "text": text.text[start : min(end, start + MAX_SHOWN)],
        "contains": sorted({it.kind for it in text.findings if _overlaps(it, span)}),
    }


def _overlaps(finding: DocumentFinding, span: Span) -> bool:
    return finding.start < span[1] and span[0] < finding.end
