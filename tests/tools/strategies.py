"""Random types of parameters, and JSON that nearly fits them."""

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Union
from uuid import UUID

from hypothesis import strategies as st
from pydantic import Field, create_model
from tests.tools.shapes import Cat, Mixed, Number, Pet, Price, Tree, Word

INTEGERS = st.integers(-(10**6), 10**6)
FLOATS = st.floats(-1e6, 1e6, allow_nan=False)
TEXTS = st.text(max_size=6)
NAMES = st.text(min_size=1, max_size=6)  # beside an empty name the raw validator mends nothing

JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
"""Any JSON value."""

Shape = tuple[Any, st.SearchStrategy[Any]]
"""A type, and what fits it."""


PLAIN: list[Shape] = [
    (int, INTEGERS),
    (float, FLOATS),
    (bool, st.booleans()),
    (str, TEXTS),
    (type(None), st.none()),
    (Literal["a", "b"], st.sampled_from(["a", "b"])),
    (Literal[1, 2], st.sampled_from([1, 2])),
    (Literal[True], st.just(True)),
    (Word, st.sampled_from(["yes", "no"])),
    (Number, st.sampled_from([1, 2])),
    (Mixed, st.sampled_from([1, "two"])),
    (Annotated[int, Field(ge=0, lt=10)], st.integers(0, 9)),
    (Annotated[str, Field(min_length=1, max_length=3)], st.text(min_size=1, max_size=3)),
    (Cat, st.fixed_dictionaries({"kind": st.just("cat"), "lives": INTEGERS})),
    (Pet, st.fixed_dictionaries({"kind": st.just("cat"), "lives": INTEGERS})),
]
"""What both validators know the same of: no defaults, and no formats beyond JSON Schema."""

TYPED: list[Shape] = [
    *PLAIN,
    (Any, JSON),
    (Price, st.fixed_dictionaries({"amount": FLOATS, "currency": TEXTS})),
    (date, st.dates().map(str)),
    (datetime, st.datetimes().map(lambda moment: moment.isoformat())),
    (Decimal, st.decimals(-1000, 1000, allow_nan=False, places=2).map(str)),
    (UUID, st.uuids().map(str)),
    (Tree, st.fixed_dictionaries({"value": INTEGERS, "children": st.just([])})),
]
"""Every kind of type."""


def _extended(shapes: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    either: Any = Union  # `|` does not take every type
    return st.one_of(
        shapes.map(lambda inner: (list[inner[0]], st.lists(inner[1], max_size=3))),
        shapes.map(
            lambda inner: (dict[str, inner[0]], st.dictionaries(NAMES, inner[1], max_size=3))
        ),
        shapes.map(lambda inner: (either[inner[0], None], st.none() | inner[1])),
        st.tuples(shapes, shapes).map(
            lambda two: (either[two[0][0], two[1][0]], two[0][1] | two[1][1])
        ),
        st.tuples(shapes, shapes).map(
            lambda two: (
                create_model("Model", first=(two[0][0], ...), second=(two[1][0], ...)),
                st.fixed_dictionaries({"first": two[0][1], "second": two[1][1]}),
            )
        ),
        st.tuples(shapes, shapes).map(
            lambda two: (
                tuple[two[0][0], two[1][0]],
                st.tuples(two[0][1], two[1][1]).map(list),
            )
        ),
    )


def shapes(plain: list[Shape]) -> st.SearchStrategy[Shape]:
    """Types put together of these, with what fits them."""
    return st.recursive(st.sampled_from(plain), _extended, max_leaves=4)


@st.composite
def nearly(draw: st.DrawFn, fitting: st.SearchStrategy[Any]) -> Any:
    """What fits, with a place or two spoilt the way that models spoil them."""
    value = draw(fitting)
    for _ in range(draw(st.integers(0, 2))):
        value = draw(_spoilt(value))
    return value


def _spoilt(value: Any) -> st.SearchStrategy[Any]:
    ways: list[st.SearchStrategy[Any]] = [
        JSON,
        st.just(json.dumps(value)),
        st.just(str(value)),
        st.just([value]),
        st.just({"first": value}),
    ]
    if isinstance(value, list) and value:
        ways.append(_with_one_spoilt(value, range(len(value))))
    if isinstance(value, dict):
        ways.append(st.just({**value, "surplus": 1}))
        if value:
            ways.append(_with_one_spoilt(value, list(value)))
            ways.append(st.just(dict(list(value.items())[1:])))
    return st.one_of(ways)


def _with_one_spoilt(value: Any, places: Any) -> st.SearchStrategy[Any]:
    def changed(place: Any) -> st.SearchStrategy[Any]:
        def put(item: Any) -> Any:
            copy = value.copy()
            copy[place] = item
            return copy

        return _spoilt(value[place]).map(put)

    return st.sampled_from(list(places)).flatmap(changed)
