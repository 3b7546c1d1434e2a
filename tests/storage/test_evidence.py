"""What was found for questions, in every storage."""

from pathlib import Path
from typing import Any

from msgspec import structs
from tests.storage.made import a_storage, explain_query

from pegboard.core.knowledge import Citation, Evidence
from pegboard.core.ports.knowledge.evidence_store import StoredEvidence
from pegboard.storage import Storage
from pegboard.storage.sql.knowledge.evidence import select_calls_of
from pegboard.testing import FakeClock


def an_evidence(call: str = "k1", **changes: Any) -> StoredEvidence:
    """What a question to the base b1 has found in d1."""
    citation = Citation(
        number=1, piece="p1", document="d1", base="b1", quote="é\x00 30 days", start=0, end=9
    )
    fields: dict[str, Any] = {
        "owner": "acme/ada",
        "mode": "grounding",
        "question": "When?",
        "at": 10.0,
        "evidence": Evidence(question="When?", enough=True, citations=(citation,)),
        "bases": ("b1",),
        "documents": ("d1",),
        "last": 1,
    }
    return StoredEvidence(call=call, **(fields | changes))


def calls(found: Any) -> list[str]:
    return [item.call for item in found]


async def test_evidence_is_given_back_whole_and_replaced_by_the_same_call(
    storage: Storage, other: Storage
) -> None:
    first = an_evidence()
    await storage.evidence.put(first)
    stored = await other.evidence.get("k1")
    assert stored is not None
    assert structs.replace(stored, evidence=first.evidence) == first
    assert stored.evidence.citations[0].quote.endswith("30 days")

    blank = Evidence(question="When?", enough=False)
    await other.evidence.put(structs.replace(first, documents=(), evidence=blank))

    stored = await storage.evidence.get("k1")
    assert stored is not None
    assert stored.evidence == blank
    assert await storage.evidence.list_document("d1") == []
    assert await storage.evidence.get("k2") is None


async def test_evidence_of_a_subject_is_listed_the_oldest_first(storage: Storage) -> None:
    for call, at, last in (("late", 30.0, 4), ("early", 20.0, 1), ("same", 20.0, 2)):
        await storage.evidence.put(an_evidence(call, subject="c1", at=at, last=last))
    await storage.evidence.put(an_evidence("elsewhere", subject="c2"))

    assert calls(await storage.evidence.list_subject("c1")) == ["early", "same", "late"]
    assert await storage.evidence.list_subject("c3") == []


async def test_a_caller_lists_its_own_questions_to_a_base_outside_of_conversations(
    storage: Storage,
) -> None:
    for call, at in (("early", 20.0), ("late", 30.0)):
        await storage.evidence.put(an_evidence(call, at=at))
    await storage.evidence.put(an_evidence("of_bob", owner="acme/bob"))
    await storage.evidence.put(an_evidence("in_chat", subject="c1"))
    await storage.evidence.put(an_evidence("elsewhere", bases=("b2",)))
    await storage.evidence.put(an_evidence("of_many", bases=("b1", "b2")))
    await storage.evidence.put(an_evidence("read_on", mode="read", question="pages 1 to 1"))

    assert calls(await storage.evidence.list_asked("acme/ada", "b1")) == ["late", "early"]
    assert calls(await storage.evidence.list_asked("acme/ada", "b1", limit=1)) == ["late"]


async def test_what_quotes_a_document_is_listed(storage: Storage) -> None:
    await storage.evidence.put(an_evidence("one"))
    await storage.evidence.put(an_evidence("both", at=20.0, documents=("d1", "d2")))
    await storage.evidence.put(an_evidence("other", documents=("d2",)))

    assert calls(await storage.evidence.list_document("d1")) == ["one", "both"]


async def test_calls_of_an_owner_that_quote_any_of_many_documents_are_found(
    storage: Storage,
) -> None:
    await storage.evidence.put(an_evidence("alone", documents=("d1", "d2")))
    await storage.evidence.put(an_evidence("in_chat", documents=("d700",), subject="c1"))
    await storage.evidence.put(an_evidence("other", documents=("x",)))
    await storage.evidence.put(an_evidence("of_bob", owner="acme/bob"))
    many = [f"d{number}" for number in range(1_000)]

    assert await storage.evidence.find_calls("acme/ada", many) == {"alone": "", "in_chat": "c1"}
    assert await storage.evidence.find_calls("acme/ada", []) == {}


async def test_calls_that_quote_documents_are_looked_up_by_these(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_storage("sqlite", tmp_path, clock):
        plan = explain_query(tmp_path, select_calls_of("acme/ada", ["d1", "d2"]))

    assert [step.partition(" (")[2] for step in plan] == ["document=?)", "call=?)"], plan


async def test_places_of_an_owner_that_quote_a_document_are_listed_page_by_page(
    storage: Storage,
) -> None:
    for call, at, subject in (
        ("early", 20.0, "c1"), ("alone", 30.0, ""), ("late", 40.0, "c1"), ("same", 30.0, "c2"),
    ):  # fmt: skip
        await storage.evidence.put(an_evidence(call, at=at, subject=subject))
    await storage.evidence.put(an_evidence("of_bob", owner="acme/bob", at=50.0))
    await storage.evidence.put(an_evidence("other", documents=("d2",), at=50.0))

    first = await storage.evidence.list_places("acme/ada", "d1", limit=2)
    before = first[-1].at, first[-1].id
    rest = await storage.evidence.list_places("acme/ada", "d1", before=before, limit=2)

    assert [(it.id, it.at, calls(it.rows)) for it in (*first, *rest)] == [
        ("c1", 40.0, ["early", "late"]),
        ("c2", 30.0, ["same"]),
        ("alone", 30.0, ["alone"]),
    ]


async def test_old_evidence_is_forgotten_with_its_documents(storage: Storage) -> None:
    await storage.evidence.put(an_evidence("old", at=9.0))
    await storage.evidence.put(an_evidence("new"))

    assert await storage.evidence.forget(before=10.0) == 1

    assert await storage.evidence.get("old") is None
    assert calls(await storage.evidence.list_document("d1")) == ["new"]
    assert await storage.evidence.forget(before=10.0) == 0


async def test_all_old_evidence_is_forgotten_however_much_there_is(
    tmp_path: Path, clock: FakeClock
) -> None:
    old = [an_evidence(f"old{number}", at=9.0, documents=()) for number in range(10_001)]
    async with a_storage("sqlite", tmp_path, clock) as storage:
        await storage.evidence.put_all(old)

        assert await storage.evidence.forget(before=10.0) == len(old)


async def test_several_are_stored_at_once(storage: Storage) -> None:
    await storage.evidence.put(an_evidence("k1", documents=("d1", "d2")))
    await storage.evidence.put_all(
        [an_evidence("k1", documents=("d2",), last=7), an_evidence("k2", documents=("d1", "d2"))]
    )
    await storage.evidence.put_all([])

    stored = await storage.evidence.get("k1")
    assert stored is not None
    assert stored.last == 7
    assert calls(await storage.evidence.list_document("d1")) == ["k2"]
    assert sorted(calls(await storage.evidence.list_document("d2"))) == ["k1", "k2"]
