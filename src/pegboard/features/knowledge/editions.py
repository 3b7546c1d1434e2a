"""Which document replaces which, and what cannot replace what."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.access.document_visibility import check_reach, is_document_visible
from pegboard.core.ports.knowledge.document_store import DocumentStore, StoredDocument
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest

Change = Callable[[str, Mapping[str, Any]], Awaitable[StoredDocument]]


class Editions:
    """Keeps `replaces` and `replaced_by` of the documents of a base right.

    Args:
        store: Where they are stored.
        change: Changes one, and tells its watchers.
    """

    def __init__(self, store: DocumentStore, change: Change) -> None:
        self._store = store
        self._change = change

    async def set_replaced(self, document: str, *, by: str, instead_of: str = "") -> None:
        """Record that a document is replaced, or is not any more.

        Args:
            document: Its id; nothing happens for an empty one.
            by: The id of the one that replaces it; empty for none.
            instead_of: The only other document that may have replaced it until now.
        """
        row = await self._store.get(document) if document else None
        if row is not None and row.replaced_by in {"", instead_of} and row.replaced_by != by:
            await self._change(row.id, {"replaced_by": by})

    async def record(self, row: StoredDocument, *, before: StoredDocument) -> None:
        """Record on other documents what a changed one replaces now.

        Raises:
            InvalidRequest: A change of another document at the same time closed a circle; this
                one replaces what it did before.
        """
        if await self._is_circle(row):
            await self._change(row.id, {"replaces": before.replaces})
            raise InvalidRequest(
                "The other document was made to replace this one at the same time: try again."
            )
        await self.set_replaced(before.replaces, by="", instead_of=row.id)
        await self.set_replaced(row.replaces if row.answers else "", by=row.id)

    async def check_replaced(self, row: StoredDocument, principal: Principal) -> None:
        """Refuse what a document cannot replace.

        Raises:
            InvalidRequest: It is the document itself, is not in the base for this caller, is seen
                by more people, or replaces the document already, directly or through others.
        """
        if row.replaces == row.id:
            raise InvalidRequest("A document does not replace itself.")
        other = await self._store.get(row.replaces)
        if other is None or other.base != row.base or not is_document_visible(principal, other):
            raise InvalidRequest(
                "The document that it replaces is not in this base; 'replaces' is an id."
            )
        check_reach(row, instead_of=other)
        if await self._is_circle(row):
            raise InvalidRequest(
                "The other document replaces this one already, directly or through others: "
                "documents cannot replace each other in a circle."
            )

    async def check_neighbours(self, row: StoredDocument) -> None:
        """Refuse an audience that does not fit the editions before and after.

        Raises:
            InvalidRequest: It does not.
        """
        before = await self._store.get(row.replaces) if row.replaces else None
        after = await self._store.get(row.replaced_by) if row.replaced_by else None
        if before is not None:
            check_reach(row, instead_of=before)
        if after is not None:
            check_reach(after, instead_of=row)

    async def _is_circle(self, row: StoredDocument) -> bool:
        """Whether a document would replace itself, through however many others."""
        met: set[str] = set()
        older = row.replaces
        while older and older not in met:
            if older == row.id:
                return True
            met.add(older)
            other = await self._store.get(older)
            older = "" if other is None else other.replaces
        return False
