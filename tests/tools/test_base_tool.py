"""Tools written as classes."""

import threading
from typing import Any

import pytest

from pegboard.core.context import ToolContext
from pegboard.core.tool import Effect
from pegboard.errors import ToolSignatureError
from pegboard.tools import BaseTool, as_tool
from pegboard.tools.base_tool import tool_of_class

TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Shout(BaseTool):
    name = "shout"
    description = "Say it loudly."
    category = "general"
    parameters_schema = TEXT

    def run(self, *, text: str) -> str:  # type: ignore[override]  # the arguments by name
        return f"{text.upper()} in {threading.current_thread().name}"


class Whisper(BaseTool):
    name = "whisper"
    effect = "read"  # type: ignore[assignment]  # a text will do
    parameters_schema = TEXT

    async def run(self, *, text: str) -> str:  # type: ignore[override]  # the arguments by name
        return text.lower()


def test_the_members_are_the_spec() -> None:
    spec = as_tool(Shout()).spec

    assert (spec.name, spec.action, spec.description, spec.category, spec.effect) == (
        "shout",
        "shout",
        "Say it loudly.",
        "general",
        Effect.WRITE,
    )
    assert spec.input_schema == {**TEXT, "additionalProperties": False}
    assert as_tool(Whisper()).spec.effect is Effect.READ


async def test_a_sync_run_works_in_a_thread() -> None:
    assert await as_tool(Shout()).run({"text": "hi"}, ToolContext()) == "HI in pegboard-tool"


async def test_an_async_run_is_awaited() -> None:
    assert await as_tool(Whisper()).run({"text": "Hi"}, ToolContext()) == "hi"


def test_without_run_there_is_no_tool() -> None:
    class Nothing(BaseTool):
        name = "nothing"
        parameters_schema = TEXT

    with pytest.raises(TypeError, match="abstract"):
        Nothing()  # type: ignore[abstract]  # what is tested


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"parameters_schema": TEXT}, "the tool class Made has no 'name'"),
        ({"name": "made"}, "the tool class Made has no 'parameters_schema'"),
        ({"name": "a b", "parameters_schema": TEXT}, "'a b' is not a tool name"),
        ({"name": 5, "parameters_schema": TEXT}, "Made"),
        ({"name": "a", "parameters_schema": TEXT, "effect": "reed"}, "effect must be one of"),
    ],
    ids=str,
)
def test_a_wrong_member_is_named(members: dict[str, Any], reason: str) -> None:
    made = type("Made", (BaseTool,), {**members, "run": lambda self: None})

    with pytest.raises(ToolSignatureError, match=reason):
        tool_of_class(made())
