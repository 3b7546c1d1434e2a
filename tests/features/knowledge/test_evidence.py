"""Evidence: numbered on in a run, cited by answers, and without what was deleted."""

import asyncio
from collections.abc import AsyncGenerator

import pytest
from msgspec import structs

from pegboard.core.context import ToolContext
from pegboard.core.knowledge import Citation, Conflict, Evidence, Hit, Piece, Retrieval
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.ports.knowledge.evidence_store import StoredEvidence
from pegboard.core.principal import LOCAL
from pegboard.features.knowledge.deletion import Deletion, Quotes
from pegboard.features.knowledge.evidence import EvidenceLedger, cite_answer, shift_numbers
from pegboard.features.knowledge.evidence_views import find_end, view_answer
from pegboard.features.knowledge.parts import DocumentChange, KnowledgeChanges
from pegboard.features.knowledge.quotes import REMOVED
from pegboard.knowledge.grounding.passages import cite_passages
from pegboard.storage.memory.storage import MemoryStorage

TEXT = "Records can be returned within 30 days of purchase."


def make_evidence(document: str = "d1", text: str = TEXT) -> Evidence:
    """One quote of one document."""
    piece = Piece(
        id=f"p-{document}", document=document, base="b", number=1, text=text, start=0, end=len(text)
    )
    citation = Citation(
        number=1, piece=piece.id, document=document, base="b", quote=text, start=0, end=len(text)
    )
    hit = Hit(piece=piece, score=0.8, stages={"words": 1}, scores={"words": 0.8})
    retrieval = Retrieval(question="When?", hits=(hit,))
    return Evidence(question="When?", enough=True, citations=(citation,), retrieval=retrieval)


async def _no_conversation(_run: str) -> Conversation | None:
    return None


@pytest.fixture
async def storage() -> AsyncGenerator[MemoryStorage]:
    async with MemoryStorage() as opened:
        yield opened


@pytest.fixture
def ledger(storage: MemoryStorage) -> EvidenceLedger:
    return EvidenceLedger(storage.evidence, _no_conversation, lambda: 1.0)


async def find(ledger: EvidenceLedger, document: str, call: str, run: str = "r1") -> int:
    """Note what a call has found; the largest number."""
    ctx = ToolContext(principal=LOCAL, run_id=run, call_id=call)
    evidence = make_evidence(document)
    return (await ledger.add(evidence, "simple", ctx, bases=("b",), took=0.1)).last


async def test_calls_of_one_run_are_numbered_on_also_at_the_same_time(
    ledger: EvidenceLedger,
) -> None:
    numbers = await asyncio.gather(*(find(ledger, f"d{n}", f"c{n}") for n in range(4)))

    assert sorted(numbers) == [1, 2, 3, 4]
    assert await find(ledger, "d9", "c9", run="r2") == 1


async def test_an_answer_keeps_what_its_run_has_found(ledger: EvidenceLedger) -> None:
    await find(ledger, "d1", "c1")
    text = "The records can be returned within 30 days [1]. Or within 90 days [1]."

    cited = await cite_answer(ledger, text, "r1")

    assert [item.document for item in cited.citations] == ["d1"]
    assert (cited.text.count("[1]"), cited.left_out) == (1, 1)
    other = await cite_answer(ledger, text, "r2")
    assert (other.text, other.citations) == (text, ())


async def test_an_answer_cites_the_sentence_of_a_piece_that_it_rests_on(
    ledger: EvidenceLedger,
) -> None:
    ctx = ToolContext(principal=LOCAL, run_id="r1", call_id="c1")
    text = f"The shop opens on Sundays. {TEXT} Gift cards are never paid out."
    evidence = cite_passages(make_evidence(text=text))
    await ledger.add(evidence, "simple", ctx, bases=("b",), took=0.1)

    cited = await cite_answer(ledger, "Records come back within 30 days [1].", "r1")

    assert [(it.quote, it.start) for it in cited.citations] == [(TEXT, 27)]


async def test_what_is_deleted_is_in_no_evidence(
    storage: MemoryStorage, ledger: EvidenceLedger
) -> None:
    await find(ledger, "d1", "c1")
    gone: list[tuple[frozenset[str], str, str]] = []

    async def forget(quotes: Quotes) -> int:
        gone.append((quotes.subjects, quotes.document, quotes.finder.redact(f"So: {TEXT}")))
        return 1

    deletion = Deletion(storage.evidence, storage.documents, forget, storage.upkeep.forget_results)
    row = StoredDocument(
        id="d1", base="b", name="a.md", owner="/local", created_at=0, updated_at=0, size=7, pieces=1
    )
    counted = await deletion.count([row], LOCAL)
    assert counted == {"documents": 1, "bytes": 7, "pieces": 1, "results": 1, "answers": 1}

    await deletion.forget(row)

    stored = await storage.evidence.get("c1")
    assert stored is not None
    answer = view_answer(stored)
    assert (answer["hits"], gone) == ([], [({"r1"}, "d1", f"So: {REMOVED}.")])
    assert TEXT not in str(answer)
    assert await storage.evidence.list_document("d1") == []


def test_numbers_shift_together() -> None:
    evidence = make_evidence()
    conflict = Conflict(first=1, second=2, judge="figures")
    moved = shift_numbers(structs.replace(evidence, conflicts=(conflict,)), 3)

    assert [item.number for item in moved.citations] == [4]
    assert (moved.conflicts[0].first, moved.conflicts[0].second) == (4, 5)


async def test_watchers_get_the_changes_of_their_base_alone() -> None:
    changes = KnowledgeChanges()
    with changes.watch("b1") as queue:
        changes.notify(DocumentChange("b2", "d"))
        changes.notify(DocumentChange("b1", "d"))

        assert (queue.qsize(), queue.get_nowait()) == (1, DocumentChange("b1", "d"))


@pytest.mark.parametrize(
    ("evidence", "end"),
    [(make_evidence(), "found"), (Evidence(question="When?", enough=False), "nothing")],
    ids=["something", "nothing"],
)
def test_a_simple_question_says_whether_it_found_anything(evidence: Evidence, end: str) -> None:
    stored = StoredEvidence(
        call="k1", owner="/local", mode="simple", question="When?", at=1.0, evidence=evidence
    )

    assert find_end(stored) == end
