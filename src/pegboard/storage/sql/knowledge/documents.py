"""Documents of knowledge bases in a database."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, delete, func, select, tuple_, update

from pegboard.core.knowledge import ConvertedDocument, DocumentState
from pegboard.core.ports.knowledge.document_store import DocumentScope, ReadyCount, StoredDocument
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import DocumentNotFound
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.document_changes import change_document
from pegboard.storage.json_text import dump, load
from pegboard.storage.knowledge_tables import (
    DOCUMENT_TEXTS,
    DOCUMENTS,
    PIECE_TERMS,
    PIECE_VECTORS,
    PIECES,
)
from pegboard.storage.sql.knowledge.changes import count_change, drop_segments, read_changes
from pegboard.storage.sql.knowledge.document_scope import (
    ScopeShape,
    bind_scope,
    find_shape,
    where_answers,
    where_between_pages,
    where_in_scope,
)
from pegboard.storage.sql.knowledge.text_cache import TextCache

_COLUMNS = (
    *("id", "base", "source", "outer_id", "owner", "audience", "organisation", "state"),
    *("digest", "edition", "media_type", "replaced_by"),
)
_ENDED = ("ready", "held", "failed")


class SqlDocuments:
    """The `DocumentStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database
        self._texts = TextCache()

    async def add(self, document: StoredDocument) -> StoredDocument:
        key = ("base", "source", "outer_id")
        found = select(DOCUMENTS.c.body).where(
            *(DOCUMENTS.c[name] == clean_text(getattr(document, name)) for name in key)
        )

        def add(transaction: Transaction) -> StoredDocument:
            statement = transaction.insert(DOCUMENTS).values(_values(document))
            if transaction.execute(statement.on_conflict_do_nothing(index_elements=key)):
                return document
            row = transaction.first(found)
            return document if row is None else load(row.body, StoredDocument)

        return await self._database.run(add)

    async def change(
        self,
        id: str,  # noqa: A002 - it is known by its id
        changes: Mapping[str, Any],
        *,
        attempt: int | None = None,
        run: str | None = None,
        defaults: Mapping[str, Any] = {},
    ) -> StoredDocument | None:
        wanted = DOCUMENTS.c.id == clean_text(id)
        found = select(DOCUMENTS.c.body).where(wanted).with_for_update()

        def change(transaction: Transaction) -> StoredDocument | None:
            row = transaction.first(found)
            known = None if row is None else load(row.body, StoredDocument)
            if known is None or attempt not in {None, known.attempt}:
                return None
            if run not in {None, known.run}:
                return None
            changed = change_document(known, changes, defaults)
            values = {key: it for key, it in _values(changed).items() if key != "id"}
            transaction.execute(update(DOCUMENTS).where(wanted).values(values))
            return changed

        return await self._database.run(change)

    async def get(self, id: str) -> StoredDocument | None:  # noqa: A002 - it is known by its id
        return await self._first(select(DOCUMENTS.c.body).where(DOCUMENTS.c.id == clean_text(id)))

    async def get_all(self, ids: Collection[str]) -> Mapping[str, StoredDocument]:
        values = {"ids": [clean_text(id_) for id_ in ids]}
        found = await self._all(_SELECT_ALL, values) if ids else ()
        return {row.id: row for row in found}

    async def list_digest(self, scope: DocumentScope, digest: str) -> Sequence[StoredDocument]:
        wanted = where_in_scope(find_shape(scope)) & (DOCUMENTS.c.digest == clean_text(digest))
        statement = select(DOCUMENTS.c.body).where(wanted).order_by(DOCUMENTS.c.id)
        return await self._all(statement, bind_scope(scope))

    async def list_visible(
        self,
        scope: DocumentScope,
        *,
        states: Sequence[DocumentState] = (),
        after: str = "",
        limit: int = 100,
    ) -> Sequence[StoredDocument]:
        statement = _select_visible(find_shape(scope), tuple(states), is_first=not after)
        values = bind_scope(scope) | {"after": clean_text(after), "count": limit}
        return await self._all(statement, values)

    async def count_ready(self, scope: DocumentScope) -> Mapping[str, ReadyCount]:
        statement, values = _select_counts(find_shape(scope)), bind_scope(scope)
        rows = await self._database.read(lambda it: it.all(statement, values))
        return {row.base: ReadyCount(row.documents, int(row.pieces)) for row in rows}

    async def list_bases(self) -> Sequence[str]:
        statement = select(DOCUMENTS.c.base).distinct()
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return sorted(row.base for row in rows)

    async def list_unfinished(self) -> Sequence[StoredDocument]:
        table: Any = DOCUMENTS.c
        statement = select(table.body).where(table.state.not_in(_ENDED))
        order = (table.priority.desc(), table.created_at, table.id)
        return await self._all(statement.order_by(*order))

    async def put_text(self, document: str, revision: int, text: ConvertedDocument) -> None:
        values = {"body": dump(text)}
        key = {"document": clean_text(document), "revision": revision}

        def put(transaction: Transaction) -> None:
            found = select(DOCUMENTS.c.id).where(DOCUMENTS.c.id == key["document"])
            if transaction.first(found.with_for_update()) is None:
                raise DocumentNotFound(f"The document '{document}' was deleted.")
            statement = transaction.insert(DOCUMENT_TEXTS).values(key | values)
            transaction.execute(
                statement.on_conflict_do_update(index_elements=list(key), set_=values)
            )

        await self._database.run(put, atomic=True)

    async def get_text(self, document: str, revision: int) -> ConvertedDocument | None:
        statement = select(DOCUMENT_TEXTS.c.body).where(
            DOCUMENT_TEXTS.c.document == clean_text(document),
            DOCUMENT_TEXTS.c.revision == revision,
        )
        row = await self._database.read(lambda transaction: transaction.first(statement))
        return None if row is None else load(row.body, ConvertedDocument)

    async def get_texts(self, revisions: Mapping[str, int]) -> Mapping[str, ConvertedDocument]:
        if not revisions:
            return {}
        keys = {(clean_text(document), number) for document, number in revisions.items()}

        def read(transaction: Transaction) -> dict[str, ConvertedDocument]:
            # First the count: a text that is read after it was there when it was counted.
            changes = read_changes(transaction)
            found = self._texts.find(dict(keys), changes)
            missing = sorted(key for key in keys if key[0] not in found)
            place = tuple_(DOCUMENT_TEXTS.c.document, DOCUMENT_TEXTS.c.revision)
            statement = select(DOCUMENT_TEXTS).where(place.in_(missing))
            for row in transaction.all(statement) if missing else ():
                text = found[row.document] = load(row.body, ConvertedDocument)
                self._texts.add((row.document, row.revision), text, len(row.body), changes)
            return found

        return await self._database.read(read)

    async def delete(self, id: str) -> bool:  # noqa: A002 - as above
        wanted = clean_text(id)
        place = select(DOCUMENTS.c.base, DOCUMENTS.c.terms).where(DOCUMENTS.c.id == wanted)

        def remove(transaction: Transaction) -> tuple[bool, int]:
            row = transaction.first(place.with_for_update())
            found = transaction.execute(delete(DOCUMENTS).where(DOCUMENTS.c.id == wanted)) > 0
            for table in (DOCUMENT_TEXTS, PIECES, PIECE_TERMS, PIECE_VECTORS):
                transaction.execute(delete(table).where(table.c.document == wanted))
            count_change(transaction)
            if row is not None and row.terms:
                drop_segments(transaction, row.base, row.terms)
            transaction.erases = True
            return found, read_changes(transaction)

        found, changes = await self._database.run(remove)
        self._texts.advance(changes)
        return found

    async def _first(self, statement: "Select[Any]") -> StoredDocument | None:
        row = await self._database.read(lambda transaction: transaction.first(statement))
        return None if row is None else load(row.body, StoredDocument)

    async def _all(
        self, statement: "Select[Any]", values: Mapping[str, Any] | None = None
    ) -> Sequence[StoredDocument]:
        rows = await self._database.read(lambda transaction: transaction.all(statement, values))
        return [load(row.body, StoredDocument) for row in rows]


_SELECT_ALL = select(DOCUMENTS.c.body).where(DOCUMENTS.c.id.in_(bindparam("ids", expanding=True)))


@cache
def _select_visible(
    shape: ScopeShape, states: tuple[DocumentState, ...], *, is_first: bool
) -> "Select[Any]":
    wanted = where_in_scope(shape)
    order: ColumnElement[str] = DOCUMENTS.c.id
    if not is_first:
        wanted &= DOCUMENTS.c.id > bindparam("after")
    if states:
        wanted &= DOCUMENTS.c.state.in_(states)
        if len(states) > 1 and is_first:
            order = order.concat("")  # else SQLite reads all of the base in this order
    return select(DOCUMENTS.c.body).where(wanted).order_by(order).limit(bindparam("count"))


@cache
def _select_counts(shape: ScopeShape) -> Any:
    table: Any = DOCUMENTS.c
    if shape.has_pages:
        count = func.count(table.id.distinct()).label("documents")
        statement = (
            select(table.base, count, func.count().label("pieces"))
            .join_from(DOCUMENTS, PIECES, PIECES.c.document == table.id)
            .where(where_answers(shape), where_between_pages(shape))
        )
    else:
        counts = (func.count().label("documents"), func.sum(table.pieces).label("pieces"))
        statement = select(table.base, *counts).where(where_answers(shape))
    return statement.group_by(table.base)


def _values(document: StoredDocument) -> dict[str, Any]:
    return {
        **{name: clean_text(getattr(document, name)) for name in _COLUMNS},
        "priority": document.priority,
        "answers": document.answers,
        "created_at": document.created_at,
        "body": dump(document),
    }
