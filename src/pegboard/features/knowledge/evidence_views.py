"""Evidence as JSON-compatible data, for tools and for doors."""

from collections.abc import Iterable
from typing import Any

from msgspec import to_builtins

from pegboard.core.knowledge import Citation, Conflict, Evidence, Hit
from pegboard.core.ports.knowledge.evidence_store import StoredEvidence
from pegboard.features.knowledge.ask_schemas import AskEnd


def view_citation(citation: Citation) -> dict[str, Any]:
    """A `CitationAnswer`."""
    data: dict[str, Any] = to_builtins(citation)
    return {**data, "is_deleted": not citation.quote}


def view_conflict(conflict: Conflict) -> dict[str, Any]:
    """A `ConflictAnswer`."""
    return to_builtins(conflict)


def find_end(stored: StoredEvidence) -> AskEnd:
    """How a question ended."""
    evidence = stored.evidence
    if stored.mode != "grounding":
        return "found" if evidence.retrieval.hits or evidence.citations else "nothing"
    if not evidence.enough:
        return "not_enough"
    return "conflict" if evidence.conflicts else "enough"


def view_ask(stored: StoredEvidence) -> dict[str, Any]:
    """An `AskSummary`."""
    confidence = stored.evidence.confidence
    return {
        "call": stored.call,
        "question": stored.question,
        "mode": "grounding" if stored.mode == "grounding" else "simple",
        "at": stored.at,
        "end": find_end(stored),
        "citations": len(stored.evidence.citations),
        "confidence": None if confidence is None else confidence.value,
    }


def view_answer(stored: StoredEvidence) -> dict[str, Any]:
    """An `AskAnswer`."""
    evidence = stored.evidence
    cited = evidence.citations
    return {
        **view_ask(stored),
        "reason": evidence.reason,
        "took": stored.took,
        "hits": [view_hit(hit, cited) for hit in evidence.retrieval.hits],
        "quotes": [view_citation(it) for it in cited],
        "conflicts": [view_conflict(it) for it in evidence.conflicts],
        "parts_of_confidence": to_builtins(evidence.confidence),
        "parts": [to_builtins(it) for it in evidence.parts],
        "looks": [to_builtins(it) for it in evidence.retrieval.looks],
        "left_out": evidence.left_out,
    }


def view_evidence(stored: StoredEvidence) -> dict[str, Any]:
    """What the result of a tool has as structured content."""
    evidence = stored.evidence
    data: dict[str, Any] = {
        "question": stored.question,
        "enough": evidence.enough,
        "citations": [to_builtins(it) for it in evidence.citations],
        "looks": [to_builtins(it) for it in evidence.retrieval.looks],
    }
    if stored.mode == "grounding":
        data |= {
            "reason": evidence.reason,
            "conflicts": [to_builtins(it) for it in evidence.conflicts],
            "confidence": to_builtins(evidence.confidence),
            "parts": [to_builtins(it) for it in evidence.parts],
            "left_out": evidence.left_out,
        }
        return data
    data["scores"] = {hit.piece.id: hit.score for hit in evidence.retrieval.hits}
    if stored.mode == "simple":
        data["pieces"] = [to_builtins(hit.piece) for hit in evidence.retrieval.hits]
    return data


def view_hit(hit: Hit, citations: Iterable[Citation]) -> dict[str, Any]:
    """A `HitAnswer`."""
    piece = hit.piece
    return {
        "piece": piece.id,
        "number": piece.number,
        "document": piece.document,
        "base": piece.base,
        "title": hit.title,
        "edition": hit.edition,
        "page": piece.page,
        "heading": piece.heading,
        "start": piece.start,
        "end": piece.end,
        "text": piece.text,
        "score": hit.score,
        "stages": {
            stage: {"rank": rank, "score": hit.scores.get(stage, 0.0)}
            for stage, rank in hit.stages.items()
        },
        "citations": [it.number for it in citations if it.piece == piece.id],
    }


def count_quotes(evidence: Evidence, document: str) -> int:
    """How many quotes of a document stand in evidence."""
    return sum(it.document == document for it in evidence.citations)
