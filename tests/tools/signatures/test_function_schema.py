"""The schema that is shown says what the function takes: no type is shown as a mere string."""

import collections
import enum
import json
import uuid
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import jsonschema_rs
import pytest
from pydantic import BaseModel, ConfigDict, Field
from tests.tools.reading import shown, tool_of
from tests.tools.shapes import (
    Aliased,
    Booking,
    Mixed,
    Number,
    Open,
    OpenTyped,
    Pair,
    Person,
    Pet,
    Point,
    Price,
    Tree,
    Word,
)

from pegboard.errors import ToolSignatureError
from pegboard.tools import as_tool, tool

Anything = TypeVar("Anything")


class Callback(BaseModel):
    """A model that has no JSON Schema."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    call: Callable[[int], int]


class NotYet(BaseModel):
    other: "DefinedNowhere"  # type: ignore[name-defined]  # noqa: F821 - what is tested


class Colour(enum.Enum):
    RED = "red"


SCHEMAS = [
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (str, {"type": "string"}),
    (None, {"type": "null"}),
    (Any, {}),
    (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
    (Literal[1], {"const": 1, "type": "integer"}),
    (Literal["a", 1], {"enum": ["a", 1]}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (Iterable[int], {"type": "array", "items": {"type": "integer"}}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (
        tuple[int, str],
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "minItems": 2,
            "maxItems": 2,
        },
    ),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
    (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
    (collections.deque[int], {"type": "array", "items": {"type": "integer"}}),
    (date, {"type": "string", "format": "date"}),
    (datetime, {"type": "string", "format": "date-time"}),
    (time, {"type": "string", "format": "time"}),
    (timedelta, {"type": "string", "format": "duration"}),
    (uuid.UUID, {"type": "string", "format": "uuid"}),
    (Path, {"type": "string", "format": "path"}),
    (Decimal, {"anyOf": [{"type": "number"}, {"type": "string"}]}),
    (bytes, {"type": "string", "format": "binary"}),
    (
        Annotated[int, Field(ge=1, lt=5, multiple_of=2, description="Even")],
        {
            "type": "integer",
            "minimum": 1,
            "exclusiveMaximum": 5,
            "multipleOf": 2,
            "description": "Even",
        },
    ),
    (
        Annotated[str, Field(min_length=1, max_length=3, pattern="^a", examples=["ab"])],
        {"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^a", "examples": ["ab"]},
    ),
    (
        Annotated[list[int], Field(min_length=1, max_length=3)],
        {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
    ),
    (Annotated[int, Field(title="The X")], {"type": "integer", "title": "The X"}),
]


@pytest.mark.parametrize(("hint", "schema"), SCHEMAS, ids=[str(hint) for hint, _ in SCHEMAS])
def test_a_type_is_shown_as_what_it_is(hint: Any, schema: dict[str, Any]) -> None:
    assert shown(hint) == schema


@pytest.mark.parametrize(
    ("hint", "values"), [(Mixed, [1, "two"]), (Number, [1, 2]), (Word, ["yes", "no"])]
)
def test_an_enum_is_shown_by_its_values(hint: Any, values: list[Any]) -> None:
    assert _definition(hint, hint.__name__)["enum"] == values


@pytest.mark.parametrize(
    ("hint", "name"),
    [(Price, "Price"), (Point, "Point"), (Person, "Person"), (Booking, "Booking"), (Tree, "Tree")],
)
def test_a_nested_object_is_shown_by_reference_and_closed(hint: Any, name: str) -> None:
    assert shown(hint) == {"$ref": f"#/$defs/{name}"}
    assert _definition(hint, name)["additionalProperties"] is False


def test_an_open_model_is_shown_open_and_what_it_holds_closed() -> None:
    schema = tool_of(Open).spec.input_schema

    assert schema["$defs"]["Open"]["additionalProperties"] is True
    assert schema["$defs"]["Price"]["additionalProperties"] is False
    assert _definition(OpenTyped, "OpenTyped")["additionalProperties"] == {"type": "integer"}


def test_a_recursive_model_refers_to_itself() -> None:
    children = _definition(Tree, "Tree")["properties"]["children"]

    assert children["items"] == {"$ref": "#/$defs/Tree"}


def test_a_discriminated_union_names_its_members() -> None:
    schema = shown(Pet)

    assert schema["oneOf"] == [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]


def test_an_alias_is_the_name_that_is_shown() -> None:
    assert list(_definition(Aliased, "Aliased")["properties"]) == ["theNumber"]


def test_a_named_tuple_is_shown_by_position() -> None:
    definition = _definition(Pair, "Pair")

    assert (definition["minItems"], definition["maxItems"]) == (1, 2)


def test_parameters_with_defaults_are_not_required_and_show_them() -> None:
    def find(  # noqa: PLR0917 - one of each kind
        a: int,
        b: str = "x",
        c: float | None = None,
        d: Colour = Colour.RED,
        e: Price = Price(amount=1),  # noqa: B008 - a default is what is tested
        f: date = date(2024, 5, 6),
        g: tuple[int, ...] = (1,),
        h: Annotated[int, Field(alias="theH", ge=0)] = 3,
        i: int = Field(4, le=9),
        j: list[int] = Field(default_factory=list),  # noqa: B008 - a default is what is tested
        k: Annotated[int, Field(default=7)] = 7,
        m: Annotated[int, Field(ge=1, description="Optional")] = None,  # type: ignore[assignment]  # noqa: RUF013 - what is tested
    ) -> None: ...

    schema = as_tool(find).spec.input_schema

    assert schema["required"] == ["a"]
    assert {k: v["default"] for k, v in schema["properties"].items() if "default" in v} == {
        "b": "x",
        "c": None,
        "d": "red",
        "e": {"amount": 1.0, "currency": "EUR"},
        "f": "2024-05-06",
        "g": [1],
        "theH": 3,
        "i": 4,
        "k": 7,
        "m": None,
    }
    assert schema["properties"]["m"]["description"] == "Optional"
    assert "anyOf" in schema["properties"]["m"]


def test_a_default_that_json_cannot_say_is_named() -> None:
    marker = object()

    def find(a: Any = marker, b: float = float("inf")) -> None: ...

    properties = as_tool(find).spec.input_schema["properties"]

    assert properties["a"] == {"description": "Default: object."}
    assert properties["b"] == {"type": "number", "description": "Default: float."}


def test_descriptions_come_from_the_docstring_unless_the_type_has_one() -> None:
    def find(
        a: int, b: Annotated[int, Field(description="Of the type")], c: Price | None = None
    ) -> None:
        """Find it.

        Args:
            a: Of the docstring.
            b: Not shown.
            c: Of the price.
            nowhere: Not a parameter.
        """

    properties = as_tool(find).spec.input_schema["properties"]

    assert {name: node["description"] for name, node in properties.items()} == {
        "a": "Of the docstring.",
        "b": "Of the type",
        "c": "Of the price.",
    }


def test_a_tool_without_parameters_is_shown_closed() -> None:
    def ping() -> None: ...

    assert as_tool(ping).spec.input_schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_definitions_may_have_the_names_of_keywords() -> None:
    class default(BaseModel):
        properties: Price

    schema = tool_of(default).spec.input_schema

    assert schema["$defs"]["default"]["additionalProperties"] is False
    assert schema["$defs"]["Price"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "hint", [hint for hint, _ in SCHEMAS] + [Open, Tree, Pet, Booking], ids=str
)
def test_every_schema_is_json_schema(hint: Any) -> None:
    schema = json.loads(json.dumps(tool_of(hint).spec.input_schema))

    jsonschema_rs.meta.validate(schema)


def test_it_is_the_same_object_each_time() -> None:
    spec = tool_of(Price).spec

    assert spec.input_schema is spec.input_schema


@pytest.mark.parametrize(
    "hint",
    [
        pytest.param(Callable[[int], int], id="a callable"),
        pytest.param(list[Callable[[int], int]], id="a callable in a list"),
        pytest.param(dict[str, object()], id="no type at all"),
        pytest.param(Callback, id="a callable in a model"),
        pytest.param(list[Callback], id="a callable in a list of models"),
        pytest.param(NotYet, id="a model with a forward reference to nowhere"),
        pytest.param(type("Plain", (), {}), id="a class of no kind"),
        pytest.param(Annotated[Callback, Field(alias="x")], id="annotated"),
        pytest.param({}, id="not hashable"),
    ],
)
def test_a_type_that_has_no_schema_is_refused_where_it_is_written(hint: Any) -> None:
    def find(fine: int, wrong: Any) -> None: ...

    find.__annotations__["wrong"] = hint

    with pytest.raises(ToolSignatureError) as caught:
        tool(find)
    assert "@tool find(): parameter 'wrong' has a type that cannot become a JSON" in str(
        caught.value
    )


def test_a_type_without_a_json_form_is_refused_with_those_that_have_one() -> None:
    made = tool_of(type("Plain", (), {}))

    with pytest.raises(ToolSignatureError, match="a dataclass or a pydantic model") as caught:
        _ = made.arguments
    assert "arbitrary_types_allowed" not in str(caught.value)


@pytest.mark.parametrize(
    "hint", [Callable[[int], int], Callback, NotYet, type("Plain", (), {})], ids=str
)
def test_what_was_not_tried_out_is_refused_when_it_is_read(hint: Any) -> None:
    made = tool_of(hint)

    for read in (lambda: made.arguments, lambda: made.spec.input_schema):
        with pytest.raises(ToolSignatureError, match="parameter 'x' has a type that cannot become"):
            read()


def test_a_model_that_is_fine_is_tried_out_once() -> None:
    tried: list[int] = []

    class Watched(BaseModel):
        @classmethod
        def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
            tried.append(1)
            return handler(core)

    def find(a: Watched, b: list[Watched] | None = None) -> None: ...

    tool(find)
    after_one = len(tried)
    tool(find)

    assert len(tried) == after_one


def _definition(hint: Any, name: str) -> dict[str, Any]:
    return tool_of(hint).spec.input_schema["$defs"][name]
