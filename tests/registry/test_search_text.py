"""Text as terms: words in one form, and questions as several intents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.registry.search_text import list_words, split_intents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shop__findOrders", ["shop", "find", "order"]),
        ("HTTPRequest2", ["http", "request", "2"]),
        ("the boxes of queries", ["box", "query"]),
        ("class status analysis gas", ["class", "status", "analysis", "gas"]),
        ("matches, dishes, addresses, files", ["match", "dish", "address", "file"]),
        ("Größe Übersetzung", ["grosse", "ubersetzung"]),
        ("API漢字変換x", ["api", "漢字", "字変", "変換", "x"]),
        ("字", ["字"]),
        ("Поиск заказов", ["поиск", "заказов"]),
        ("", []),
    ],
)
def test_words_have_one_form(text: str, expected: list[str]) -> None:
    assert list_words(text) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Book flights. Then convert 10 euros.", [{"book", "flight"}, {"convert", "10", "euro"}]),
        ("Book a flight and then send an e-mail", [{"book", "flight"}, {"send", "mail", "e"}]),
        ("Print terms and conditions", [{"print", "term", "condition"}]),
        ("Brief schreiben und danach Bild malen", [{"brief", "schreiben"}, {"bild", "malen"}]),
        ("Crée une facture, puis envoie un mail", [{"cree", "facture"}, {"envoie", "mail"}]),
        ("I would like to know", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_question_is_split_at_its_intents(question: str, expected: list[set[str]]) -> None:
    intents = split_intents(question)
    strong = [
        {term for term, weight in intent.terms.items() if weight == 1.0} for intent in intents
    ]

    assert [terms for terms in strong if terms] == expected


def test_words_of_every_question_weigh_little() -> None:
    [intent] = split_intents("Please find orders.")

    assert intent.terms == {"please": 0.2, "find": 0.2, "order": 1.0}


@given(st.text(max_size=200))
def test_intents_have_the_words_of_the_question(question: str) -> None:
    terms = {term for intent in split_intents(question) for term in intent.terms}

    assert terms <= set(list_words(question)) | {"en", "e"}


def test_the_end_of_a_very_long_question_is_not_read() -> None:
    assert split_intents("a" * 5_000 + " order") == [({"a" * 4_000: 1.0}, "a" * 4_000)]
