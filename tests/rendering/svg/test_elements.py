import base64
import hashlib

import pytest

from pegboard.rendering.svg.elements import (
    STYLE,
    STYLE_HASH,
    document,
    measure_text,
    number,
    truncate_text,
)


def test_the_hash_is_that_of_the_style_sheet_in_the_picture() -> None:
    svg = document([], width=10, height=10, title="t")
    inside = svg[svg.index("<style>") + 7 : svg.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()

    assert (inside, f"sha256-{digest}") == (STYLE, STYLE_HASH)


def test_a_text_is_cut_to_the_room_there_is() -> None:
    words = "what is too long for its box"
    cut = truncate_text(words, 80)

    assert cut.endswith("…")
    assert words.startswith(cut[:-1])
    assert measure_text(cut) <= 80
    assert truncate_text(words, 1000) == words


def test_wide_letters_take_more_room() -> None:
    assert measure_text("注文") > measure_text("MM") * 0.9 > measure_text("ab") > measure_text("il")
    assert measure_text("e\u0301") == measure_text("e")


@pytest.mark.parametrize(("value", "written"), [(1.0, "1"), (1.25, "1.2"), (0.0, "0")])
def test_a_coordinate_is_no_longer_than_it_need_be(value: float, written: str) -> None:
    assert number(value) == written
