"""What stands word for word in a deleted document is taken out of texts."""

import pytest

from pegboard.features.knowledge.quotes import REMOVED, QuoteFinder

TEXT = "Records can be returned within 30 days of purchase, with the receipt, at the desk."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"So: {TEXT} Ask on.", f"So: {REMOVED}. Ask on."),
        ("RECORDS can be\nreturned within 30 **days** of purchase - yes", f"{REMOVED} - yes"),
        ("It can be returned within 30 days [1].", "It can be returned within 30 days [1]."),
        ("Nothing of it.", "Nothing of it."),
        ("", ""),
    ],
    ids=["whole", "another form", "own words", "other", "empty"],
)
def test_eight_words_in_a_row_are_a_quote(text: str, expected: str) -> None:
    assert QuoteFinder([TEXT]).redact(text) == expected


def test_a_short_document_is_a_quote_as_a_whole() -> None:
    assert QuoteFinder(["The code is 4711."]).redact("He said the code is 4711!") == (
        f"He said {REMOVED}!"
    )
    assert QuoteFinder(["Yes."]).redact("Yes.") == "Yes."


def test_characters_of_chinese_and_japanese_count_as_words() -> None:
    finder = QuoteFinder(["所长的奖金是每年九万元。"])

    assert finder.redact("他说所长的奖金是每年九万元吗") == f"他说{REMOVED}吗"


def test_strings_inside_of_data_are_redacted_at_any_depth() -> None:
    data = {"calls": [{"arguments": {"text": TEXT, "n": 3}}], "is_error": None}

    assert QuoteFinder([TEXT]).redact_data(data) == {
        "calls": [{"arguments": {"text": f"{REMOVED}.", "n": 3}}],
        "is_error": None,
    }
