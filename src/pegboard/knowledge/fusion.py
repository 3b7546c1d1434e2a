"""Joins what was found by words and by meaning into one list."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from pegboard.core.knowledge import Hit, Piece
from pegboard.core.ports.knowledge.index import VectorMatches, WordMatches
from pegboard.knowledge.calibration import (
    BY_BOTH,
    BY_MEANING,
    BY_WORDS,
    add_stages,
    measure_cosine,
    measure_question,
)

_KIN = 0.4
"""How much the best piece of its document counts for a piece: answers stand where the topic is."""


class MeaningMatches(Struct, frozen=True):
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


def fuse(
    terms: Mapping[str, float],
    words: WordMatches,
    meanings: Sequence[MeaningMatches],
    *,
    limit: int | None = None,
) -> list[Hit]:
    """The best pieces that were found, best first, with their ranks and scores by stage.

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
    best = _Best.of(candidates.values(), floors)
    scored = [(best.judge(item), key, item) for key, item in candidates.items()]
    scored.sort(key=lambda row: (-row[0], row[2].piece.document, row[2].piece.number))
    return [
        Hit(
            piece=item.piece,
            score=round(score, 4),
            stages={stage: found[key] for stage, found in ranks.items() if key in found},
            scores=best.judge_stages(item),
        )
        for score, key, item in scored[:limit]
    ]


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


class _Best(Struct, frozen=True):
    """The best measured score of each kind for a question."""

    by_words: float
    words: float
    meaning: float
    both: float
    bases: Collection[str]

    @classmethod
    def of(cls, candidates: Collection[_Candidate], floors: Mapping[str, float]) -> "_Best":
        with_meaning = [item.raw for item in candidates if item.piece.base in floors]
        without = [item.raw for item in candidates if item.piece.base not in floors]
        words = max((item.words or 0.0 for item in candidates), default=0.0)
        return cls(
            by_words=max(without, default=0.0),
            words=words,
            meaning=max((item.meaning or 0.0 for item in candidates), default=0.0),
            both=max(with_meaning, default=0.0),
            bases=frozenset(floors),
        )

    def judge(self, item: _Candidate) -> float:
        """The calibrated score of a piece."""
        if item.piece.base in self.bases:
            return BY_BOTH.apply(item.raw, self.both)
        return BY_WORDS.apply(item.raw, max(self.by_words, self.words))

    def judge_stages(self, item: _Candidate) -> dict[str, float]:
        """The calibrated score of each stage that found it."""
        scores: dict[str, float] = {}
        if item.words is not None:
            scores["words"] = round(BY_WORDS.apply(item.words, self.words), 4)
        if item.meaning is not None:
            scores["meaning"] = round(BY_MEANING.apply(item.meaning, self.meaning), 4)
        return scores
