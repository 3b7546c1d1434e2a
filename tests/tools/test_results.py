"""What a tool returns becomes a result, checked against what it promised."""

import dataclasses
import enum
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

import jsonschema_rs
import msgspec
import pytest
import typing_extensions
from hypothesis import given
from pydantic import BaseModel, Field, model_serializer
from tests.tools.shapes import Point, Price, Tree, Word
from tests.tools.strategies import JSON, TYPED

from pegboard.core.context import ToolContext
from pegboard.core.result import Artifact, AudioPart, ImagePart, ResourcePart, TextPart, ToolResult
from pegboard.errors import SourceUnavailable, ToolFailed, ToolOutputError
from pegboard.tools import as_tool
from pegboard.tools.results import finish_for_schema, wrap

IMAGE = ImagePart(data=b"png", media_type="image/png")
REPORT = Artifact(name="report.pdf", media_type="application/pdf", size=3, data=b"pdf")


class Movie(typing_extensions.TypedDict):
    name: str


class Renamed(BaseModel):
    number: int = Field(serialization_alias="theNumber")


class Failing(BaseModel):
    @model_serializer
    def _fail(self) -> Any:
        raise KeyError("password=hunter2")


class Odd:
    def __repr__(self) -> str:
        return "odd"


def _cyclic() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    return value


def finished(returns: Any, value: Any) -> ToolResult:
    """What a tool with this return type makes of the value."""

    def give() -> Any:
        return value

    give.__annotations__["return"] = returns
    return as_tool(give).finish(value)  # type: ignore[attr-defined]  # a FunctionTool has it


@pytest.mark.parametrize(
    ("value", "content", "structured"),
    [
        pytest.param("text", "text", "text", id="text"),
        pytest.param("", "", "", id="empty text"),
        pytest.param(None, "null", None, id="nothing"),
        pytest.param(5, "5", 5, id="integer"),
        pytest.param(True, "true", True, id="true"),
        pytest.param(False, "false", False, id="false"),
        pytest.param(1.5, "1.5", 1.5, id="float"),
        pytest.param(2**100, str(2**100), 2**100, id="large integer"),
        pytest.param({"a": [1, None]}, '{"a":[1,null]}', {"a": [1, None]}, id="mapping"),
        pytest.param([], "[]", [], id="empty list"),
        pytest.param((1, "a"), '[1,"a"]', [1, "a"], id="tuple"),
        pytest.param({1}, "[1]", [1], id="set"),
        pytest.param({1: "a"}, '{"1":"a"}', {"1": "a"}, id="numbers as names"),
        pytest.param(Word.YES, "yes", "yes", id="enum"),
        pytest.param(
            Price(amount=1),
            '{"amount":1.0,"currency":"EUR"}',
            {"amount": 1.0, "currency": "EUR"},
            id="model",
        ),
        pytest.param(
            Renamed(number=1), '{"theNumber":1}', {"theNumber": 1}, id="model with an alias"
        ),
        pytest.param(Point(1.0), '{"x":1.0,"y":0.0}', {"x": 1.0, "y": 0.0}, id="dataclass"),
        pytest.param(
            datetime(2024, 5, 6, tzinfo=UTC),
            "2024-05-06T00:00:00Z",
            "2024-05-06T00:00:00Z",
            id="datetime",
        ),
        pytest.param(Decimal("1.50"), "1.50", "1.50", id="decimal"),
        pytest.param(Path("/a"), "/a", "/a", id="path"),
        pytest.param("NaN", "NaN", "NaN", id="the word NaN"),
        pytest.param(
            ["NaN", "1" * 5000],
            json.dumps(["NaN", "1" * 5000], separators=(",", ":")),
            ["NaN", "1" * 5000],
            id="digits in a text",
        ),
        pytest.param(iter([1, 2]), "[1,2]", [1, 2], id="iterator"),
    ],
)
def test_a_value_becomes_text_for_the_model_and_a_json_value(
    value: Any, content: str, structured: Any
) -> None:
    assert wrap(value) == ToolResult(content=content, structured=structured)


def test_a_result_is_kept_as_it_is() -> None:
    result = ToolResult(content="done", structured={"a": 1}, meta=ToolResult().meta)

    assert wrap(result) is result
    assert finished(dict[str, int], result) is result
    assert finish_for_schema({"type": "object"}, "t")(result) is result


