import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.sandbox.json_values import json_value

MOST = 100_000
DATE = "result[0]: a date is not JSON; return strings, numbers, lists or dicts"
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_json_stays_as_it_is(value: Any) -> None:
    assert json_value(value, most=MOST) == (value, "")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, [2, (3,)]), [1, [2, [3]]]),
        ({1}, [1]),
        (frozenset({"a"}), ["a"]),
        ({1: "a", 2.5: "b", None: "c"}, {"1": "a", "2.5": "b", "null": "c"}),
        ({False: 1, True: 2}, {"false": 1, "true": 2}),
    ],
)
def test_what_json_can_say_otherwise_is_said_so(value: Any, expected: Any) -> None:
    assert json_value(value, most=MOST) == (expected, "")


@pytest.mark.parametrize("key", [1, 2.5, None, True, False])
def test_keys_become_what_the_json_module_makes_of_them(key: Any) -> None:
    assert json_value({key: 0}, most=MOST)[0] == json.loads(json.dumps({key: 0}))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (float("nan"), "result: nan is not JSON"),
        ({"a": [1, float("inf")]}, "result['a'][1]: inf is not JSON"),
        (b"x", "result: a bytes is not JSON; return strings, numbers, lists or dicts"),
        ([dt.date(2026, 1, 1)], DATE),
        ({(1, 2): 3}, "result: a key is a tuple; JSON keys are strings"),
        (10**4001, "result: an integer of more than 4000 digits; make it a string"),
    ],
    ids=["nan", "infinity", "bytes", "date", "key", "huge"],
)  # fmt: skip
def test_what_json_cannot_say_is_refused_with_its_place(value: Any, problem: str) -> None:
    assert json_value(value, most=MOST) == (None, problem)


def test_what_is_nested_without_end_is_refused() -> None:
    value: list[Any] = []
    value.append(value)

    assert "nested more than 200 deep" in json_value(value, most=MOST)[1]


@pytest.mark.parametrize(
    ("value", "size"),
    [("a" * 98, 100), ([0] * 49, 100), ({"a" * 45: "b" * 45}, 98), (10**97, 96)],
    ids=["text", "list", "dict", "integer"],
)
def test_a_value_may_have_its_bytes_of_json_and_no_more(value: Any, size: int) -> None:
    assert json_value(value, most=size) == (value, "")
    assert json_value([value, value, value], most=size)[1].endswith(
        f"more than {size} bytes of JSON"
    )


def test_what_is_referred_to_twice_counts_twice() -> None:
    doubled, text = [1], "a" * 20_000
    for _ in range(40):
        doubled = [doubled, doubled]

    assert json_value(doubled, most=MOST)[1].endswith("more than 100000 bytes of JSON")
    assert json_value([text] * 6, most=MOST) == (None, "result: more than 100000 bytes of JSON")
    assert json_value([text] * 4, most=MOST) == ([text] * 4, "")
