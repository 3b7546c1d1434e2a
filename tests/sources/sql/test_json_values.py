"""Values become JSON by one rule each."""

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.sources.sql.json_values import column_names, size_of, to_json


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        ("é", "é"),
        (2**53 - 1, 2**53 - 1),
        (2**53, "9007199254740992"),
        (-(2**60), "-1152921504606846976"),
        (1.5, 1.5),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (Decimal("12.30"), 12.3),
        (Decimal(3), 3),
        (Decimal("1E+2"), 100),
        (Decimal("90071992547409930.5"), "90071992547409930.5"),
        (Decimal("NaN"), "NaN"),
        (Decimal("-Infinity"), "-Infinity"),
        (date(2020, 1, 2), "2020-01-02"),
        (time(3, 4, 5), "03:04:05"),
        (datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC), "2020-01-02T03:04:05+00:00"),
        (b"\x00\xff", {"base64": "AP8="}),
        ({"a": [Decimal("1.5"), 2**53]}, {"a": [1.5, "9007199254740992"]}),
        (("x", None), ["x", None]),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
    ids=str,
)
def test_a_value_becomes_json(value: Any, expected: Any) -> None:
    assert to_json(value) == expected
    assert type(to_json(value)) is type(expected)


_ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.decimals(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(_ANY)
def test_every_value_becomes_strict_json_of_about_the_size_that_is_counted(value: Any) -> None:
    converted = to_json(value)
    written = json.dumps(converted, allow_nan=False, ensure_ascii=False)

    assert json.loads(written) == converted
    assert len(written.encode("utf-8", "surrogatepass")) <= 4 * size_of(converted) + 24


def test_columns_of_the_same_name_are_numbered() -> None:
    assert column_names(["a", "b", "a", "a", "a_2"]) == ["a", "b", "a_3", "a_4", "a_2"]
    assert column_names([]) == []


@given(st.lists(st.sampled_from(["a", "b", "a_2", "a_3", ""]), max_size=8))
def test_every_column_keeps_a_name_of_its_own(names: list[str]) -> None:
    keys = column_names(names)

    assert len(set(keys)) == len(names)
    assert [key for key, name in zip(keys, names, strict=True) if not key.startswith(name)] == []
