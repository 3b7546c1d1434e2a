"""JSON objects are found in what a model writes around them."""

import pytest

from pegboard.schemas.json_in_text import find_objects


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (' {"a": 1} ', '{"a": 1}'),
        ('Here:\n```json\n{"a": 1}\n```\nDone.', '{"a": 1}'),
        ('As {asked}: {"a": {"b": 2}}, see?', '{"a": {"b": 2}}'),
        ('{"a": broken}', '{"a": broken}'),
    ],
    ids=["alone", "fenced", "within prose", "broken"],
)
def test_an_object_is_found(text: str, first: str) -> None:
    assert next(find_objects(text)) == first


@pytest.mark.parametrize(
    "text", ["", "Paris", "[1]", "{" * 10_000], ids=["", "text", "list", "braces"]
)
def test_there_may_be_none(text: str) -> None:
    assert list(find_objects(text)) == []
