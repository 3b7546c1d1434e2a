import pytest

from pegboard.sources.openapi.document.lenient_access import (
    LocatedNode,
    mapping,
    sequence,
    text,
    texts,
)


@pytest.mark.parametrize("value", [None, 3, "a", [1], {"a": 1}, True], ids=str)
def test_what_is_of_another_shape_reads_as_empty(value: object) -> None:
    assert mapping(value) == (value if isinstance(value, dict) else {})
    assert list(sequence(value)) == (value if isinstance(value, list) else [])
    assert text(value) == (value if isinstance(value, str) else "")


def test_a_part_knows_its_file() -> None:
    place = LocatedNode(node={"a": [1, {"b": 2}]}, file="x.yaml")

    assert [item.node for item in place.at("a").items()] == [1, {"b": 2}]
    assert place.at("a").items()[1].at("b") == LocatedNode(node=2, file="x.yaml")
    assert place.at("absent") == LocatedNode(node=None, file="x.yaml")


def test_texts_are_there_once() -> None:
    assert texts(["a", 3, "b", "a"]) == ("a", "b")