@pytest.mark.parametrize(
    ("value", "content", "artifacts"),
    [
        pytest.param(IMAGE, (IMAGE,), (), id="a part"),
        pytest.param(TextPart(text="a"), (TextPart(text="a"),), (), id="a text part"),
        pytest.param([TextPart(text="a"), IMAGE], (TextPart(text="a"), IMAGE), (), id="parts"),
        pytest.param(
            ["a", 5, IMAGE],
            (TextPart(text="a"), TextPart(text="5"), IMAGE),
            (),
            id="values among parts",
        ),
        pytest.param(
            REPORT,
            (TextPart(text="[file report.pdf, application/pdf, 3 bytes]"),),
            (REPORT,),
            id="an artifact",
        ),
        pytest.param(
            b"abc",
            (TextPart(text="[file result-1.bin, application/octet-stream, 3 bytes]"),),
            (Artifact(name="result-1.bin", size=3, data=b"abc"),),
            id="bytes",
        ),
        pytest.param(
            (bytearray(b"a"), REPORT, AudioPart(data=b"", media_type="audio/wav")),
            (
                AudioPart(data=b"", media_type="audio/wav"),
                TextPart(text="[file result-1.bin, application/octet-stream, 1 bytes]"),
                TextPart(text="[file report.pdf, application/pdf, 3 bytes]"),
            ),
            (Artifact(name="result-1.bin", size=1, data=b"a"), REPORT),
            id="files among parts",
        ),
        pytest.param(
            ResourcePart(uri="file:///a"), (ResourcePart(uri="file:///a"),), (), id="a resource"
        ),
    ],
)
def test_what_carries_its_own_content_is_kept(value: Any, content: Any, artifacts: Any) -> None:
    assert wrap(value) == ToolResult(content=content, artifacts=artifacts)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(float("nan"), id="NaN"),
        pytest.param([1.0, float("inf")], id="infinity in a list"),
        pytest.param({"a": {"b": float("-inf")}}, id="infinity in a mapping"),
        pytest.param(Point(float("nan")), id="NaN in a dataclass"),
        pytest.param(10**5000, id="5,000 digits"),
        pytest.param({"a": [10**5000]}, id="5,000 digits within"),
        pytest.param(_cyclic(), id="a loop"),
        pytest.param(_deep(), id="without end"),
        pytest.param(Odd(), id="an object of Python"),
        pytest.param({"a": Odd()}, id="an object within"),
        pytest.param(Failing(), id="a serializer that fails"),
        pytest.param({"a": b"\xff"}, id="bytes that are no text"),
        pytest.param({"a": "\ud800"}, id="half a surrogate pair"),
        pytest.param(print, id="a function"),
    ],
)
@pytest.mark.parametrize(
    "returns", [Any, object, None, list[Any], dict[str, Any], int, Point], ids=str
)
def test_what_is_not_json_is_the_tools_fault(returns: Any, value: Any) -> None:
    with pytest.raises(ToolOutputError) as caught:
        finished(returns, value)

    assert caught.value.__cause__ is not None
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("returns", "value", "structured"),
    [
        (int, 5, 5),
        (float, 5, 5),
        (float, 1.5, 1.5),
        (bool, True, True),
        (str, "a", "a"),
        (str, Word.YES, "yes"),
        (Word, Word.YES, "yes"),
        (Literal["a"], "a", "a"),
        (int | None, None, None),
        (list[int], [1], [1]),
        (list[int], (1, 2), [1, 2]),
        (tuple[int, ...], [1], [1]),
        (set[int], {1}, [1]),
        (dict[str, float], {"a": 1}, {"a": 1}),
        (Price, Price(amount=1), {"amount": 1.0, "currency": "EUR"}),
        (Price, {"amount": 1, "currency": "x"}, {"amount": 1, "currency": "x"}),
        (list[Price], [{"amount": 1, "currency": "x"}], [{"amount": 1, "currency": "x"}]),
        (Renamed, Renamed(number=1), {"theNumber": 1}),
        (Point, Point(1.0), {"x": 1.0, "y": 0.0}),
        (Movie, {"name": "a"}, {"name": "a"}),
        (datetime, datetime(2024, 5, 6, tzinfo=UTC), "2024-05-06T00:00:00Z"),
        (UUID, UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Tree, Tree(value=1), {"value": 1, "children": []}),
        (Any, {"a": 1}, {"a": 1}),
        (None, {"a": 1}, {"a": 1}),
    ],
    ids=str,
)
def test_a_value_of_the_promised_type_is_dumped(returns: Any, value: Any, structured: Any) -> None:
    assert finished(returns, value).structured == structured


@pytest.mark.parametrize(
    ("returns", "value", "detail"),
    [
        (int, "abc", 'output: "abc" is not of type "integer"; it returned \'abc\''),
        (int, True, 'output: true is not of type "integer"; it returned True'),
        (int, None, 'output: null is not of type "integer"; it returned None'),
        (str, 5, 'output: 5 is not of type "string"; it returned 5'),
        (list[int], ["a"], '[0]: "a" is not of type "integer"; it returned [\'a\']'),
        (Price, {"amount": "x"}, "it returned {'amount': 'x'}"),
        (Price, Price.model_construct(amount="x"), 'amount: "x" is not of type "number"'),
        (Literal["a"], "b", "it returned 'b'"),
        (Word, "maybe", "it returned 'maybe'"),
    ],
    ids=str,
)
def test_a_broken_promise_is_the_tools_fault_and_the_operator_sees_the_value(
    returns: Any, value: Any, detail: str
) -> None:
    with pytest.raises(ToolOutputError) as caught:
        finished(returns, value)

    assert str(caught.value) == "'give' returned something that its own schema does not allow."
    assert detail in str(caught.value.__cause__)


