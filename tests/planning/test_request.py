from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.planning import PlanRequest
from pegboard.planning.request import schema_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "fields",
    [{}, {"goal": "a", "capabilities": ("b",)}],
    ids=["nothing", "two things"],
)
def test_a_request_asks_for_exactly_one_thing(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match="exactly one of goal, capabilities and chain"):
        PlanRequest(**fields)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"capabilities": "fetch"}, r"write capabilities=\('fetch',\)"),
        ({"chain": ("fetch", "read")}, r"write chain=\(ChainLink\(tool="),
    ],
    ids=["one text", "names in a chain"],
)
def test_a_request_of_another_kind_says_what_to_write(fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        PlanRequest(**fields)


@given(JSON)
def test_a_value_fits_the_schema_that_it_tells(value: Any) -> None:
    assert jsonschema_rs.is_valid(schema_of(value), value)


def test_params_tell_their_schema_unless_one_is_given() -> None:
    told = PlanRequest(goal="a", params={"n": 1, "tags": ["x", 2], "none": []})
    given_ = PlanRequest(goal="a", params={"n": 1}, params_schema={"type": "object"})

    assert told.schema["properties"] == {
        "n": {"type": "integer"},
        "tags": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
        "none": {"type": "array", "items": {}},
    }
    assert given_.schema == {"type": "object"}


def test_what_is_no_json_tells_nothing() -> None:
    assert schema_of(object()) == {}
