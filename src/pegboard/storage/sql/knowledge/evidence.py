"""Evidence in a database."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, case, delete, func, select

from pegboard.core.ports.knowledge.evidence_store import EvidencePlace, StoredEvidence
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.evidence_tables import EVIDENCE, EVIDENCE_DOCUMENTS
from pegboard.storage.json_text import dump, load

_MAX_ROWS = 10_000
_CHUNK = 500
"""Rows that one transaction deletes, so that others write in between, and ids of one query."""
_COLUMNS = ("subject", "owner", "asked_of", "at", "last", "body")


class SqlEvidence:
    """The `EvidenceStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep it there."""
        self._database = database

    async def put(self, evidence: StoredEvidence) -> None:
        await self.put_all([evidence])

    async def put_all(self, evidence: Sequence[StoredEvidence]) -> None:
        rows = [_values(it) for it in evidence]
        calls = [row["call"] for row in rows]
        links = [
            {"document": clean_text(document), "call": call}
            for call, it in zip(calls, evidence, strict=True)
            for document in it.documents
        ]

        def put(transaction: Transaction) -> None:
            statement = transaction.insert(EVIDENCE)
            given = {name: statement.excluded[name] for name in _COLUMNS}
            statement = statement.on_conflict_do_update(index_elements=["call"], set_=given)
            transaction.execute(statement, rows)
            old = EVIDENCE_DOCUMENTS.c.call.in_(calls)
            transaction.execute(delete(EVIDENCE_DOCUMENTS).where(old))
            if links:
                transaction.execute(transaction.insert(EVIDENCE_DOCUMENTS), links)

        if rows:
            await self._database.run(put, atomic=True)

    async def get(self, call: str) -> StoredEvidence | None:
        found = await self._list(EVIDENCE.c.call == clean_text(call))
        return found[0] if found else None

    async def list_subject(self, subject: str) -> Sequence[StoredEvidence]:
        return await self._list(EVIDENCE.c.subject == clean_text(subject))

    async def list_asked(
        self, owner: str, base: str, *, limit: int = 50
    ) -> Sequence[StoredEvidence]:
        wanted = (EVIDENCE.c.owner == clean_text(owner)) & (EVIDENCE.c.asked_of == clean_text(base))
        statement = (
            select(EVIDENCE.c.body)
            .where(wanted)
            .order_by(EVIDENCE.c.at.desc(), EVIDENCE.c.call.desc())
            .limit(limit)
        )
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return [load(row.body, StoredEvidence) for row in rows]

    async def list_document(self, document: str) -> Sequence[StoredEvidence]:
        calls = select(EVIDENCE_DOCUMENTS.c.call).where(
            EVIDENCE_DOCUMENTS.c.document == clean_text(document)
        )
        return await self._list(EVIDENCE.c.call.in_(calls))

    async def find_calls(self, owner: str, documents: Collection[str]) -> Mapping[str, str]:
        ids = [clean_text(id_) for id_ in documents]
        parts = [
            select_calls_of(owner, ids[first : first + _CHUNK])
            for first in range(0, len(ids), _CHUNK)
        ]

        def read(transaction: Transaction) -> dict[str, str]:
            return {row.call: row.subject for part in parts for row in transaction.all(part)}

        return await self._database.read(read)

    async def list_places(
        self, owner: str, document: str, *, before: tuple[float, str] | None = None, limit: int = 50
    ) -> Sequence[EvidencePlace]:
        calls = select(EVIDENCE_DOCUMENTS.c.call).where(
            EVIDENCE_DOCUMENTS.c.document == clean_text(document)
        )
        is_own = EVIDENCE.c.call.in_(calls) & (EVIDENCE.c.owner == clean_text(owner))
        id_ = case((EVIDENCE.c.subject == "", EVIDENCE.c.call), else_=EVIDENCE.c.subject)
        at = func.max(EVIDENCE.c.at)
        places = select(id_.label("id"), at.label("at")).where(is_own).group_by(id_)
        if before is not None:
            before = before[0], clean_text(before[1])
            places = places.having((at < before[0]) | ((at == before[0]) & (id_ < before[1])))
        places = places.order_by(at.desc(), id_.desc()).limit(limit)

        def read(transaction: Transaction) -> list[EvidencePlace]:
            found = {row.id: row.at for row in transaction.all(places)}
            wanted = is_own & id_.in_([*found])
            bodies = (
                select(id_.label("id"), EVIDENCE.c.body)
                .where(wanted)
                .order_by(EVIDENCE.c.at, EVIDENCE.c.last, EVIDENCE.c.call)
            )
            rows: dict[str, list[StoredEvidence]] = {}
            for row in transaction.all(bodies) if found else ():
                rows.setdefault(row.id, []).append(load(row.body, StoredEvidence))
            return [
                EvidencePlace(id=id_, at=at, rows=tuple(rows.get(id_, ())))
                for id_, at in found.items()
            ]

        return await self._database.read(read)

    async def forget(self, *, before: float) -> int:
        old = (
            select(EVIDENCE.c.call)
            .where(EVIDENCE.c.at < before)
            .order_by(EVIDENCE.c.at)
            .limit(_CHUNK)
            .with_for_update(skip_locked=True)
        )

        def forget(transaction: Transaction) -> int:
            calls = [row.call for row in transaction.all(old)]
            if not calls:
                return 0
            links = EVIDENCE_DOCUMENTS.c.call.in_(calls)
            transaction.execute(delete(EVIDENCE_DOCUMENTS).where(links))
            return transaction.execute(delete(EVIDENCE).where(EVIDENCE.c.call.in_(calls)))

        forgotten = 0
        while True:
            count = await self._database.run(forget, atomic=True)
            forgotten += count
            if count < _CHUNK:
                return forgotten

    async def _list(self, wanted: "ColumnElement[bool]") -> Sequence[StoredEvidence]:
        statement = (
            select(EVIDENCE.c.body)
            .where(wanted)
            .order_by(EVIDENCE.c.at, EVIDENCE.c.last, EVIDENCE.c.call)
            .limit(_MAX_ROWS)
        )
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return [load(row.body, StoredEvidence) for row in rows]


def select_calls_of(owner: str, documents: Sequence[str]) -> Select[*tuple[Any, ...]]:
    """The query for the calls of an owner that quote any of these documents."""
    table, links = EVIDENCE.c, EVIDENCE_DOCUMENTS.c
    # else SQLite looks up each document for each call of the owner
    is_own = table.owner.concat("") == clean_text(owner)
    return (
        select(table.call, table.subject)
        .join_from(EVIDENCE_DOCUMENTS, EVIDENCE, table.call == links.call)
        .where(is_own, links.document.in_(documents))
    )


def _values(evidence: StoredEvidence) -> dict[str, Any]:
    asks = len(evidence.bases) == 1 and not evidence.subject and evidence.mode != "read"
    return {
        "call": clean_text(evidence.call),
        "subject": clean_text(evidence.subject),
        "owner": clean_text(evidence.owner),
        "asked_of": clean_text(evidence.bases[0] if asks else ""),
        "at": evidence.at,
        "last": evidence.last,
        "body": dump(evidence),
    }
