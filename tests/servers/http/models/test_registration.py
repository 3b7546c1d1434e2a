import asyncio
from typing import Any, get_args

import pytest
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from pegboard.runtime.board_file.models import ToolEntry
from pegboard.runtime.registrations.source_config import RUNNERS
from pegboard.servers.http.models.registration import (
    MAX_REGISTRATIONS,
    BulkBody,
    Registration,
    definitions_of,
)


def test_a_registration_takes_every_type_and_every_key_of_an_entry() -> None:
    assert set(get_args(Registration.model_fields["type"].annotation)) == set(RUNNERS)
    assert Registration.model_fields.keys() == ToolEntry.model_fields.keys()


def test_what_is_kept_is_what_was_given() -> None:
    given = {"tool_id": "x_v1", "type": "PythonFunction", "import": "a:b"}

    assert Registration.model_validate(given).definition() == given


@pytest.mark.parametrize(
    "change", [{"retry_policy": {"backoff_ms": True}}, {"timeout_ms": "5"}, {"tool_id": "1x"}]
)
def test_json_s_types_are_meant(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Registration.model_validate({"tool_id": "x_v1", "type": "RestAPI", **change})


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        (
            {"q": "strin", "n": "int", "b": 5},
            {("q",): "'strin' is not a type", ("b",): "expected a"},
        ),
        ({"q": ["x"]}, {("q",): "q[0]: 'x' is not a type"}),
        ({"q": {"inner": "x"}}, {("q",): "q.inner: 'x' is not a type"}),
        (5, {(): "write a shorthand"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("field", ["input_schema", "output_schema"])
def test_a_shorthand_that_is_none_is_told_by_its_names(
    field: str, schema: object, places: dict[tuple[str, ...], str]
) -> None:
    with pytest.raises(ValidationError) as raised:
        Registration.model_validate({"tool_id": "x_v1", "type": "RestAPI", field: schema})

    said = {
        fault["loc"]: fault["msg"].removeprefix("Value error, ") for fault in raised.value.errors()
    }
    assert said.keys() == {(field, *place) for place in places}
    assert all(said[field, *place].startswith(text) for place, text in places.items())


def a_tool(index: int, **said: Any) -> dict[str, Any]:
    return {"tool_id": f"x{index}_v1", "type": "RestAPI", **said}


async def test_many_are_read_in_turns_with_other_work() -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    schema = {f"field_{index}": "string" for index in range(100)}
    tools = [a_tool(index, input_schema=schema) for index in range(1_000)]
    beside = asyncio.create_task(other())
    found = await definitions_of(tools)
    beside.cancel()

    assert found == tools
    assert turns >= 2


async def test_what_does_not_fit_is_told_with_its_place() -> None:
    with pytest.raises(RequestValidationError) as refused:
        await definitions_of(
            [
                a_tool(0),
                a_tool(1, timeout_ms="5"),
                7,
                a_tool(3, nope=1),
                a_tool(4, destructive=0, idempotent="no"),
            ]
        )

    assert [item["loc"] for item in refused.value.errors()] == [
        ("body", "tools", 1, "timeout_ms"),
        ("body", "tools", 2),
        ("body", "tools", 3, "nope"),
        ("body", "tools", 4, "destructive"),
        ("body", "tools", 4, "idempotent"),
    ]


async def test_only_so_many_faults_are_looked_for() -> None:
    with pytest.raises(RequestValidationError) as refused:
        await definitions_of([7] * 1_000)

    assert len(refused.value.errors()) == 100


def test_more_than_may_come_at_once_are_not_even_looked_at() -> None:
    BulkBody.model_validate({"tools": [7] * MAX_REGISTRATIONS})
    with pytest.raises(ValidationError, match="at most 20000"):
        BulkBody.model_validate({"tools": [7] * (MAX_REGISTRATIONS + 1)})


def test_the_document_describes_each_of_many() -> None:
    schema = BulkBody.model_json_schema()

    assert schema["properties"]["tools"]["items"] == {"$ref": "#/$defs/Registration"}
    assert schema["properties"]["tools"]["maxItems"] == MAX_REGISTRATIONS
    assert schema["$defs"]["Registration"]["additionalProperties"] is False
