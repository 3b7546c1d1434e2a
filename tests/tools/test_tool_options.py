"""What an author says of a tool is checked where it is written."""

from typing import Any

import pytest

from pegboard.core.tool import Effect, Limits, Retry, Status
from pegboard.errors import ToolSignatureError
from pegboard.tools import as_tool, tool
from pegboard.tools.tool_options import ToolOptions, read_options


def test_every_option_reaches_the_spec() -> None:
    said: dict[str, Any] = {
        "name": "find_all",
        "title": "Find",
        "description": "Finds it.",
        "category": "web",
        "effect": "read",
        "destructive": False,
        "idempotent": True,
        "trusted": False,
        "open_world": False,
        "cacheable": True,
        "cache_ttl": 5,
        "cache_per_principal": False,
        "capabilities": ["search"],
        "supported_tasks": ["find_pages"],
        "examples": [{"query": "news"}],
        "tags": {"a"},
        "dependencies": ("x_v1",),
        "id": "find_v9",
        "version": "2.0.0",
        "status": "deprecated",
        "timeout": 1.5,
        "retry": Retry(max_retries=1),
        "limits": Limits(concurrency=1),
        "scopes": ("read",),
        "exclusive": True,
        "max_result_bytes": 0,
    }

    @tool(inline=True, **said)
    def find(query: str) -> str:
        return query

    spec = as_tool(find).spec
    assert said.keys() | {"inline"} == ToolOptions.__annotations__.keys()
    assert {name: getattr(spec, name) for name in said} == said | {
        "effect": Effect.READ,
        "status": Status.DEPRECATED,
        "capabilities": ("search",),
        "supported_tasks": ("find_pages",),
        "examples": ({"query": "news"},),
        "tags": ("a",),
    }


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"efect": "read"}, "unknown options efect; known are cache_per_principal, cache_ttl,"),
        ({"examples": {"query": "a"}}, "examples must be several examples of arguments"),
        ({"examples": ["a"]}, "examples must be several examples of arguments"),
        ({"effect": "reed"}, "effect must be one of read, write, admin, found 'reed'"),
        ({"effect": None}, "effect must be one of read, write, admin, found None"),
        ({"status": "gone"}, "status must be one of active, deprecated, disabled, failed,"),
        ({"tags": "abc"}, "tags must be several texts, as in ('one', 'two'), found 'abc'"),
        ({"tags": [1]}, "tags must be several texts"),
        ({"name": 5}, "name must be a text, found 5"),
        ({"version": 1.0}, "version must be a text, found 1.0"),
        ({"idempotent": "yes"}, "idempotent must be true or false, found 'yes'"),
        ({"inline": 1}, "inline must be true or false, found 1"),
        ({"timeout": "5"}, "timeout must be a number of seconds, at least 0, found '5'"),
        ({"timeout": -1}, "timeout must be a number of seconds"),
        ({"timeout": float("nan")}, "timeout must be a number of seconds"),
        ({"timeout": True}, "timeout must be a number of seconds"),
        ({"cache_ttl": float("inf")}, "cache_ttl must be a number of seconds"),
        ({"max_result_bytes": -1}, "max_result_bytes must be a number of bytes, at least 0"),
        ({"max_result_bytes": 1.5}, "max_result_bytes must be a number of bytes"),
        ({"retry": 3}, "retry must be a Retry(...), found 3"),
        ({"limits": 3}, "limits must be a Limits(...), found 3"),
    ],
    ids=str,
)
def test_a_wrong_option_names_the_function_and_what_is_wanted(
    options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ToolSignatureError) as caught:
        read_options("find", options)

    assert str(caught.value).startswith(f"@tool find(): {reason}")
