from typing import Any

import pytest

from pegboard.errors import InvalidRequest
from pegboard.sources.script.arguments import command_line
from pegboard.sources.script.description import Description


def described(kind: str, names: str, arguments: list[Any] | None = None) -> Description:
    return Description.model_validate(
        {
            "description": "x",
            "input": kind,
            "arguments": arguments or [],
            "input_schema": {"properties": {name: {} for name in names.split()}},
        }
    )


FLAGS = described("flags", "name count loud tag where")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, ()),
        ({"name": "a b; rm -rf $HOME"}, ("--name=a b; rm -rf $HOME",)),
        ({"name": "--loud"}, ("--name=--loud",)),
        ({"name": ""}, ("--name=",)),
        ({"count": 3}, ("--count=3",)),
        ({"count": 0}, ("--count=0",)),
        ({"loud": True}, ("--loud",)),
        ({"loud": False}, ()),
        ({"loud": None}, ()),
        ({"tag": ["a", "-b", 1]}, ("--tag=a", "--tag=-b", "--tag=1")),
        ({"tag": []}, ()),
        ({"where": {"a": "ä"}}, ('--where={"a": "ä"}',)),
        ({"loud": True, "name": "x"}, ("--name=x", "--loud")),
    ],
    ids=repr,
)
def test_flags(arguments: dict[str, Any], line: tuple[str, ...]) -> None:
    assert command_line(FLAGS, arguments) == line


TEMPLATE = described(
    "template",
    "path limit tag rest",
    [["--limit", "{limit}"], "--tag={tag}", "--all", "{path}", "--", "{rest}"],
)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, ("--all", "--")),
        ({"path": "a b"}, ("--all", "a b", "--")),
        ({"limit": 3, "path": "x"}, ("--limit", "3", "--all", "x", "--")),
        ({"tag": ["a", "-b"]}, ("--tag=a", "--tag=-b", "--all", "--")),
        ({"tag": "-v"}, ("--tag=-v", "--all", "--")),
        ({"rest": ["-x", "{path}"]}, ("--all", "--", "-x", "{path}")),
        ({"limit": True}, ("--limit", "true", "--all", "--")),
    ],
    ids=repr,
)
def test_template(arguments: dict[str, Any], line: tuple[str, ...]) -> None:
    assert command_line(TEMPLATE, arguments) == line


def test_a_value_that_would_be_read_as_an_option_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="'path' may not begin with '-'"):
        command_line(TEMPLATE, {"path": "--output=/etc/passwd"})


def test_json_leaves_the_command_line_alone() -> None:
    assert command_line(described("json", "a"), {"a": "\0"}) == ()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param("a\0b", "NUL character", id="NUL"),
        pytest.param("\ud800", "not valid Unicode", id="a lone surrogate"),
        pytest.param("x" * 200_000, "too long", id="one long text"),
    ],
)
def test_what_no_command_line_can_hold_is_refused(value: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        command_line(FLAGS, {"name": value})


def test_arguments_that_are_too_long_together_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="too long"):
        command_line(FLAGS, {"tag": ["x" * 90_000] * 12})