def test_a_huge_broken_value_is_cut_for_the_operator() -> None:
    with pytest.raises(ToolOutputError) as caught:
        finished(int, ["x" * 10_000] * 100)

    assert len(str(caught.value.__cause__)) < 110_000


@pytest.mark.parametrize(
    "returns",
    [
        ToolResult,
        Artifact,
        ImagePart,
        bytes,
        list[ImagePart],
        tuple[str, Artifact],
        str | bytes,
        None,
        Any,
    ],
    ids=str,
)
def test_a_type_that_carries_its_own_content_promises_no_schema(returns: Any) -> None:
    def give() -> Any: ...

    give.__annotations__["return"] = returns

    assert as_tool(give).spec.output_schema is None


def test_a_return_type_without_a_schema_promises_nothing() -> None:
    def give() -> Odd:
        return Odd()

    assert as_tool(give).spec.output_schema is None


@pytest.mark.parametrize(("hint", "_fits"), TYPED, ids=[str(hint) for hint, _ in TYPED])
def test_a_promised_schema_is_json_schema(hint: Any, _fits: Any) -> None:
    def give() -> Any: ...

    give.__annotations__["return"] = hint

    jsonschema_rs.meta.validate(dict(as_tool(give).spec.output_schema or {}))


@given(value=JSON)
def test_any_json_value_passes_and_every_writer_can_write_it(value: Any) -> None:
    result = wrap(value)

    assert result.structured == value
    for written in (json.dumps(result.structured).encode(), msgspec.json.encode(result.structured)):
        assert json.loads(written) == value


class TestSchemaFinish:
    """Outputs of tools with a schema of their own."""

    SCHEMA: Mapping[str, Any] = {
        "type": "object",
        "properties": {"total": {"type": "integer"}},
        "required": ["total"],
    }

    def test_a_value_that_fits_passes(self) -> None:
        assert finish_for_schema(self.SCHEMA, "t")({"total": 5}).structured == {"total": 5}

    def test_a_value_that_does_not_fit_is_kept_for_the_operator(self) -> None:
        with pytest.raises(ToolOutputError) as caught:
            finish_for_schema(self.SCHEMA, "crm__sum")({"total": "five"})

        assert str(caught.value) == (
            "'crm__sum' returned something that its own schema does not allow."
        )
        assert str(caught.value.__cause__) == (
            "total: \"five\" is not of type \"integer\"; it returned {'total': 'five'}"
        )

    def test_a_structured_value_in_a_result_is_checked_too(self) -> None:
        with pytest.raises(ToolOutputError):
            finish_for_schema(self.SCHEMA, "t")(ToolResult(content="5", structured={"total": "5"}))

    def test_prose_and_failures_are_let_through(self) -> None:
        finish = finish_for_schema(self.SCHEMA, "t")
        prose = ToolResult(content="There are five.")
        failed = ToolResult(is_error=True, structured={"no": 1}, error=ToolFailed("No."))

        assert finish(prose) is prose
        assert finish(failed) is failed

    def test_a_broken_schema_is_told_when_it_is_compiled(self) -> None:
        with pytest.raises(SourceUnavailable, match="broken JSON Schema"):
            finish_for_schema({"type": "strin"}, "t")


async def test_a_tool_gives_what_its_schema_shows() -> None:
    def totals() -> dict[str, Price]:
        return {"a": Price(amount=1)}

    made: Any = as_tool(totals)
    result = made.finish(await made.run({}, ToolContext()))

    jsonschema_rs.validate(made.spec.output_schema, result.structured)
    assert result.content == '{"a":{"amount":1.0,"currency":"EUR"}}'


def test_a_dataclass_that_holds_what_it_should_not_is_refused() -> None:
    @dataclasses.dataclass
    class Reading:
        value: float

    with pytest.raises(ToolOutputError):
        finished(Reading, Reading("high"))  # type: ignore[arg-type]  # what is tested


def test_an_enum_of_numbers_is_its_value() -> None:
    class Level(enum.IntEnum):
        LOW = 1

    assert wrap(Level.LOW) == ToolResult(content="1", structured=1)


def test_the_operator_reads_where_a_result_is_not_finite() -> None:
    with pytest.raises(ToolOutputError) as caught:
        finished(None, {"a": [1.0, float("inf")]})

    assert str(caught.value.__cause__) == "inf at a[1] is not a finite number"


@pytest.mark.parametrize("before", [0, 1, 2149, 2150, 4299, 5000])
@pytest.mark.parametrize(("digits", "is_refused"), [(4299, False), (4301, True)])
def test_too_many_digits_are_found_wherever_they_stand(
    before: int, digits: int, is_refused: bool
) -> None:
    value: Any = ["x" * before, 10 ** (digits - 1), "x" * 5000]
    if is_refused:
        with pytest.raises(ToolOutputError):
            finished(None, value)
    else:
        assert finished(None, value).structured == value
