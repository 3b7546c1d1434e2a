import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.network.loopback import always, client_for, reply, serving

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.tool import Effect
from pegboard.errors import ConfigError, SourceUnavailable
from pegboard.network import GuardedClient
from pegboard.registry import ToolRegistry
from pegboard.sources import builtin
from pegboard.sources.builtin import KIND, BuiltinConfig, bind_tools, tools
from pegboard.sources.builtin.discovery import discover_builtin_tools
from pegboard.sources.builtin.service_access import bind_services
from pegboard.sources.builtin.tools.calculator import calculator
from pegboard.sources.builtin.tools.echo import echo
from pegboard.testing import FakeClock, SourceContract


class TestBuiltinSource(SourceContract):
    kind = KIND
    least_tools = len(discover_builtin_tools())

    async def open_source(self) -> Source:
        return await KIND.open("tools", BuiltinConfig(), Services())


class TestBuiltinSourceWithAChoice(SourceContract):
    kind = KIND

    async def open_source(self) -> Source:
        return await KIND.open("builtin", BuiltinConfig(include=("calculator",)), Services())


async def actions(config: BuiltinConfig, services: Services | None = None) -> list[str]:
    source = await KIND.open("b", config, services or Services())
    return [tool.spec.action for tool in await source.tools()]


async def test_tools_and_categories_are_included_and_excluded() -> None:
    config = BuiltinConfig(include=("general", "calculator"), exclude=("echo",))

    found = await actions(config)

    assert "calculator" in found
    assert "datetime" in found
    assert "echo" not in found


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (BuiltinConfig(include=("calculater",)), "include names 'calculater'.* write 'calculator'"),
        (BuiltinConfig(exclude=("genral",)), "exclude names 'genral'.* write 'general'"),
        (BuiltinConfig(include=("zzz",)), "known are .*calculator"),
    ],
)
async def test_an_unknown_name_is_a_config_error_that_names_the_nearest(config, reason) -> None:
    with pytest.raises(ConfigError, match=reason):
        await KIND.open("builtin", config, Services())


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(ValidationError, match="includes"):
        BuiltinConfig.model_validate({"includes": ["echo"]})


async def test_a_tool_without_what_it_needs_is_listed_with_the_reason() -> None:
    source = await KIND.open("b", BuiltinConfig(include=("web", "echo")), Services())

    reasons = {tool.spec.action: tool.spec.unavailable for tool in await source.tools()}

    assert reasons.pop("echo") == ""
    assert reasons.pop("web_search").startswith("it needs a search service")
    assert reasons.keys() == {"http_request", "web_fetch"}
    assert all("needs an HTTP client" in reason for reason in reasons.values())


async def test_an_unavailable_tool_that_is_run_says_why() -> None:
    source = await KIND.open("b", BuiltinConfig(include=("web_fetch",)), Services())
    [tool] = await source.tools()

    with pytest.raises(SourceUnavailable, match="'b__web_fetch' is unavailable: it needs"):
        await tool.run({"url": "http://a.example/"}, ToolContext())


async def test_with_a_client_all_is_available_but_what_needs_a_sandbox_or_a_key() -> None:
    client = GuardedClient()

    tools = bind_tools(Services(http=client))

    assert [tool.spec.name for tool in tools if tool.spec.unavailable] == [
        "convert_to_markdown",
        "email_send",
        "generate_image",
        "python_exec",
        "send_notification",
        "shell_exec",
        "web_search",
    ]
    assert {tool.spec.name for tool in tools} == {
        "calculator", "convert_to_markdown", "datetime", "echo", "email_send", "file_edit",
        "file_list", "file_read", "file_search", "file_write", "generate_image", "http_request",
        "json_transform", "python_exec", "send_notification", "shell_exec", "template_render",
        "text_utils", "web_fetch", "web_search",
    }  # fmt: skip


async def test_the_workspace_of_the_config_starts_at_the_board(tmp_path: Path) -> None:
    config = BuiltinConfig(include=("filesystem",), workspace=Path("work"))
    source = await KIND.open("b", config, Services(base_dir=tmp_path, workspace=tmp_path / "no"))
    registry = ToolRegistry(await source.tools())

    (await registry.call("b__file_write", {"path": "a.txt", "content": "x"})).unwrap()

    assert (tmp_path / "work" / "a.txt").read_text() == "x"


async def test_the_tools_of_a_source_reach_the_boards_http_client() -> None:
    async with serving(always(reply(b"pong"))) as server, client_for(server) as client:
        source = await KIND.open("b", BuiltinConfig(), Services(http=client))
        registry = ToolRegistry(await source.tools())
        arguments = {"url": f"http://{server.authority}/"}
        fetched = await registry.call("b__web_fetch", arguments)
        sent = await registry.call("b__http_request", arguments)

    assert fetched.unwrap()["text"] == "pong"
    assert sent.unwrap()["body"] == "pong"


