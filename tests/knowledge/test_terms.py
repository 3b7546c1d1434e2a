"""The terms of pieces and questions."""

import pytest

from pegboard.knowledge.terms import cut_passages, list_terms, weigh_question


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param(
            "parseHTTPResponse",
            "pars http respons pars_http http_respons =parsehttpresponse",
            id="code",
        ),
        pytest.param("Ärzte sofort", "arzt sofort arzt_sofort", id="accents"),
        pytest.param("invoices", "invoic", id="plural"),
        pytest.param("run_target", "run target run_target =runtarget", id="snake case"),
        pytest.param("東京都", "東京 京都 東京_京都", id="Japanese"),
        pytest.param("", "", id="empty"),
    ],
)
def test_words_and_their_pairs_are_terms(text: str, terms: str) -> None:
    assert list_terms(text) == terms


def test_a_phrase_weighs_more_than_its_words_and_usual_words_weigh_little() -> None:
    weights = weigh_question("What is the notice period?")

    assert weights["notic"] == weights["period"] == 1.0
    assert 0 < weights["notic_period"] < 1
    assert weights["what"] < 0.5


@pytest.mark.parametrize("words", ["map maps mapped mapping", "create creates created creating"])
def test_forms_of_a_word_are_one_term(words: str) -> None:
    assert len({*list_terms(words).split()} - {*words.split()}) > 0
    assert len({term for term in list_terms(words).split() if "_" not in term}) == 1


@pytest.mark.parametrize("text", ["a" * 300_000, "aB" * 150_000, "_" * 300_000, "x_" * 150_000])
def test_a_word_without_end_is_read_in_time_and_cut(text: str) -> None:
    assert max(map(len, list_terms(text).split() or [""])) < 500


def test_a_long_text_is_cut_at_the_ends_of_sentences_and_nothing_is_lost() -> None:
    text = " ".join(f"Sentence {number} has some five words." for number in range(100))

    passages = cut_passages(text)

    assert "".join(passages) == text
    assert len(passages) > 3
    assert all(passage.strip().startswith("Sentence") for passage in passages)
    assert all(len(passage.split()) <= 150 for passage in passages)
    assert list_terms(text).count("\n") == len(passages) - 1


def test_a_text_of_a_script_without_spaces_is_cut_too() -> None:
    text = "東京都は日本の首都である。" * 60

    passages = cut_passages(text)

    assert "".join(passages) == text
    assert len(passages) > 2
