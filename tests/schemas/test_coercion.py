"""Coercion never widens: what is accepted fits the schema that is shown, for both validators."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from tests.tools.reading import tool_of
from tests.tools.strategies import JSON, PLAIN, TYPED, nearly, shapes

from pegboard.errors import ToolArgumentError
from pegboard.schemas.coercion import UNREADABLE, JsonType, coerce, coerce_document, look_up
from pegboard.tools.schema_arguments import SchemaArguments, close_schema
from pegboard.tools.typed_arguments import TypedArguments

# making a tool of a random type is slow; HYPOTHESIS_PROFILE=explore tries many more
FEWER = settings(max_examples=max(60, settings().max_examples // 2))


@pytest.mark.parametrize(
    ("wanted", "value", "mended"),
    [
        ("integer", "5", 5),
        ("integer", " +5 ", 5),
        ("integer", "-5.00", -5),
        ("integer", 5.0, 5),
        ("number", "5", 5),
        ("number", ".5", 0.5),
        ("number", "5.", 5.0),
        ("number", "1e3", 1000.0),
        ("number", "5.0", 5.0),
        ("boolean", "TRUE", True),
        ("boolean", " false ", False),
        ("array", ' ["a"]', ["a"]),
        ("object", '{"a": 1}', {"a": 1}),
    ],
)
def test_a_lax_reading_gives_the_wanted_type(wanted: JsonType, value: Any, mended: Any) -> None:
    read = coerce(value, wanted)

    assert (read, type(read)) == (mended, type(mended))


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        ("integer", "5.5"),
        ("integer", "1e3"),
        ("integer", "5_0"),
        ("integer", "\u0665"),
        ("integer", ""),
        ("integer", "1" * 301),
        ("integer", 5.5),
        ("integer", float("inf")),
        ("integer", True),
        ("integer", None),
        ("number", "NaN"),
        ("number", "-inf"),
        ("number", "1e400"),
        ("number", "0x1"),
        ("number", "."),
        ("number", True),
        ("boolean", "yes"),
        ("boolean", "1"),
        ("boolean", 1),
        ("array", "a"),
        ("array", '["a"'),
        ("array", '["a"] b'),
        ("array", "[NaN]"),
        ("array", "[1e400]"),
        ("array", '{"a": 1}'),
        ("array", "[" * 150 + "]" * 150),
        ("array", '["\ud800"]'),
        ("object", "[1]"),
        ("object", "{}{}"),
        ("object", None),
    ],
)
def test_what_has_no_reading_stays_as_it_is(wanted: JsonType, value: Any) -> None:
    document = {"x": value}

    assert coerce_document(document, [(("x",), wanted)], set()) is UNREADABLE


def test_a_place_is_mended_once() -> None:
    done: set[tuple[str | int, ...]] = set()
    document = {"x": '["[1]"]'}

    assert coerce_document(document, [(("x",), "array")], done) == {"x": ["[1]"]}
    assert coerce_document({"x": '"[1]"'}, [(("x",), "array")], done) is UNREADABLE


def test_the_first_reading_that_fits_is_taken() -> None:
    wishes: list[Any] = [(("x",), "boolean"), (("x",), "integer"), (("x",), "number")]

    assert coerce_document({"x": "5"}, wishes, set()) == {"x": 5}


def test_the_whole_document_can_be_mended() -> None:
    assert coerce_document('{"a": 1}', [((), "object")], set()) == {"a": 1}


@pytest.mark.parametrize("location", [("b",), ("a", 5), ("a", 0, "c")])
def test_a_place_that_is_not_there_is_left(location: Any) -> None:
    document = {"a": ["1"]}

    assert look_up(document, location) is UNREADABLE
    assert coerce_document(document, [(location, "integer")], set()) is UNREADABLE


@FEWER
@given(data=st.data(), shape=shapes(TYPED))
def test_what_a_typed_tool_accepts_fits_the_schema_it_shows(
    data: st.DataObject, shape: Any
) -> None:
    note(repr(shape[0]))
    tool = tool_of(shape[0])
    document = {"x": data.draw(nearly(shape[1]))}

    values = _accepted(tool.arguments, document)

    if values is not None:
        jsonschema_rs.validate(tool.spec.input_schema, _dumped(tool, values))  # type: ignore[arg-type]  # a dict


@FEWER
@given(data=st.data(), shape=shapes(TYPED))
def test_a_second_pass_changes_nothing(data: st.DataObject, shape: Any) -> None:
    note(repr(shape[0]))
    tool = tool_of(shape[0])
    values = _accepted(tool.arguments, {"x": data.draw(nearly(shape[1]))})

    if values is not None:
        assert tool.arguments(_dumped(tool, values)) == values


@FEWER
@given(data=st.data(), shape=shapes(PLAIN))
def test_what_fits_as_it_is_stays_as_it_is(data: st.DataObject, shape: Any) -> None:
    note(repr(shape[0]))
    tool = tool_of(shape[0])
    document = {"x": data.draw(shape[1])}

    assert _same(_dumped(tool, tool.arguments(document)), document)
    assert SchemaArguments("t", tool.spec.input_schema)(document) == document


@FEWER
@given(data=st.data(), shape=shapes(PLAIN))
def test_both_validators_take_the_same_and_read_it_the_same(
    data: st.DataObject, shape: Any
) -> None:
    note(repr(shape[0]))
    tool = tool_of(shape[0])
    document = {"x": data.draw(nearly(shape[1]))}

    typed = _accepted(tool.arguments, document)
    raw = _accepted(SchemaArguments("t", close_schema(tool.spec.input_schema)), document)

    assert (typed is None) == (raw is None)
    if typed is not None:
        assert _same(_dumped(tool, typed), raw)


@FEWER
@given(raw=st.text() | st.binary() | JSON | JSON.map(json.dumps), shape=st.sampled_from(TYPED))
def test_nothing_but_an_argument_error_is_raised(raw: Any, shape: Any) -> None:
    note(repr(shape[0]))
    tool = tool_of(shape[0])

    for read in (tool.arguments, SchemaArguments("t", tool.spec.input_schema)):
        _accepted(read, raw)


@pytest.mark.parametrize("hint", [int, list[int], Any], ids=str)
@pytest.mark.parametrize(
    "value",
    [
        pytest.param("[" * 10_000 + "]" * 10_000, id="10,000 levels"),
        pytest.param('{"a":' * 10_000 + "1" + "}" * 10_000, id="10,000 objects"),
        pytest.param("9" * 5_000, id="5,000 digits"),
        pytest.param('"\ud800"', id="half a surrogate pair"),
        pytest.param('"\\ud800"', id="half a pair, escaped"),
        pytest.param('{"a": 1, "a": NaN}', id="a name twice"),
        pytest.param(json.dumps("[" * 10_000), id="levels in a text"),
        pytest.param(json.dumps("9" * 5_000) + ", " + '"y": [' * 300, id="cut off"),
    ],
)
def test_hostile_text_is_refused_by_both(hint: Any, value: str) -> None:
    tool = tool_of(hint)
    text = f'{{"x": {value}, "z": 1}}'

    for read in (tool.arguments, SchemaArguments("t", tool.spec.input_schema)):
        for raw in (text, text.encode("utf-8", "surrogatepass")):
            with pytest.raises(ToolArgumentError):
                read(raw)


def _accepted(read: Any, raw: Any) -> dict[str, Any] | None:
    try:
        return read(raw)
    except ToolArgumentError:
        return None


def _dumped(tool: Any, values: dict[str, Any]) -> dict[str, Any]:
    assert isinstance(tool.arguments, TypedArguments)
    return tool._adapter.dump_python(values, mode="json", by_alias=True)


def _same(first: Any, second: Any) -> bool:
    """Whether two documents are the same JSON: 5 is 5.0 and not true."""
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(_same(first[k], second[k]) for k in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_same, first, second))
    return first == second and isinstance(first, bool) == isinstance(second, bool)
