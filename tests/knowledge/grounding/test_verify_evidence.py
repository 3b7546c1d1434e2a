from tests.knowledge.grounding.made import make_hit, make_retrieval

from pegboard.core.knowledge import DocumentFinding
from pegboard.knowledge.grounding.ground import ground
from pegboard.knowledge.grounding.verify_evidence import StoredText, verify_evidence

NEW = "Customers may bring back any record within 30 days of purchase."
OLD = "Customers may bring back any record within 14 days of purchase."
QUESTION = "How long may a customer bring a record back?"


async def test_quotes_that_the_stored_text_has_lost_are_left_out() -> None:
    hits = make_hit(NEW, document="new"), make_hit(OLD, document="old")
    found = await ground(QUESTION, make_retrieval(QUESTION, *hits))

    both = verify_evidence(
        found, {"new": StoredText(revision=3, text=NEW), "old": StoredText(revision=1, text=OLD)}
    )
    one = verify_evidence(
        found, {"new": StoredText(revision=3, text=NEW), "old": StoredText(revision=2, text="!")}
    )
    none = verify_evidence(found, {})

    assert [citation.revision for citation in both.citations] == [3, 1]
    assert (both.conflicts, both.left_out) == (found.conflicts, 0)
    assert [citation.document for citation in one.citations] == ["new"]
    assert (one.conflicts, one.left_out, one.enough) == ((), 1, True)
    assert not none.enough
    assert none.reason == "The documents have changed since they were searched."


async def test_a_quote_of_a_text_from_which_a_place_was_left_out_stays() -> None:
    stored = NEW.replace("any record", "any [hush] record")
    place = stored.index("[hush]")
    shown = stored.replace("[hush]", " " * 6)
    found = await ground(QUESTION, make_retrieval(QUESTION, make_hit(shown, document="new")))
    findings = (DocumentFinding(kind="hidden", start=place, end=place + 6),)

    kept = verify_evidence(found, {"new": StoredText(revision=1, text=stored, findings=findings)})
    lost = verify_evidence(found, {"new": StoredText(revision=1, text=stored)})

    assert [it.quote for it in kept.citations] == [it.quote for it in found.citations]
    assert lost.citations == ()
