from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest

from pegboard import ToolRegistry
from pegboard.core.ports.services import Services
from pegboard.core.result import ToolResult
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.runtime.board_file.models import NetworkEntry, ToolEntry
from pegboard.runtime.registrations.handlers import HandlerContext
from pegboard.runtime.registrations.source_config import config_of
from pegboard.runtime.registrations.tools import build_entry_tool
from pegboard.runtime.wiring.services import create_http_client
from pegboard.tools import SchemaTool


def an_entry(**said: Any) -> ToolEntry:
    return ToolEntry.model_validate({"tool_id": "x_v1", **said})


async def opened(entry: ToolEntry, **opening: Any) -> Tool:
    async with AsyncExitStack() as stack:
        http = create_http_client(NetworkEntry())
        stack.push_async_callback(http.close)
        given = HandlerContext(services=Services(http=http), within=60, stack=stack, **opening)
        return await build_entry_tool(entry, given, where="here")


def test_inputs_go_into_the_path_the_query_or_the_body() -> None:
    said = {"type": "RestAPI", "url": "https://x.example/items/{id}", "method": "POST"}
    entry = an_entry(**said, input_schema={"id": "integer", "name": "string"}, timeout_ms=1500)

    assert config_of(entry, "here") == {
        "base_url": "https://x.example",
        "timeout": 1.5,
        "actions": [
            {
                "name": "x_v1",
                "method": "post",
                "path": "/items/{id}",
                "parameters": [{"name": "id", "required": True, "schema": {"type": "integer"}}],
                "body": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}},
                    "required": ["name"],
                },
            }
        ],
    }


@pytest.mark.parametrize(
    ("said", "description"),
    [
        ({"name": "Item Search"}, "Item Search"),
        ({}, "x_v1"),
        ({"description": "Find items."}, "Find items."),
    ],
    ids=["its name", "its id", "its own"],
)
async def test_a_request_without_a_description_has_its_name(
    said: dict[str, str], description: str
) -> None:
    tool = await opened(an_entry(type="RestAPI", url="https://x.example/a", **said))

    assert tool.spec.description == description


def test_a_script_can_be_registered_with_a_memory_limit() -> None:
    entry = an_entry(type="LocalScript", script_path="scripts/a.js", memory_mb=2048)

    assert config_of(entry, "here")["memory_mb"] == 2048


@pytest.mark.parametrize(
    ("method", "effect", "is_trusted", "expected"),
    [
        ("GET", None, False, Effect.READ),
        ("DELETE", "read", False, Effect.WRITE),
        ("POST", "read", True, Effect.READ),
    ],
)
async def test_a_caller_of_the_api_cannot_call_a_write_a_read(
    method: str, effect: str | None, is_trusted: bool, expected: Effect
) -> None:
    entry = an_entry(type="RestAPI", url="https://x.example/a", method=method, effect=effect)

    tool = await opened(entry, is_trusted=is_trusted)

    assert tool.spec.unavailable == ""
    assert tool.spec.effect is expected


@pytest.mark.parametrize(
    ("method", "said", "is_trusted", "expected"),
    [
        ("POST", False, True, False),
        ("POST", False, False, None),
        ("DELETE", False, False, True),
        ("POST", True, False, True),
    ],
    ids=["the board file", "a caller of the API", "of a DELETE", "that it does"],
)
async def test_a_caller_of_the_api_cannot_say_that_a_tool_destroys_nothing(
    method: str, said: bool, is_trusted: bool, expected: bool | None
) -> None:
    entry = an_entry(type="RestAPI", url="https://x.example/a", method=method, destructive=said)

    assert (await opened(entry, is_trusted=is_trusted)).spec.destructive is expected


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"type": "RestAPI", "url": "ftp://x"}, "base_url: write it as https://"),
        ({"type": "RestAPI", "url": "https://[x"}, "write it as https://host/path"),
        ({"type": "RestAPI", "url": "https://x.example/a?b=1"}, "leave out what begins with '?'"),
        ({"type": "RestAPI", "url": "https://x.example", "method": "WINK"}, "actions.0.method"),
        ({"type": "MCPTool", "server": "files"}, "write 'tool'"),
        ({"type": "MCPTool", "server": "nobody", "tool": "read"}, "there are: files"),
    ],
)
async def test_what_cannot_run_says_why(said: dict[str, str], reason: str) -> None:
    tool = await opened(an_entry(**said), servers=lambda: ["files"])

    assert reason in tool.spec.unavailable


async def test_a_tool_of_a_server_runs_under_its_own_rules() -> None:
    async def read(arguments: Mapping[str, Any], ctx: Any) -> str:
        return f"read {arguments['path']}"

    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    upstream = SchemaTool(
        spec=ToolSpec(name="files__read", source="files", input_schema=schema), run=read
    )
    registry = ToolRegistry([upstream])
    entry = an_entry(type="MCPTool", server="files", tool="read")
    alias = await opened(entry, servers=lambda: ["files"], find=registry.find)
    registry.add(alias)

    good: ToolResult = await registry.call("x", {"path": "a"})
    registry.remove("files__read")
    gone = await registry.call("x", {"path": "a"})

    assert alias.spec.input_schema["required"] == ["path"]
    assert good.text == "read a"
    assert gone.error is not None
    assert gone.error.code == "tool_not_found"


class Name(str):
    """A name that counts with how many it is compared."""

    times = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.times += 1
        return str.__eq__(self, other)


def test_thousands_of_inputs_are_not_compared_with_each_other() -> None:
    Name.times = 0
    schema = {"type": "object", "properties": {Name(f"n{at}"): {} for at in range(2_000)}}
    said = {"type": "RestAPI", "url": "https://x.example/a", "input_schema": schema}
    entry = an_entry(**said).model_copy(update={"input_schema": schema})

    [action] = config_of(entry, "here")["actions"]

    assert len(action["parameters"]) == 2_000
    assert Name.times < 20_000
