"""Tools with a JSON Schema of their own: validated by it, offline, with the same coercion."""

import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegboard.errors import Problem, SourceUnavailable, ToolArgumentError
from pegboard.schemas.validator import compile_schema, output_problem
from pegboard.tools.schema_arguments import SchemaArguments, close_schema

ORDER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "description": "The number on the slip"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"type": ["string", "null"]},
    },
    "required": ["id"],
    "additionalProperties": False,
}
CAT_OR_DOG = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}},
            "required": ["kind", "lives"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "dog"}},
            "required": ["kind"],
            "additionalProperties": False,
        },
    ]
}
TREE = {
    "$ref": "#/$defs/Tree",
    "$defs": {
        "Tree": {
            "type": "object",
            "properties": {
                "value": {"type": "integer", "description": "What it holds"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            },
            "required": ["value"],
            "additionalProperties": False,
        }
    },
}


class _Counting(http.server.BaseHTTPRequestHandler):
    """Answers everything with a schema, and counts."""

    requests: list[str] = []

    def do_GET(self) -> None:
        self.requests.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"type": "integer"}')

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody listens."""


@pytest.fixture
def schema_server() -> Iterator[str]:
    _Counting.requests.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Counting) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/schema.json"
        server.shutdown()
        thread.join()


def _property(schema: Any) -> SchemaArguments:
    return SchemaArguments("t", close_schema({"properties": {"x": schema}, "required": ["x"]}))


def _lines(arguments: SchemaArguments, raw: Any) -> list[str]:
    with pytest.raises(ToolArgumentError) as caught:
        arguments(raw)
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        pytest.param(
            "{}",
            Problem(
                path="id", message="missing, required (The number on the slip)", kind="missing"
            ),
            id="missing",
        ),
        pytest.param(
            '{"id": 1, "tag": []}',
            Problem(path="tag", message="unknown argument; did you mean 'tags'?", kind="unknown"),
            id="unknown",
        ),
        pytest.param(
            '{"id": "abc"}',
            Problem(path="id", message='expected an integer, found "abc" (string)', kind="type"),
            id="wrong type",
        ),
        pytest.param(
            '{"id": null}',
            Problem(path="id", message="expected an integer, found null", kind="type"),
            id="null",
        ),
        pytest.param(
            '{"id": 1',
            Problem(path="", message="not valid JSON: Input data was truncated", kind="malformed"),
            id="malformed",
        ),
        pytest.param(
            "[1]",
            Problem(
                path="",
                message="expected a JSON object with the arguments, found an array of 1",
                kind="malformed",
            ),
            id="not an object",
        ),
    ],
)
def test_an_invalid_call_is_refused_with_the_reason(raw: str, problem: Problem) -> None:
    with pytest.raises(ToolArgumentError) as caught:
        SchemaArguments("order", ORDER)(raw)

    assert caught.value.problems == (problem,)


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "integer"}, '"5"', 5),
        ({"type": "integer"}, "5.0", 5),
        ({"type": "number"}, '"1.5"', 1.5),
        ({"type": "boolean"}, '"False"', False),
        ({"type": "array", "items": {"type": "string"}}, '"[\\"a\\"]"', ["a"]),
        ({"type": "object"}, '"{\\"a\\": 1}"', {"a": 1}),
        ({"type": ["integer", "null"]}, '"5"', 5),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, '"5"', 5),
        ({"anyOf": [{"oneOf": [{"type": "integer"}]}, {"type": "null"}]}, '"5"', 5),
        ({"enum": [1, 2], "type": "integer"}, '"2"', 2),
        ({"const": 2, "type": "integer"}, '"2"', 2),
        ({"type": "array", "items": {"type": "array"}}, '"[\\"[1]\\"]"', [[1]]),
        ({}, '"[1]"', "[1]"),
        ({"type": ["string", "array"]}, '"[1]"', "[1]"),
        (CAT_OR_DOG, '{"kind": "cat", "lives": "9"}', {"kind": "cat", "lives": 9}),
    ],
    ids=str,
)
def test_a_value_is_read_as_the_schema_says(schema: Any, text: str, value: Any) -> None:
    assert _property(schema)(f'{{"x": {text}}}') == {"x": value}


@pytest.mark.parametrize(
    ("schema", "text", "line"),
    [
        ({"type": "integer"}, "1.5", "x: expected an integer, found 1.5 (number)"),
        ({"type": "integer"}, "true", "x: expected an integer, found true (boolean)"),
        ({"type": "boolean"}, "1", "x: expected a boolean, found 1 (number)"),
        ({"type": "string"}, "5", "x: expected a string, found 5 (number)"),
        ({"type": "number"}, "1e400", "x: expected a finite number, found inf (number)"),
        ({}, "NaN", "x: expected a finite number, found nan (number)"),
        (
            {"type": ["integer", "null"]},
            '"a"',
            'x: expected an integer or null, found "a" (string)',
        ),
        (
            {"anyOf": [{"type": "null"}, {"type": "integer"}]},
            '"a"',
            'x: expected an integer or null, found "a" (string)',
        ),
        (
            {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "array"}]},
            '"[1]"',
            'x: "[1]" is longer than 2 characters',
        ),
        ({"enum": [1, "a"]}, '"1"', 'x: expected 1 or "a", found "1" (string)'),
        (
            {"enum": [1, 2], "type": "integer"},
            "true",
            "x: expected an integer, found true (boolean)",
        ),
        ({"enum": ["a", "b", "c"]}, '"d"', 'x: expected "a", "b" or "c", found "d" (string)'),
        ({"enum": ["a", 1, None]}, '"1"', 'x: expected "a", 1 or null, found "1" (string)'),
        ({"const": "a"}, '"b"', 'x: expected "a", found "b" (string)'),
        ({"const": "5", "type": ["string", "integer"]}, "5", 'x: expected "5", found 5 (number)'),
        ({"type": "number", "minimum": 3}, "1", "x: 1 is less than the minimum of 3"),
        ({"type": "string", "pattern": "^a"}, '"b"', 'x: "b" does not match "^a"'),
        (False, "1", "x: expected nothing here, found 1 (number)"),
        (
            CAT_OR_DOG,
            '{"kind": "cat", "lives": "x"}',
            'x.lives: expected an integer, found "x" (string)',
        ),
        (CAT_OR_DOG, "5", "x: expected an object, found 5 (number)"),
        (
            {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            "5",
            "x: fits more than one of the alternatives, found 5 (number)",
        ),
        ({"type": "array", "items": False}, "[1]", "x[0]: expected nothing here, found 1 (number)"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_with_one_precise_line(
    schema: Any, text: str, line: str
) -> None:
    assert _lines(_property(schema), f'{{"x": {text}}}') == [line]


def test_places_behind_references_are_described() -> None:
    arguments = SchemaArguments(
        "t", close_schema({"properties": {"x": TREE}, "$defs": TREE["$defs"]})
    )

    assert _lines(arguments, '{"x": {"value": 1, "children": [{"valu": 2}]}}') == [
        "x.children[0].valu: unknown argument; did you mean 'value'?",
        "x.children[0].value: missing, required (What it holds)",
    ]


@pytest.mark.parametrize("name", ["0", "12", "a/b", "a~1b", "\u00e9", "a.b"])
def test_a_name_of_any_kind_is_a_place(name: str) -> None:
    arguments = _property({"additionalProperties": {"type": "integer"}})

    assert arguments({"x": {name: "5"}}) == {"x": {name: 5}}
    assert _lines(arguments, {"x": {name: "a"}}) == [
        f'x.{name}: expected an integer, found "a" (string)'
    ]


def test_beside_an_empty_name_nothing_is_mended() -> None:
    schema = {"properties": {"": {"properties": {"y": {"type": "integer"}}}, "y": {}}}

    with pytest.raises(ToolArgumentError):
        SchemaArguments("t", close_schema(schema))({"": {"y": "5"}, "y": "5"})


def test_texts_within_texts_are_opened_eight_times() -> None:
    def nested(levels: int) -> str:
        text = "[]"
        for _ in range(levels):
            text = json.dumps([text])
        return text

    schema: dict[str, Any] = {
        "$defs": {"list": {"type": "array", "items": {"$ref": "#/$defs/list"}}}
    }
    arguments = SchemaArguments("t", {**schema, "properties": {"x": {"$ref": "#/$defs/list"}}})

    assert arguments({"x": nested(7)})["x"][0][0][0][0][0][0][0] == []
    assert _lines(arguments, {"x": nested(9)}) == ["texts within texts, too many times"]


def test_unevaluated_properties_are_unknown_ones() -> None:
    schema = {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}

    assert _lines(SchemaArguments("t", schema), '{"b": 1}') == ["b: unknown argument; known are a"]


def test_a_number_in_text_is_no_date_by_type_and_formats_are_annotations() -> None:
    arguments = _property({"type": "string", "format": "date-time"})

    assert arguments('{"x": "in spring"}') == {"x": "in spring"}
    assert _lines(arguments, '{"x": 1700000000}') == [
        "x: expected a string, found 1700000000 (number)"
    ]


def test_no_default_is_filled_in() -> None:
    assert SchemaArguments("t", close_schema({"properties": {"x": {"default": 5}}}))("{}") == {}


def test_an_unknown_argument_of_many_is_cut_to_twenty_lines() -> None:
    assert (
        len(_lines(SchemaArguments("t", close_schema({})), {f"k{n}": 1 for n in range(1000)})) == 20
    )


def test_a_text_within_a_text_is_parsed_no_deeper_than_readers_read() -> None:
    nested = "[" * 99 + "]" * 99
    arguments = _property({"type": "array"})

    assert arguments({"x": nested})["x"] == json.loads(nested)
    assert _lines(arguments, {"x": f"[{nested}]"})[0].startswith("x: expected an array")


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        pytest.param({}, False, id="nothing"),
        pytest.param({"properties": {"a": {}}}, False, id="properties"),
        pytest.param({"additionalProperties": True}, True, id="open"),
        pytest.param({"patternProperties": {"^x": {}}}, True, id="patterns"),
        pytest.param({"allOf": [{}]}, True, id="put together"),
        pytest.param({"$ref": "#/$defs/a", "$defs": {"a": {}}}, True, id="a reference"),
    ],
)
def test_a_schema_that_says_nothing_of_others_is_closed(schema: Any, *, kept: bool) -> None:
    result = close_schema(schema)

    assert ("additionalProperties" not in result or result["additionalProperties"]) == kept
    assert result["type"] == "object"


def test_closing_leaves_the_given_schema_alone() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "string"}}}

    close_schema(schema)["properties"]["a"]["type"] = "integer"

    assert schema == {"properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize("where", ["$ref", "$schema", "$dynamicRef"])
def test_a_reference_to_the_network_is_refused_and_never_fetched(
    schema_server: str, where: str
) -> None:
    with pytest.raises(SourceUnavailable, match="broken JSON Schema"):
        SchemaArguments("t", {"properties": {"x": {"$ref": schema_server}}, where: schema_server})

    assert _Counting.requests == []


def test_a_relative_reference_from_a_network_id_is_never_fetched(schema_server: str) -> None:
    with pytest.raises(SourceUnavailable, match="outside the document"):
        SchemaArguments("t", {"$id": schema_server, "properties": {"x": {"$ref": "other.json"}}})

    assert _Counting.requests == []


def test_the_server_counts_whoever_does_fetch(schema_server: str) -> None:
    import jsonschema_rs

    jsonschema_rs.validator_for({"$ref": schema_server})

    assert _Counting.requests == ["/schema.json"]


def test_a_reference_to_a_file_is_refused_and_never_read(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    file.write_text('{"type": "integer"}')
    read_before = file.stat().st_atime_ns

    with pytest.raises(SourceUnavailable, match="outside the document"):
        SchemaArguments("t", {"properties": {"x": {"$ref": file.as_uri()}}})

    assert file.stat().st_atime_ns == read_before


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "strin"}, "at 'type': \"strin\" is not valid"),
        ({"properties": 5}, "at 'properties': 5 is not of type"),
        ({"properties": {"a": {"pattern": "["}}}, "at 'properties.a.pattern'"),
        ({"$ref": "#/$defs/nowhere"}, "Pointer '/$defs/nowhere' does not exist"),
        ({"$ref": "other.json"}, "'other.json' is not present"),
        ({"$schema": 5}, "at '$schema': 5 is not of type"),
        pytest.param({"default": object()}, "Unsupported type: 'object'", id="an object"),
        ({1: {}}, "Dict key must be str"),
    ],
    ids=str,
)
def test_a_broken_schema_gives_one_clear_line(schema: Any, reason: str) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        compile_schema("crm__find", schema)

    message = str(caught.value)
    assert message.startswith("'crm__find' has a broken JSON Schema: ")
    assert reason in message
    assert "\n" not in message


def test_a_schema_without_end_is_broken() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"a": schema}}

    with pytest.raises(SourceUnavailable, match="Recursion limit"):
        compile_schema("t", schema)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a+)+$", "a" * 5000 + "b"),
        ("^(?=(a+)+$)b", "a" * 5000 + "c"),
        (r"(x+x+)+(?=y)", "x" * 5000),
        (r"^(?:(a+)+)(?=b)\1$", "a" * 5000 + "c"),
    ],
)
def test_a_pattern_that_would_run_for_ever_is_bounded(pattern: str, text: str) -> None:
    arguments = _property({"type": "string", "pattern": pattern})

    begun = time.process_time()
    lines = _lines(arguments, {"x": text})

    assert time.process_time() - begun < 2
    assert len(lines) == 1
    assert len(lines[0]) < 400


def test_a_big_schema_is_compiled_once() -> None:
    properties = {f"p{n}": {"type": "string", "pattern": f"^{n}[a-z]+$"} for n in range(2000)}
    begun = time.process_time()
    arguments = SchemaArguments("t", close_schema({"properties": properties}))
    compiling = time.process_time() - begun

    begun = time.process_time()
    for _ in range(100):
        arguments('{"p7": "7a"}')
    calling = time.process_time() - begun

    assert calling < compiling


def test_an_output_is_judged_by_its_first_fault() -> None:
    validator = compile_schema("t", {"type": "object", "properties": {"a": {"type": "integer"}}})

    assert output_problem(validator, {"a": 1}) == ""
    assert output_problem(validator, {"a": "x"}) == 'a: "x" is not of type "integer"'
    assert output_problem(validator, 5) == 'output: 5 is not of type "object"'
