"""How words and meaning are joined, and what the scores mean."""

from typing import Any

import pytest

from pegboard.core.knowledge import Piece
from pegboard.core.ports.knowledge.index import ScoredPiece, VectorMatches, WordMatches
from pegboard.knowledge.calibration import (
    BY_BOTH,
    BY_MEANING,
    BY_WORDS,
    measure_cosine,
    measure_question,
)
from pegboard.knowledge.fusion import MeaningMatches, fuse

TERMS = {"notice": 1.0, "period": 1.0, "notice_period": 0.5, "=noticeperiod": 1.0}
RARITIES = {"notice": 3.0, "period": 2.0, "notice_period": 5.0}


def scored(key: str, score: float, *, base: str = "b1", document: str = "") -> ScoredPiece:
    piece = Piece(
        id=key, document=document or key, base=base, number=1, text=key, start=0, end=len(key)
    )
    return ScoredPiece(piece, score)


def words(**scores: float) -> WordMatches:
    return WordMatches([scored(key, score) for key, score in scores.items()], RARITIES)


def meaning(*bases: str, is_full: bool = False, **scores: float) -> MeaningMatches:
    pieces = [scored(key, score) for key, score in scores.items()]
    return MeaningMatches(VectorMatches(pieces, 1000, 0.1), bases or ("b1",), is_full=is_full)


def order(hits: Any) -> list[str]:
    return [hit.piece.id for hit in hits]


def test_a_question_is_measured_by_its_words_alone() -> None:
    assert measure_question(TERMS, RARITIES) == 5.0


def test_a_cosine_is_measured_from_the_mean_of_what_is_visible() -> None:
    close = VectorMatches((), 100_000, 0.7)

    assert measure_cosine(0.7, close) == pytest.approx(0.0, abs=0.01)
    assert measure_cosine(0.85, close) == pytest.approx(0.5, abs=0.01)
    assert measure_cosine(1.0, close) == 1.0
    assert measure_cosine(-0.5, close) == 0.0
    assert measure_cosine(1.0, VectorMatches((), 1, 1.0)) == 1.0


def test_what_both_stages_find_comes_before_what_one_finds_as_well() -> None:
    hits = fuse(TERMS, words(both=4.0, one=4.0), [meaning(both=0.5, other=0.5)])

    assert order(hits) == ["both", "one", "other"]
    assert hits[0].stages == {"words": 1, "meaning": 1}
    assert hits[1].stages == {"words": 2}
    assert set(hits[2].scores) == {"meaning"}


def test_a_piece_that_vectors_did_not_reach_is_taken_to_be_the_next() -> None:
    alone = fuse(TERMS, words(one=5.0), [meaning(other=0.6)])
    full = fuse(TERMS, words(one=5.0), [meaning(other=0.6, is_full=True)])

    assert {hit.piece.id: hit.score for hit in full}["one"] > alone[0].score


def test_a_document_with_a_good_piece_lends_to_its_others() -> None:
    pieces = [
        scored("best", 5.0, document="d1"),
        scored("alone", 2.0, document="d2"),
        scored("kin", 2.0, document="d1"),
    ]
    assert order(fuse(TERMS, WordMatches(pieces, RARITIES), ())) == ["best", "kin", "alone"]


def test_a_base_without_an_embedder_is_not_behind_one_with() -> None:
    found = WordMatches([scored("a", 6.0, base="b1"), scored("b", 6.0, base="b2")], RARITIES)

    hits = {hit.piece.id: hit for hit in fuse(TERMS, found, [meaning("b1", a=0.6)])}

    assert hits["b"].score == hits["b"].scores["words"]
    assert abs(hits["a"].score - hits["b"].score) < 0.2


@pytest.mark.parametrize("curve", [BY_WORDS, BY_MEANING, BY_BOTH])
def test_a_score_grows_with_what_is_measured_and_with_standing_out(curve: Any) -> None:
    assert curve.apply(0.0, 1.0) == curve.apply(0.0, 0.0) == 0.0
    assert curve.apply(0.2, 0.2) < curve.apply(1.0, 1.0) < curve.apply(2.0, 2.0) < 1
    assert curve.apply(1.0, 2.0) < curve.apply(1.0, 1.0) < curve.apply(1.0, 0.9) + 1e-9
    assert curve.apply(0.01, 0.01) < 0.1


def test_a_question_about_something_else_has_no_sure_answer() -> None:
    (hit,) = fuse(TERMS, words(one=0.5), ())
    (sure,) = fuse(TERMS, words(one=9.0), ())

    assert hit.score < 0.3 < sure.score


def test_nothing_found_is_nothing() -> None:
    assert fuse({}, WordMatches(), ()) == []
    assert fuse(TERMS, WordMatches(), [meaning()]) == []
