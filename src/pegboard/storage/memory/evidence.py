"""Evidence in memory."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.knowledge.evidence_store import EvidencePlace, StoredEvidence

_MAX_ROWS = 10_000


class MemoryEvidence:
    """An `EvidenceStore` in memory; of many rows the oldest go first."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty."""
        self._gate = gate
        self._rows: dict[str, StoredEvidence] = {}

    async def put(self, evidence: StoredEvidence) -> None:
        with self._gate:
            self._rows[evidence.call] = evidence
            while len(self._rows) > _MAX_ROWS:
                del self._rows[next(iter(self._rows))]

    async def put_all(self, evidence: Sequence[StoredEvidence]) -> None:
        for item in evidence:
            await self.put(item)

    async def get(self, call: str) -> StoredEvidence | None:
        with self._gate:
            return self._rows.get(call)

    async def list_subject(self, subject: str) -> Sequence[StoredEvidence]:
        return self._sort(row for row in self._list() if row.subject == subject)

    async def list_asked(
        self, owner: str, base: str, *, limit: int = 50
    ) -> Sequence[StoredEvidence]:
        found = self._sort(
            row
            for row in self._list()
            if row.owner == owner
            and not row.subject
            and row.bases == (base,)
            and row.mode != "read"
        )
        return found[::-1][:limit]

    async def list_document(self, document: str) -> Sequence[StoredEvidence]:
        return self._sort(row for row in self._list() if document in row.documents)

    async def find_calls(self, owner: str, documents: Collection[str]) -> Mapping[str, str]:
        wanted = frozenset(documents)
        return {
            row.call: row.subject
            for row in self._list()
            if row.owner == owner and not wanted.isdisjoint(row.documents)
        }

    async def list_places(
        self, owner: str, document: str, *, before: tuple[float, str] | None = None, limit: int = 50
    ) -> Sequence[EvidencePlace]:
        places: dict[str, list[StoredEvidence]] = {}
        for row in await self.list_document(document):
            if row.owner == owner:
                places.setdefault(row.subject or row.call, []).append(row)
        found = [
            EvidencePlace(id=id_, at=rows[-1].at, rows=tuple(rows)) for id_, rows in places.items()
        ]
        found.sort(key=lambda place: (place.at, place.id), reverse=True)
        return [it for it in found if before is None or (it.at, it.id) < before][:limit]

    async def forget(self, *, before: float) -> int:
        with self._gate:
            old = [call for call, row in self._rows.items() if row.at < before]
            for call in old:
                del self._rows[call]
            return len(old)

    def _list(self) -> list[StoredEvidence]:
        with self._gate:
            return list(self._rows.values())

    def _sort(self, rows: Iterable[StoredEvidence]) -> list[StoredEvidence]:
        return sorted(rows, key=lambda row: (row.at, row.last, row.call))
