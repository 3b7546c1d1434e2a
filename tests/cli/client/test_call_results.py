from typing import Any

import pytest

from pegboard.cli.client.call_results import to_failure, to_object, to_result
from pegboard.core.result import TextPart
from pegboard.errors import InvalidRequest, ToolFailed, Unavailable

META = {"call_id": "c1", "attempts": 1, "cached": False, "replayed": False, "truncated": False}


@pytest.mark.parametrize(
    ("output", "text", "structured"),
    [
        ("Hello", "Hello", "Hello"),
        (1024, "1024", 1024),
        ({"a": [1, None]}, '{"a":[1,null]}', {"a": [1, None]}),
        ([], "[]", []),
        (None, "null", None),
    ],
)
def test_a_value_is_the_result_that_the_tool_gave(output: Any, text: str, structured: Any) -> None:
    result = to_result({"output": output, "execution_time_ms": 1.5, "metadata": META})

    assert (result.text, result.structured) == (text, structured)
    assert (result.meta.call_id, result.meta.duration_ms) == ("c1", 1.5)


def test_typed_parts_are_content() -> None:
    parts = [{"type": "text", "text": "a"}]
    result = to_result({"output": parts, "execution_time_ms": 1, "metadata": META})

    assert (result.content, result.structured) == ((TextPart(text="a"),), None)


def test_arguments_are_an_object() -> None:
    assert to_object('{"a": 1}') == to_object({"a": 1}) == {"a": 1}
    assert to_object("") == to_object(None) == {}


@pytest.mark.parametrize("arguments", ["{nope", "[1]", "1"])
def test_other_arguments_are_wrong_use(arguments: str) -> None:
    with pytest.raises(InvalidRequest, match=r"not (valid JSON|a JSON object)"):
        to_object(arguments)


def test_the_text_of_a_failure_is_that_of_a_call_without_a_server() -> None:
    failed = to_failure(ToolFailed("It broke.", error_id="e_1"), {"metadata": META})
    busy = to_failure(Unavailable("Busy.", retry_after=60), {"metadata": META})

    assert failed.text == "It broke. (error id e_1)"
    assert busy.text == "Busy. It is unavailable now, try again in 60 s."
