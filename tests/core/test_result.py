"""What a call gives back, and what of it anyone may see."""

import json
from typing import Any

import pytest

from pegboard import errors
from pegboard.core.result import (
    Artifact,
    AudioPart,
    ImagePart,
    ResourcePart,
    ResultMeta,
    TextPart,
    ToolResult,
    error_to_dict,
    restore_error,
)
from pegboard.errors import (
    PegboardError,
    Problem,
    RateLimited,
    ToolArgumentError,
    ToolFailed,
    ToolNotFound,
    Unavailable,
)


@pytest.mark.parametrize(
    ("result", "value"),
    [
        pytest.param(ToolResult(content="1", structured=1), 1, id="the structured value"),
        pytest.param(ToolResult(content="[]", structured=[]), [], id="an empty structured value"),
        pytest.param(ToolResult(content="plain"), "plain", id="else the content"),
        pytest.param(ToolResult(content="null"), None, id="nothing is None"),
    ],
)
def test_unwrap_gives_the_value(result: ToolResult, value: Any) -> None:
    assert result.unwrap() == value


def test_unwrap_raises_the_typed_error() -> None:
    error = ToolNotFound("serch", ("search",))

    with pytest.raises(ToolNotFound) as raised:
        ToolResult(is_error=True, error=error).unwrap()

    assert raised.value is error


@pytest.mark.parametrize(
    ("content", "message"), [("It is shipped.", "It is shipped."), ("", "The tool failed.")]
)
def test_an_error_without_a_type_is_a_failure_of_the_tool(content: str, message: str) -> None:
    with pytest.raises(ToolFailed, match=message):
        ToolResult(content=content, is_error=True).unwrap()


def test_parts_that_are_not_text_are_named_in_the_text() -> None:
    result = ToolResult(
        content=(
            TextPart("A picture:"),
            ImagePart(b"1234", "image/png"),
            AudioPart(b"12", "audio/wav"),
            ResourcePart("file:///a.txt", text="inside"),
            ResourcePart("file:///b.bin", data=b"1"),
        )
    )

    assert result.text.splitlines() == [
        "A picture:",
        "[image/png, 4 bytes]",
        "[audio/wav, 2 bytes]",
        "inside",
        "[file:///b.bin]",
    ]


def test_a_result_is_json_without_the_bytes_of_its_artifacts() -> None:
    result = ToolResult(
        content=(ImagePart(b"png", "image/png"),),
        artifacts=(Artifact(name="a.csv", size=3, handle="pegboard://results/1", data=b"1,2"),),
        meta=ResultMeta(call_id="c1"),
    )

    data = json.loads(json.dumps(result.to_dict()))

    assert data["content"] == [{"type": "image", "data": "cG5n", "media_type": "image/png"}]
    assert data["artifacts"] == [
        {
            "name": "a.csv",
            "media_type": "application/octet-stream",
            "size": 3,
            "handle": "pegboard://results/1",
        }
    ]
    assert data["meta"]["call_id"] == "c1"
    assert "error" not in data


def test_a_failed_result_carries_the_safe_part_of_its_error() -> None:
    error = RateLimited("Too many calls.", retry_after=1.23456)

    data = ToolResult(content=str(error), is_error=True, error=error).to_dict()

    assert data["error"] == {
        "code": "rate_limited",
        "message": "Too many calls.",
        "retryable": True,
        "retry_after": 1.235,
    }


def test_an_argument_error_lists_its_problems() -> None:
    error = ToolArgumentError("buy", (Problem(path="items[2]", message="missing", kind="missing"),))

    assert error_to_dict(error)["problems"] == [
        {"path": "items[2]", "message": "missing", "kind": "missing"}
    ]


def test_an_error_id_is_given_but_never_the_cause() -> None:
    error: PegboardError = ToolFailed("No.", error_id="e-1")
    error.__cause__ = RuntimeError("password=hunter2")

    data = error_to_dict(error)

    assert data["error_id"] == "e-1"
    assert "hunter2" not in json.dumps(data)


KINDS: dict[str, type[PegboardError]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, PegboardError)
}


@pytest.mark.parametrize("name", KINDS)
def test_a_restored_error_has_the_fields_of_its_class(name: str) -> None:
    kind = KINDS[name]
    restored = restore_error(kind, {"message": "Busy."})

    fields = set[str]().union(*(vars(part).get("__annotations__", {}) for part in kind.__mro__))
    assert str(restored) == "Busy."
    assert error_to_dict(restored)["code"] == kind.code
    assert [field for field in fields if not hasattr(restored, field)] == []


def test_a_restored_error_has_the_fields_of_its_safe_part() -> None:
    permanent = Unavailable("Gone.", permanent=True, retry_after=3.0)
    unfit = ToolArgumentError("t", (Problem(path="n", message="is missing", kind="missing"),))

    assert not restore_error(Unavailable, error_to_dict(permanent)).retryable
    for error in (permanent, unfit):
        data = error_to_dict(error)
        assert error_to_dict(restore_error(type(error), data)) == data
