"""Joins what was found by words and by meaning into one list."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from pegboard.core.knowledge import Hit, Piece
from pegboard.core.ports.knowledge_index import VectorMatches, WordMatches
from pegboard.knowledge.calibration import (
    BY_BOTH,
    BY_MEANING,
    BY_WORDS,
    add_stages,
    measure_cosine,
    measure_question,
)

_KIN = 0.3
"""How much the best piece of its document counts for a piece: answers stand where the topic is."""


class Meaning(Struct, frozen=True):
    """What was found by the vectors of an embedder.

    Attributes:
        bases: The ids of the bases that were searched.
        is_full: Whether there may be more than was found.
    """

    matches: VectorMatches
    bases: Collection[str]
    is_full: bool = False


class _Candidate(Struct):
    """A piece with its measured scores; None for a stage that did not find it."""

    piece: Piece
    words: float | None = None
    meaning: float | None = None
    raw: float = 0.0


def fuse(terms: Mapping[str, float], words: WordMatches, meanings: Sequence[Meaning]) -> list[Hit]:
    """All pieces that were found, best first, with their ranks and scores by stage.

    It is a convex sum of measured scores. Joining ranks (reciprocal rank fusion) loses against
    BM25 where questions have rare identifiers: it cannot tell a sure match from a weak one.
    """
    candidates: dict[str, _Candidate] = {}
    ceiling = measure_question(terms, words.rarities)
    for item in words.pieces if ceiling else ():
        candidates[item.piece.id] = _Candidate(item.piece, item.score / ceiling)
    floors: dict[str, float] = {}
    for meaning in meanings:
        floor = 0.0
        for item in meaning.matches.pieces:
            known = candidates.setdefault(item.piece.id, _Candidate(item.piece))
            known.meaning = floor = measure_cosine(item.score, meaning.matches)
        floors |= dict.fromkeys(meaning.bases, floor if meaning.is_full else 0.0)
    _add_up(candidates.values(), floors)
    ranks = {
        "words": _rank({key: it.words for key, it in candidates.items()}),
        "meaning": _rank({key: it.meaning for key, it in candidates.items()}),
    }
    hits = [
        _make_hit(key, item, ranks, has_meaning=item.piece.base in floors)
        for key, item in candidates.items()
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.piece.document, hit.piece.number))
    return hits


def _add_up(candidates: Collection[_Candidate], floors: Mapping[str, float]) -> None:
    best: dict[str, float] = {}
    for item in candidates:
        words = item.words or 0.0
        floor = floors.get(item.piece.base)
        if floor is None:
            item.raw = words
        else:
            item.raw = add_stages(words, floor if item.meaning is None else item.meaning)
        document = item.piece.document
        best[document] = max(item.raw, best.get(document, 0.0))
    for item in candidates:
        item.raw = (item.raw + _KIN * best[item.piece.document]) / (1 + _KIN)


def _rank(scores: Mapping[str, float | None]) -> dict[str, int]:
    found = {key: score for key, score in scores.items() if score is not None}
    return {key: rank for rank, key in enumerate(sorted(found, key=lambda key: -found[key]), 1)}


def _make_hit(
    key: str, item: _Candidate, ranks: Mapping[str, Mapping[str, int]], *, has_meaning: bool
) -> Hit:
    scores: dict[str, float] = {}
    if item.words is not None:
        scores["words"] = round(BY_WORDS.apply(item.words), 4)
    if item.meaning is not None:
        scores["meaning"] = round(BY_MEANING.apply(item.meaning), 4)
    curve = BY_BOTH if has_meaning else BY_WORDS
    return Hit(
        piece=item.piece,
        score=round(curve.apply(item.raw), 4),
        stages={stage: found[key] for stage, found in ranks.items() if key in found},
        scores=scores,
    )
