"""Vectors of tools, and how near they lie to a text."""

import math
from typing import Any

import pytest

from pegboard.registry.vector_index import Nearness, VectorIndex

A, B, C = b"a", b"b", b"c"


def filled() -> VectorIndex:
    index = VectorIndex("test:model")
    index.name_texts({"one": A, "two": B, "same": A})
    index.put({A: [2.0, 0.0, 0.0], B: [0.0, 3.0, 0.0]})
    return index


def measure(index: VectorIndex, vector: Any) -> Nearness:
    return index.measure_all([vector])[0]


def score(near: Nearness, name: str) -> float:
    return near.score_all([name])[0]


def test_the_nearest_tools_come_first_whatever_the_length_of_vectors() -> None:
    near = measure(filled(), [10.0, 1.0, 0.0])
    found = list(near.iterate(least=-9))

    assert [name for name, _ in found] == ["one", "same", "two"]
    assert score(near, "one") == score(near, "same") == found[0][1]
    assert score(near, "one") > 0.9
    assert score(near, "two") == 0.0
    assert score(near, "unknown") == 0.0


def test_tools_that_lie_too_far_are_left_out() -> None:
    assert [name for name, _ in measure(filled(), [0, 1, 0]).iterate(least=0.25)] == ["two"]


def test_texts_without_a_vector_are_named_once() -> None:
    index = filled()

    assert index.name_texts({"one": A, "new": C, "other": C}) == [C]
    assert list(measure(index, [1, 0, 0]).iterate(least=0.5)) == [("one", 1.0)]


def test_vectors_of_former_texts_are_dropped_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard.registry.vector_index._MAX_UNUSED", 0)
    index = filled()

    assert index.name_texts({"two": B}) == []
    assert score(measure(index, [0, 1, 0]), "two") == 1.0
    assert index.name_texts({"one": A, "two": B}) == [A]


def test_many_vectors_are_sorted_in_part_and_then_all() -> None:
    index = VectorIndex("test:model")
    names = {f"t{n}": str(n).encode() for n in range(600)}
    index.name_texts(names)
    index.put(
        {digest: [math.cos(n / 400), math.sin(n / 400)] for n, digest in enumerate(names.values())}
    )
    found = [name for name, _ in measure(index, [1, 0]).iterate(least=-9)]

    assert found == list(names)


@pytest.mark.parametrize(
    "vector",
    [[], [0.0, 0.0, 0.0], [math.nan, 1, 0], [math.inf, 1, 0], [1.0, 0.0], [[1.0, 0.0, 0.0]]],
    ids=["empty", "zero", "nan", "infinite", "short", "nested"],
)
def test_what_is_no_vector_is_refused(vector: Any) -> None:
    index = filled()
    with pytest.raises(ValueError, match="vector"):
        index.put({C: vector})
    with pytest.raises(ValueError, match="vector"):
        measure(index, vector)


def test_an_index_without_vectors_finds_nothing() -> None:
    near = measure(VectorIndex("test:model"), [1.0, 0.0])

    assert list(near.iterate(least=0)) == []
    assert score(near, "one") == 0.0
