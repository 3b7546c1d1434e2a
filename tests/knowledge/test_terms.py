"""The terms of pieces and questions."""

import pytest

from pegboard.knowledge.terms import cut_passages, list_terms, weigh_question


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        pytest.param(
            "parseHTTPResponse", "parse http response parse_http http_response", id="code"
        ),
        pytest.param("Ärzte sofort", "arzte sofort arzte_sofort", id="accents"),
        pytest.param("invoices", "invoice", id="plural"),
        pytest.param("東京都", "東京 京都 東京_京都", id="Japanese"),
        pytest.param("", "", id="empty"),
    ],
)
def test_words_and_their_pairs_are_terms(text: str, terms: str) -> None:
    assert list_terms(text) == terms


def test_a_phrase_weighs_more_than_its_words_and_usual_words_weigh_little() -> None:
    weights = weigh_question("What is the notice period?")

    assert weights["notice"] == weights["period"] == 1.0
    assert 0 < weights["notice_period"] < 1
    assert weights["what"] < 0.5


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
