"""Where the items of a JSON result begin: whatever the value, a page begins at an item."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from pegboard.execution.results.json_layout import find_cursors, read_layout
from pegboard.execution.results.paging import page_starts

ITEMS = st.one_of(
    st.integers(), st.text(), st.lists(st.text()), st.dictionaries(st.text(), st.text())
)


@pytest.mark.slow
@given(st.one_of(st.lists(ITEMS), st.dictionaries(st.text(), st.one_of(st.lists(ITEMS), ITEMS))))
def test_each_cut_stands_behind_a_comma_between_items(value: Any) -> None:
    text = to_json(value).decode()
    layout = read_layout(text)
    if layout is None:
        return

    assert all(text[at - 1] == "," for at in layout.cuts)
    assert layout.cuts == sorted(layout.cuts)
    lists = {"": value} if isinstance(value, list) else value
    for name, ends in layout.arrays.items():
        items: list[Any] = lists[name]
        written = [to_json(item).decode() for item in items]
        assert [text[:end].endswith(item) for end, item in zip(ends, written, strict=True)] == [
            True
        ] * len(items)


def test_only_an_item_longer_than_a_page_is_cut_itself() -> None:
    text = to_json(["a" * 6, "b" * 30, "c" * 6]).decode()

    starts = list(page_starts(text, 20, read_layout(text)))

    assert [text[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)] == [
        '["aaaaaa",',
        '"' + "b" * 19,
        "b" * 11 + '",',
        '"cccccc"]',
    ]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "[1]", "[1, 2]", "[1,2", "3", '"a,b"', "[" * 9_000]
)
def test_what_is_not_compact_json_with_items_has_no_layout(text: str) -> None:
    assert read_layout(text) is None


@pytest.mark.parametrize(
    "value",
    [[1] * 50_001, {str(n): n for n in range(50_001)}, {"a": [1] * 30_000, "b": [1] * 30_000}],
    ids=["array", "object", "arrays"],
)
def test_very_many_items_are_not_laid_out(value: Any) -> None:
    assert read_layout(to_json(value).decode()) is None


def test_items_are_found_in_the_text_as_it_is_written() -> None:
    text = r'{"n":[1,1.0e0,"\u00e9"],"after":{"a": 1}}'

    layout = read_layout(text)

    assert layout is not None
    assert layout.arrays == {"n": [7, 13, 22]}
    assert [text[at:] for at in layout.cuts] == [
        r'1.0e0,"\u00e9"],"after":{"a": 1}}',
        r'"\u00e9"],"after":{"a": 1}}',
        '"after":{"a": 1}}',
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"nextPageToken": "a", "items": []}, '{"nextPageToken":"a"}'),
        ({"@odata.nextLink": "https://a.test"}, '{"@odata.nextLink":"https://a.test"}'),
        ({"metadata": {"continue": "c", "x": 1}}, '{"metadata":{"continue":"c"}}'),
        ({"has_more": False, "next": None, "next_cursor": ""}, '{"has_more":false}'),
        ({"next_cursor": "x" * 5_000}, ""),
        ({"items": [{"next": "a"}]}, ""),
        ([{"next": "a"}], ""),
    ],
)
def test_cursors_are_found_by_their_usual_names(value: Any, expected: str) -> None:
    assert find_cursors(value) == expected
