"""Names and titles: plain in every language, without characters that hide or reorder text."""

import pytest

from pegboard.errors import InvalidRequest
from pegboard.features.display_text import check_display_text, clean_display_text

HIDDEN = {
    "a right-to-left override": "\u202e",
    "an isolate": "\u2067",
    "a right-to-left mark": "\u200f",
    "a zero-width space": "\u200b",
    "a zero-width joiner": "\u200d",
    "a byte order mark": "\ufeff",
    "a soft hyphen": "\u00ad",
    "a tag": "\U000e0061",
    "a control character": "\x1b",
    "a line break": "\n",
    "a separator of lines": "\u2028",
    "a surrogate": "\ud800",
    "a filler": "\u3164",
    "a blank pattern": "\u2800",
    "a variation selector": "\ufe0f",
}


@pytest.mark.parametrize("char", HIDDEN.values(), ids=HIDDEN)
def test_a_character_that_hides_or_reorders_is_refused(char: str) -> None:
    with pytest.raises(InvalidRequest, match=rf"The name has .*U\+{ord(char):04X}"):
        check_display_text(f"bob{char}ada", "name")


@pytest.mark.parametrize(
    "name", ["Zoë O'Neil-Sørensen", "山田 太郎", "محمد", "דוד", "Ops ⚙️ 🛠️", "नेहा", ""]
)
def test_names_of_all_languages_are_taken(name: str) -> None:
    assert check_display_text(f" {name} ", "name") == name


@pytest.mark.parametrize(
    "name",
    ["نیک\u200cبین", "می\u200cروم", "क्\u200dष", "क्\u200cष", "രാജന്\u200d", "ශ්\u200dරී"],
    ids=["Persian", "a word of two parts", "a half form", "a virama", "a chillu", "Sinhala"],
)
def test_joiners_that_belong_to_the_spelling_are_taken(name: str) -> None:
    assert check_display_text(name, "name") == name
    assert clean_display_text(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "bob\u200cada",
        "\u200cمحمد",
        "محمد\u200c",
        "م\u200dم",
        "محمد\u200cbob",
        "क्\u200c",
        "a\u094d\u200dda",
        "क\u200dष",
        "م\u200c\u200cم",
        "👩\u200d💻",
        "\U00017000\u200dx",
        "山" * 3_000 + "\u200d",
    ],
    ids=[
        "Latin", "at the beginning", "at the end", "a joiner in a cursive script", "two scripts",
        "a virama at the end", "a virama of another script", "without a virama", "two",
        "a picture", "a script without names", "a long text",
    ],
)  # fmt: skip
def test_joiners_that_hide_are_refused(name: str) -> None:
    with pytest.raises(InvalidRequest, match="not shown"):
        check_display_text(name, "name")
    assert not {"\u200c", "\u200d"} & set(clean_display_text(name))


def test_spaces_are_one_plain_space() -> None:
    assert check_display_text("山田\u3000\u00a0 太郎", "name") == "山田 太郎"


def test_the_name_of_another_system_is_cleaned() -> None:
    assert clean_display_text(" bob\u202e\u200b ada\n(operator)\t") == "bob ada (operator)"
