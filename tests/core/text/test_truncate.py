import pytest

from pegboard.core.text.truncate import truncate


@pytest.mark.parametrize(
    ("text", "short"),
    [("", ""), ("abcde", "abcde"), ("abcdef", "abcd…")],
    ids=["nothing", "as long as it may be", "longer"],
)
def test_a_text_is_never_longer_than_it_may_be(text: str, short: str) -> None:
    assert truncate(text, 5) == short
