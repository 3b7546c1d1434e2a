"""What was prepared for a search holds for its words alone."""

from pegboard.registry.prepared_search import BY_WORDS, PreparedSearch
from pegboard.registry.vector_index import VectorIndex


def test_meanings_hold_for_the_question_that_was_prepared() -> None:
    near = VectorIndex("test:model").measure_all([[1.0]])[0]
    prepared = PreparedSearch(question="rain", meanings={"rain": near})

    assert prepared.find_meanings("rain") == {"rain": near}
    assert prepared.find_meanings("snow") is None
    assert BY_WORDS.find_meanings("") is None
