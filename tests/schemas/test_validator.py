"""A whole number is an integer for a tool whose schema says integer, however it was written."""

from typing import Any

import pytest

from pegboard.schemas.validator import allows_integers
from pegboard.tools.schema_arguments import SchemaArguments, close_schema


@pytest.mark.parametrize(
    ("schema", "text", "read"),
    [
        pytest.param({"type": "integer"}, "1.0", "1", id="integer"),
        pytest.param({"type": "integer"}, "1e2", "100", id="exponent"),
        pytest.param({"type": "integer", "minimum": 1, "enum": [1, 2]}, "2.0", "2", id="bounded"),
        pytest.param({"type": ["integer", "null"]}, "1.0", "1", id="or null"),
        pytest.param({"type": ["integer", "string"]}, "1.0", "1", id="or text"),
        pytest.param({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "1.0", "1", id="any of"),
        pytest.param({"items": {"type": "integer"}}, "[1.0, 2, 3.0]", "[1, 2, 3]", id="items"),
        pytest.param(
            {"properties": {"value": {"$ref": "#/$defs/n"}}},
            '{"value": 1.0}',
            "{'value': 1}",
            id="ref",
        ),
        pytest.param({"type": "number"}, "1.0", "1.0", id="number"),
        pytest.param({"type": ["integer", "number"]}, "1.0", "1.0", id="integer or number"),
        pytest.param(
            {"anyOf": [{"type": "integer"}, {"type": "number"}]}, "1.0", "1.0", id="any of numbers"
        ),
        pytest.param({}, "1.0", "1.0", id="anything"),
        pytest.param(
            {"properties": {"n": {"type": "integer"}, "f": {"type": "number"}}},
            '{"n": 1.0, "f": 1.0, "g": 1.0}',
            "{'n': 1, 'f': 1.0, 'g': 1.0}",
            id="beside each other",
        ),
        pytest.param(
            {"properties": {"n": {"type": "integer"}, "m": {"type": "integer"}}},
            '{"n": "5", "m": 1.0}',
            "{'n': 5, 'm': 1}",
            id="beside what was mended",
        ),
        pytest.param({"type": "integer"}, "1e300", str(int(1e300)), id="large"),
    ],
)
def test_a_whole_number_is_an_integer_where_the_schema_says_so(
    schema: Any, text: str, read: str
) -> None:
    whole = {"properties": {"x": schema}, "$defs": {"n": {"type": "integer"}}}
    arguments = SchemaArguments("t", close_schema(whole))

    assert repr(arguments(f'{{"x": {text}}}')["x"]) == read


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer"}, True),
        ({"anyOf": [{"type": ["null", "integer"]}]}, True),
        ({"$defs": {"n": {"type": "integer"}}}, True),
        ({"properties": {"n": {"type": "number"}}, "enum": ["integer"]}, False),
        (True, False),
    ],
    ids=str,
)
def test_it_is_known_whether_a_schema_asks_for_integers(schema: Any, *, expected: bool) -> None:
    assert allows_integers(schema) is expected