async def test_the_applications_own_deps_are_kept_from_the_tools() -> None:
    registry = ToolRegistry(bind_tools(Services(clock=FakeClock())))

    result = await registry.call("datetime", {"operation": "now"}, ToolContext(deps=object()))

    assert result.unwrap()["unix"] == FakeClock().time()


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("calculator", '{"expression": "2 ** 100"}', 2**100),
        ("echo", {"message": "hi"}, "hi"),
        ("text_utils", {"operation": "slug", "text": "A b"}, "a-b"),
        ("json_transform", {"operation": "get", "document": [1, 2], "pointer": "/1"}, 2),
        ("template_render", {"template": "{{ a }}", "data": {"a": 1}}, "1"),
    ],
)
async def test_tools_work_without_a_board(name: str, arguments: Any, value: Any) -> None:
    result = await ToolRegistry(builtin.ALL_TOOLS).call(name, arguments)

    assert result.unwrap() == value


async def test_what_the_caller_can_mend_is_said_precisely() -> None:
    registry = ToolRegistry(builtin.ALL_TOOLS)

    result = await registry.call("calculator", {"expression": "9**9**9"})

    assert result.is_error
    assert result.text == "The result is too large."


def test_a_function_that_needs_nothing_is_bound_to_nothing() -> None:
    assert bind_services(calculator, Services()) is calculator
    assert bind_services(echo, Services())("hi") == "hi"


DROPPED = '''
"""A tool that somebody dropped into the folder."""

from pegboard.tools import tool
from pegboard.sources.builtin.tools.echo import echo


def availability(_):
    return "it is only a test"


@tool(effect="read", category="general")
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def no_tool(text: str) -> str:
    return text
'''


async def test_a_file_dropped_into_the_folder_is_a_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shout.py").write_text(DROPPED)
    before = {item.spec.name for item in discover_builtin_tools()}
    monkeypatch.setattr(tools, "__path__", [*tools.__path__, str(tmp_path)])
    discover_builtin_tools.cache_clear()
    monkeypatch.delitem(sys.modules, "pegboard.sources.builtin.tools.shout", raising=False)

    try:
        source = await KIND.open("b", BuiltinConfig(), Services(http=GuardedClient()))
        listed = await source.tools()
    finally:
        discover_builtin_tools.cache_clear()

    reasons = {tool.spec.action: tool.spec.unavailable for tool in listed}
    assert reasons.keys() - before == {"shout"}
    assert reasons["shout"] == "it is only a test"
    assert reasons["echo"] == ""


def test_who_only_reads_is_told_apart() -> None:
    writing = {
        item.spec.name for item in discover_builtin_tools() if item.spec.effect is not Effect.READ
    }

    assert writing == {
        "email_send", "file_edit", "file_write", "generate_image", "http_request", "python_exec",
        "send_notification", "shell_exec",
    }  # fmt: skip


def test_sending_destroys_nothing() -> None:
    harmless = {
        item.spec.name for item in discover_builtin_tools() if item.spec.destructive is False
    }

    assert harmless == {"email_send", "generate_image", "send_notification"}


def test_every_parameter_is_explained_to_the_model() -> None:
    silent = [
        f"{item.spec.name}.{name}"
        for item in discover_builtin_tools()
        for name, schema in item.spec.input_schema["properties"].items()
        if not schema.get("description")
    ]

    assert silent == []


@pytest.mark.slow
def test_listing_the_source_kind_loads_no_heavy_module() -> None:
    program = (
        "import sys; from pegboard.sources.builtin import ALL_TOOLS, KIND; "
        "print(*sorted({'httpx2', 'httpcore2', 'minijinja', 'jmespath', 'jsonpatch', 're2', 'bs4',"
        " 'markdownify'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")


def test_groups_hold_the_decorated_functions_by_category() -> None:
    names = [function.__name__ for function in builtin.computation]
    calculator: Any = builtin.computation[0]

    assert names == ["calculator", "python_exec"]
    assert calculator("6 * 7") == 42
    assert set(builtin.computation) < set(builtin.ALL_TOOLS)


def test_what_is_no_category_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = builtin.nothing


@pytest.mark.slow
@pytest.mark.parametrize("first", ["web_fetch", "text_utils"])
def test_whichever_tool_is_imported_first_all_are_found(first: str) -> None:
    code = (
        f"import pegboard.sources.builtin.tools.{first}; "
        "from pegboard.sources.builtin import discover_builtin_tools; "
        "print(*(item.spec.name for item in discover_builtin_tools()))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == [item.spec.name for item in discover_builtin_tools()]
