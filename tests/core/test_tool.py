"""A spec: plain frozen data, with schemas that are built when somebody looks."""

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass
from typing import Any

import pytest

from pegboard.core.context import ToolContext
from pegboard.core.tool import Effect, Limits, Status, Tool, ToolSpec, UpstreamTool
from pegboard.errors import ConfigError, ToolSignatureError
from pegboard.tools import SchemaTool, tool

EMPTY = {"type": "object", "properties": {}, "additionalProperties": False}


class Schema:
    """Counts how often it is built."""

    def __init__(self) -> None:
        self.built = 0

    def __call__(self) -> dict[str, Any]:
        self.built += 1
        return EMPTY


@pytest.fixture
def schema() -> Schema:
    return Schema()


def test_a_schema_is_built_on_first_use_and_once(schema: Schema) -> None:
    spec = ToolSpec(name="echo", input_schema=schema)
    assert schema.built == 0

    assert (spec.input_schema, spec.input_schema) == (EMPTY, EMPTY)
    assert schema.built == 1


def test_an_output_schema_may_be_absent_given_or_built(schema: Schema) -> None:
    specs = [
        ToolSpec(name="echo", input_schema=EMPTY),
        ToolSpec(name="echo", input_schema=EMPTY, output_schema=EMPTY),
        ToolSpec(name="echo", input_schema=EMPTY, output_schema=schema),
    ]

    assert [spec.output_schema for spec in specs] == [None, EMPTY, EMPTY]


def test_effect_and_status_may_be_written_as_text() -> None:
    said: Any = {"effect": "read", "status": "deprecated"}

    spec = ToolSpec(name="echo", input_schema=EMPTY, **said)

    assert (spec.effect, spec.status) == (Effect.READ, Status.DEPRECATED)
    assert isinstance(spec.effect, Effect)
    assert isinstance(spec.replace(**said).status, Status)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        pytest.param(
            {"effect": "raed"},
            "'echo': effect is one of read, write, admin; found 'raed'",
            id="effect",
        ),
        pytest.param(
            {"status": None},
            "'echo': status is one of active, deprecated, disabled, failed; found None",
            id="status",
        ),
        pytest.param(
            {"input_schema": True},
            "'echo': input_schema is a JSON Schema as a mapping; found True",
            id="input schema",
        ),
        pytest.param(
            {"output_schema": "string"},
            "'echo': output_schema is a JSON Schema as a mapping; found 'string'",
            id="output schema",
        ),
    ],
)
def test_a_spec_that_no_call_could_use_is_refused_where_it_is_made(
    said: dict[str, Any], message: str
) -> None:
    fields: dict[str, Any] = {"name": "echo", "input_schema": EMPTY, **said}

    with pytest.raises(ToolSignatureError) as caught:
        ToolSpec(**fields)

    assert caught.value.message == message


def test_a_spec_cannot_be_changed() -> None:
    spec = ToolSpec(name="echo", input_schema=EMPTY)

    with pytest.raises(FrozenInstanceError):
        setattr(spec, "name", "other")  # noqa: B010 - pyright knows that it cannot be set


def test_a_spec_needs_a_name_and_an_input_schema() -> None:
    with pytest.raises(TypeError, match="input_schema"):
        ToolSpec(name="echo")


def test_the_id_carries_the_major_version() -> None:
    spec = ToolSpec(name="search_web", input_schema=EMPTY, version="2.1.0")

    assert spec.id == "search_web_v2"


def test_a_given_id_stays() -> None:
    assert ToolSpec(name="echo", input_schema=EMPTY, id="mine").id == "mine"


def test_a_changed_copy_leaves_the_original_and_builds_nothing(schema: Schema) -> None:
    spec = ToolSpec(name="echo", input_schema=schema, category="web")

    copy = spec.replace(description="Says it again.")

    assert (spec.description, copy.description, copy.category) == ("", "Says it again.", "web")
    assert schema.built == 0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"name": "say"}, "say_v1", id="a new name"),
        pytest.param({"version": "3.0.0"}, "echo_v3", id="a new version"),
        pytest.param({"title": "Echo"}, "echo_v1", id="something else"),
        pytest.param({"name": "say", "id": "mine"}, "mine", id="a new id"),
    ],
)
def test_the_id_follows_name_and_version(changes: dict[str, Any], expected: str) -> None:
    assert ToolSpec(name="echo", input_schema=EMPTY).replace(**changes).id == expected


def test_whatever_has_a_spec_and_runs_is_a_tool() -> None:
    @dataclass(frozen=True)
    class Echo:
        spec: ToolSpec

        async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any: ...

    assert isinstance(Echo(ToolSpec(name="echo", input_schema=EMPTY)), Tool)
    assert not isinstance(object(), Tool)


@pytest.mark.parametrize(
    "fields",
    [{"rate": 0}, {"rate": -1.0}, {"rate": 5, "per": 0}, {"concurrency": 0}],
    ids=str,
)
def test_a_limit_that_lets_nothing_through_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="must be"):
        Limits(**fields)


def test_a_limit_that_lets_something_through_is_kept() -> None:
    assert Limits(rate=0.5, per=2, concurrency=1).rate == 0.5


def test_a_field_that_there_is_not_cannot_be_changed() -> None:
    with pytest.raises(TypeError, match="no field 'colour'"):
        ToolSpec(name="echo", input_schema=EMPTY).replace(colour="red")


def test_a_changed_spec_leaves_the_other_as_it_was_and_is_checked() -> None:
    spec = ToolSpec(name="echo", input_schema=EMPTY)
    changed = spec.replace(effect="read", output_schema=EMPTY)

    assert (spec.effect, spec.output_schema) == (Effect.WRITE, None)
    assert (changed.effect, changed.output_schema) == (Effect.READ, EMPTY)
    with pytest.raises(ToolSignatureError):
        spec.replace(effect="sideways")


def test_a_tool_that_somebody_else_describes_is_known_by_what_it_has() -> None:
    spec = ToolSpec(name="find", input_schema={"type": "object"})

    async def run(_arguments: object, _ctx: object) -> str:
        return "found"

    assert isinstance(SchemaTool(spec=spec, run=run), UpstreamTool)
    assert not isinstance(tool(run_alone), UpstreamTool)


def run_alone() -> str:
    """Of this process alone."""
    return "run"


def test_effects_are_ordered_by_what_they_may_do() -> None:
    assert sorted(Effect, key=lambda effect: effect.strength) == ["read", "write", "admin"]
