"""What results contain is read within bounds, record by record."""

from typing import Any

import pytest

from pegboard.access.result_values import collect_values, contains_word, find_entry, list_values

ADA = {"name": "Ada", "mail": "ada@x.example", "tags": ["vip", 7], "boss": {"name": "Eve"}}
ASKED = frozenset({"ada lovelace"})


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"name": "Ada Lovelace", "mail": "a@x.example"}, {"a@x.example"}),
        ([{"name": "Ada Lovelace", "n": 7}, {"name": "Bob"}], {"7"}),
        ({"query": "Ada Lovelace", "people": [{"name": "Ada Lovelace", "n": 7}]}, {"7"}),
        ([{"name": "Ada Lovelace", "n": 7}, {"name": "Ada Lovelace", "n": 8}], set()),
        ([{"name": "Countess Ada Lovelace", "n": 7}], set()),
        ([{"who": {"name": "Ada Lovelace"}, "n": 7}], set()),
        ({"name": "Ada Lovelace", "boss": {"n": 7}, "more": [["x"]]}, set()),
        ("Ada Lovelace", set()),
        (None, set()),
        ([{"name": "Ada Lovelace"}] + [{"n": n} for n in range(300)], set()),
    ],
    ids=[
        "one object",
        "one of a list",
        "a list within an answer",
        "two of this name",
        "a longer name",
        "a name within",
        "values within",
        "a text",
        "nothing",
        "very many",
    ],
)
def test_the_only_record_of_a_name_is_found(data: Any, found: set[str]) -> None:
    assert find_entry(data, ASKED) == found


@pytest.mark.parametrize("asked", ["ok", "12345", ""])
def test_numbers_and_short_words_find_nothing(asked: str) -> None:
    assert find_entry({"name": asked, "mail": "a@x.example"}, frozenset({asked})) == frozenset()


def test_values_are_whole_and_bounded() -> None:
    assert set(list_values(ADA)) == {"ada", "ada@x.example", "vip", "7", "eve"}
    assert collect_values(["x" * 300, "y", *range(5_000)]) <= {"y", *map(str, range(5_000))}
    assert len(collect_values(list(range(5_000)))) == 2_000


@pytest.mark.parametrize(
    ("text", "part", "is_there"),
    [
        ("ask ada now", "ada", True),
        ("ask ada.", "ada", True),
        ("ask ada.example", "ada", False),
        ("ask canada", "ada", False),
        ("ada", "", False),
    ],
)
def test_a_word_is_whole(text: str, part: str, *, is_there: bool) -> None:
    assert contains_word(text, part) is is_there
