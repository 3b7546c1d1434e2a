"""Stage 1, retrieval: what several bases have on a question and on each of its parts."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import structs

from pegboard.core.knowledge import BaseLook, Hit, Retrieval
from pegboard.knowledge.grounding.question import read_question


class EvidenceRetriever(Protocol):
    """Finds pieces in the bases that a caller may see."""

    async def __call__(self, question: str, /, *, limit: int) -> Retrieval:
        """The best pieces for a question, best first."""
        ...


async def retrieve_evidence(
    question: str, retriever: EvidenceRetriever, *, limit: int = 8
) -> Retrieval:
    """The best pieces for a question; one that asks several things is searched for each of them.

    A piece that is found more than once keeps its best score. The pieces of the whole question and
    of its parts take turns, so that no part goes without.
    """
    whole = await retriever(question, limit=limit)
    parts = read_question(question)
    if len(parts) == 1:
        return whole
    found = [whole, *[await retriever(part.text, limit=limit) for part in parts]]
    best: dict[str, Hit] = {}
    for rank in range(limit):
        for retrieval in found:
            for hit in retrieval.hits[rank : rank + 1]:
                known = best.get(hit.piece.id)
                if known is None or known.score < hit.score:
                    best[hit.piece.id] = hit
    hits = sorted(list(best.values())[:limit], key=lambda hit: -hit.score)
    return structs.replace(whole, hits=tuple(hits), looks=_join_looks(found))


def _join_looks(found: Sequence[Retrieval]) -> tuple[BaseLook, ...]:
    """The looks of the whole question, with the stages that failed for any part of it."""
    skipped: dict[str, dict[str, None]] = {}
    for look in (look for retrieval in found for look in retrieval.looks):
        skipped.setdefault(look.base, {}).update(dict.fromkeys(look.skipped))
    return tuple(
        structs.replace(look, skipped=tuple(skipped[look.base])) for look in found[0].looks
    )
