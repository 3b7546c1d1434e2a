from typing import Any

import pytest
from tests.planning.board import a_tool

from pegboard.planning.input_mapping import ValueSource, map_inputs, outputs_given, params_given

PARAMS = params_given(
    {"type": "object", "properties": {"url": {"type": "string"}, "limit": {"type": "integer"}}}
)


def wire(takes: dict[str, Any], givers: list[ValueSource], **more: Any) -> dict[str, Any]:
    optional = more.pop("optional", ())
    return dict(map_inputs(a_tool("t", takes, optional=optional).spec, givers, **more).input)


@pytest.mark.parametrize(
    ("takes", "value"),
    [
        ({"url": "string"}, "$.params.url"),
        ({"URL": "string"}, "$.params.url"),
        ({"limit": "number"}, "$.params.limit"),
        ({"count": "integer"}, "$.params.limit"),
    ],
    ids=["same name", "same but for the case", "a type that fits", "by type alone"],
)
def test_a_required_input_is_wired(takes: dict[str, Any], value: str) -> None:
    assert wire(takes, PARAMS) == {next(iter(takes)): value}


@pytest.mark.parametrize(
    ("takes", "missing"),
    [
        ({"url": {"enum": [1]}, "limit": "string"}, ("url", "limit")),
        ({"anything": {}}, ("anything",)),
        ({"flag": "boolean"}, ("flag",)),
        ({"limit": "integer", "offset": "integer"}, ("offset",)),
        ({"limit": "string", "offset": "integer"}, ("limit", "offset")),
        ({"first": "integer", "second": "integer"}, ("first", "second")),
    ],
    ids=[
        "same names, other types",
        "no type to go by",
        "nothing fits",
        "what fits is another argument",
        "what fits has the name of another argument",
        "two arguments, one value",
    ],
)
def test_what_nothing_gives_for_certain_is_missing(
    takes: dict[str, Any], missing: tuple[str, ...]
) -> None:
    assert map_inputs(a_tool("t", takes).spec, PARAMS).missing == missing


@pytest.mark.parametrize("optional", [(), ("url",)], ids=["required", "optional"])
def test_a_text_of_the_same_name_is_given_to_what_a_call_reads_from_text(
    optional: tuple[str, ...],
) -> None:
    found = map_inputs(a_tool("t", {"url": "number"}, optional=optional).spec, PARAMS)

    assert found.input == {"url": "$.params.url"}
    assert found.inferred == {"url": "same name; whether its text fits shows at run time"}


@pytest.mark.parametrize("optional", [(), ("limit",)], ids=["required", "optional"])
def test_a_param_of_the_same_name_that_cannot_fit_is_told(optional: tuple[str, ...]) -> None:
    found = map_inputs(a_tool("t", {"limit": "string"}, optional=optional).spec, PARAMS)

    assert found.input == {}
    assert found.unfit == {"limit": "expected string, got integer"}


def test_an_optional_input_takes_its_name_only() -> None:
    takes = {"url": "string", "note": "string"}

    assert wire(takes, PARAMS, optional=("url", "note")) == {"url": "$.params.url"}


def test_what_is_written_down_stays() -> None:
    assert wire({"url": "string"}, PARAMS, given={"url": "https://x"}) == {"url": "https://x"}


def test_the_latest_step_gives_first() -> None:
    early = outputs_given("early", a_tool("e", {}, {"text": "string"}).spec)
    late = outputs_given("late", a_tool("l", {}, {"text": "string", "n": "integer"}).spec)

    assert wire({"text": "string"}, [*PARAMS, *early, *late]) == {
        "text": "$.steps.late.output.text"
    }
    assert wire({"body": "string"}, [*PARAMS, *early, *late]) == {
        "body": "$.steps.late.output.text"
    }


def test_two_values_of_one_type_are_not_guessed_between() -> None:
    two = outputs_given("s", a_tool("s", {}, {"a": "string", "b": "string"}).spec)

    assert map_inputs(a_tool("t", {"text": "string"}).spec, two).missing == ("text",)


def test_a_whole_output_is_given_where_it_fits() -> None:
    page = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    givers = outputs_given("s", a_tool("s", {}, {"a": "string"}).spec)

    assert wire({"page": page}, givers) == {"page": "$.steps.s.output"}


def test_a_name_that_is_no_identifier_is_written_in_brackets() -> None:
    (giver,) = params_given({"properties": {"a b": {"type": "string"}}})

    assert giver.path.startswith("$.params[")


def test_definitions_go_along_with_what_refers_to_them() -> None:
    schema = {
        "$defs": {"word": {"type": "string"}},
        "properties": {"w": {"$ref": "#/$defs/word"}, "any": True},
    }
    word, anything = params_given(schema)

    assert word.schema == {"$defs": {"word": {"type": "string"}}, "$ref": "#/$defs/word"}
    assert anything.schema is True


def test_a_schema_that_only_refers_to_a_definition_gives_and_takes_its_properties() -> None:
    page = {
        "$ref": "#/$defs/Page",
        "$defs": {
            "Page": {"$ref": "#/$defs/Text"},
            "Text": {"type": "object", "properties": {"text": {"type": "string"}}},
        },
    }
    required = {**page["$defs"]["Text"], "required": ["text"]}  # pyright: ignore[reportArgumentType, reportGeneralTypeIssues] - a mapping, as it stands above
    reading = a_tool("read").spec.replace(output_schema=page)
    short = {**page, "$defs": {**page["$defs"], "Text": required}}  # pyright: ignore[reportGeneralTypeIssues] - the same
    writing = a_tool("write").spec.replace(input_schema=short)

    assert map_inputs(writing, outputs_given("read", reading)).input == {
        "text": "$.steps.read.output.text"
    }


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "#/$defs/gone"}, {"$ref": "#"}, {"$ref": "https://x.example/page.json"}],
    ids=["nowhere", "itself", "elsewhere"],
)
def test_a_reference_that_leads_nowhere_gives_the_whole_alone(schema: dict[str, Any]) -> None:
    spec = a_tool("read").spec.replace(output_schema=schema)

    assert [giver.path for giver in outputs_given("s", spec)] == ["$.steps.s.output"]


def test_a_tool_without_an_output_schema_gives_nothing() -> None:
    assert outputs_given("s", a_tool("s").spec) == []


def test_the_fit_is_the_share_of_inputs_that_have_a_value() -> None:
    spec = a_tool("t", {"url": "string", "flag": "boolean"}).spec

    assert map_inputs(spec, PARAMS).fit == 0.5
    assert map_inputs(a_tool("t").spec, PARAMS).fit == 1.0
