import pytest
from pydantic import ValidationError

from pegboard.runtime.board_file.pinning import PinningEntry


def test_what_nobody_says_is_additive_and_takes_new_tools() -> None:
    entry = PinningEntry()

    assert (entry.of("shop"), entry.new.of("shop")) == ("additive", "accept")


def test_a_source_has_a_rule_of_its_own() -> None:
    given = {
        "default": "ask",
        "sources": {"shop": "auto"},
        "new": {"default": "ask", "sources": {"shop": "accept"}},
    }
    entry = PinningEntry.model_validate(given)

    assert (entry.of("shop"), entry.new.of("shop")) == ("auto", "accept")
    assert (entry.of("bank"), entry.new.of("bank")) == ("ask", "ask")


@pytest.mark.parametrize("wrong", [{"new": {"default": "block"}}, {"new": {"source": {}}}])
def test_what_there_is_not_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=r"new\.(default|source)"):
        PinningEntry.model_validate(wrong)
