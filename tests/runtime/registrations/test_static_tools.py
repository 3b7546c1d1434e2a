from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from pegboard.core.ports.services import Services
from pegboard.core.tool import Effect, Retry, Tool
from pegboard.errors import ConfigError, DependencyCycle
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.load import parse_board
from pegboard.runtime.registrations.handlers import HandlerContext
from pegboard.runtime.registrations.static_tools import build_static_tools
from pegboard.sandbox import ProbedSandbox


async def _tool(text: str, folder: Path) -> Tool:
    loaded = parse_board(text, {}, path=folder / "board.yaml")
    async with AsyncExitStack() as stack:
        services = Services(base_dir=folder, sandbox=ProbedSandbox())
        opening = HandlerContext(services=services, within=60, stack=stack)
        return (await build_static_tools(loaded, opening))[0]


RFC = """
tools:
  - tool_id: web_search_v1
    name: Web Search
    type: LangChainTool
    capabilities: [search]
    input_schema:
      query: string
    output_schema:
      results: list
"""


async def test_the_rfc_s_own_example_is_listed_as_unavailable_naming_the_missing_key(
    tmp_path: Path,
) -> None:
    spec = (await _tool(RFC, tmp_path)).spec

    assert (spec.id, spec.name, spec.title) == ("web_search_v1", "web_search", "Web Search")
    assert spec.capabilities == ("search",)
    assert spec.input_schema["properties"] == {"query": {"type": "string"}}
    assert "write 'import' beside its type LangChainTool" in spec.unavailable


async def test_examples_are_checked_against_the_schema_of_the_entry(tmp_path: Path) -> None:
    good = RFC + "    examples: [{query: tides}]\n"
    wrong = RFC + "    examples: [{query: tides}, {words: tides}]\n"

    assert (await _tool(good, tmp_path)).spec.examples == ({"query": "tides"},)
    with pytest.raises(ConfigError, match=r"board\.yaml:3: .*examples\[1\] does not fit"):
        await _tool(wrong, tmp_path)


async def test_examples_of_an_entry_without_a_schema_are_not_checked(tmp_path: Path) -> None:
    entry = "{tool_id: f_v1, type: LangChainTool, examples: [{a: 1}]}"

    assert (await _tool(f"tools: [{entry}]", tmp_path)).spec.examples == ({"a": 1},)


@pytest.mark.parametrize(
    ("entry", "version"),
    [
        ("{tool_id: find_v3, type: LangChainTool}", "3.0.0"),
        ("{tool_id: find_v1, type: LangChainTool}", "1.0.0"),
        ("{tool_id: find, type: LangChainTool}", "1.0.0"),
        ("{tool_id: find_v3, type: LangChainTool, version: 3.1.2}", "3.1.2"),
        ("{tool_id: find_v2, type: PythonFunction, import: 'static_found:found'}", "2.0.0"),
        ("{tool_id: find_v1, type: PythonFunction, import: 'static_found:found'}", "1.0.0"),
    ],
)
async def test_without_a_version_the_id_says_the_major_one(
    entry: str, version: str, tmp_path: Path
) -> None:
    (tmp_path / "static_found.py").write_text("def found(n: int) -> int:\n    return n\n")
    spec = (await _tool(f"tools:\n  - {entry}\n", tmp_path)).spec

    assert spec.version == version


async def test_calling_it_says_why_it_cannot_be_used(tmp_path: Path) -> None:
    result = await ToolRegistry([await _tool(RFC, tmp_path)]).call("web_search", {"query": "x"})

    assert result.error is not None
    assert result.error.code == "source_unavailable"
    assert "'import'" in result.text


async def test_a_python_function_runs_under_the_entry_s_name_and_schema(tmp_path: Path) -> None:
    (tmp_path / "static_maths.py").write_text("def double(n: int) -> int:\n    return 2 * n\n")
    tool = await _tool(
        """
tools:
  - tool_id: doubler_v2
    type: PythonFunction
    import: "static_maths:double"
    effect: read
    input_schema: {n: integer}
    output_schema: {type: integer}
    timeout_ms: 1500
    retry_policy: {max_retries: 3, backoff_ms: 100}
    version: "2.1"
""".replace("{type: integer}", "{anyOf: [{type: integer}]}"),
        tmp_path,
    )
    registry = ToolRegistry([tool])

    assert (await registry.call("doubler", {"n": "4"})).unwrap() == 8
    assert (await registry.call("doubler_v2", {"n": 5})).unwrap() == 10
    assert (await registry.call("doubler", {"m": 5})).is_error
    spec = tool.spec
    assert (spec.timeout, spec.retry, spec.effect) == (
        1.5,
        Retry(max_retries=3, backoff=0.1),
        Effect.READ,
    )


async def test_a_function_that_is_not_there_is_told_when_called(tmp_path: Path) -> None:
    tool = await _tool(
        "tools: [{tool_id: x_v1, type: PythonFunction, import: 'no_such_module:f'}]", tmp_path
    )

    result = await ToolRegistry([tool]).call("x")

    assert "no module 'no_such_module'" in tool.spec.unavailable
    assert "no module 'no_such_module'" in result.text
    assert "Trying again does not help" in result.text


async def test_a_script_runs_by_what_the_entry_says(tmp_path: Path) -> None:
    (tmp_path / "same.sh").write_text("#!/bin/sh\nexec cat\n")
    text = """
tools:
  - {tool_id: same_v1, name: Same, type: LocalScript, script_path: same.sh, effect: read,
     input_schema: {n: integer}, timeout_ms: 50000}
"""
    tool = await _tool(text, tmp_path)

    assert (tool.spec.unavailable, tool.spec.description) == ("", "Same")
    assert (tool.spec.effect, tool.spec.timeout) == (Effect.READ, 50.0)
    result = await ToolRegistry([tool]).call("same", {"n": "2"})
    assert result.unwrap() == {"n": 2}


async def test_an_entry_says_whether_its_tool_destroys_anything(tmp_path: Path) -> None:
    (tmp_path / "same.sh").write_text("#!/bin/sh\nexec cat\n")
    entry = "{tool_id: same_v1, type: LocalScript, script_path: same.sh, destructive: false}"

    assert (await _tool(f"tools:\n  - {entry}\n", tmp_path)).spec.may_destroy is False


async def test_a_script_that_describes_itself_is_not_weakened(tmp_path: Path) -> None:
    (tmp_path / "wipe.sh").write_text("#!/bin/sh\n# /// tool\n# description: Wipe.\n# ///\n")
    entry = "{tool_id: wipe_v1, type: LocalScript, script_path: wipe.sh, effect: read}"

    with pytest.raises(ConfigError, match=r"'wipe\.sh' says that its effect is write"):
        await _tool(f"tools: [{entry}]", tmp_path)


LANGCHAIN = """
from langchain_core.tools import tool

@tool
def add(a: int, b: int = 1) -> int:
    "Add."
    return a + b

both = [add, add]
"""


async def test_a_langchain_tool_runs_under_the_entry_s_name(tmp_path: Path) -> None:
    (tmp_path / "static_langchain.py").write_text(LANGCHAIN)
    entry = "{tool_id: plus_v1, type: LangChainTool, import: 'static_langchain:add'}"

    tool = await _tool(f"tools: [{entry}]", tmp_path)

    assert tool.spec.description == "Add."
    assert (await ToolRegistry([tool]).call("plus", {"a": "2"})).unwrap() == 3


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        pytest.param(
            "{tool_id: a_v1, type: LangChainTool, import: 'static_langchain_two:both'}",
            "is 2 tools, but an entry is one tool",
            id="two tools for one entry",
        ),
        pytest.param(
            "{tool_id: a_v1, type: LocalScript, script_path: /x.py, input_schema: {data: object}}",
            "there is no file or folder '/x.py'",
            id="a script that is not there",
        ),
        pytest.param(
            '{tool_id: a_v1, type: LocalScript, script_path: "a\\0b"}',
            "paths.0",
            id="a NUL in a path",
        ),
        pytest.param(
            "{tool_id: manual_v1, type: KnowledgeBase, url: 'kb://manual'}",
            "this board has no knowledge bases",
            id="knowledge base",
        ),
        pytest.param(
            "{tool_id: research_agent_v1, type: Subagent, agent_config: {model: m}}",
            "this board runs no agents",
            id="an agent without a board",
        ),
        pytest.param(
            "{tool_id: research_agent_v1, type: Subagent, agent_config: {tolls: []}}",
            "agents.0.tolls",
            id="an agent with an unknown key",
        ),
        pytest.param("{tool_id: a_v1, type: RestAPI}", "write 'url'", id="missing url"),
    ],
)
async def test_what_cannot_run_is_listed_with_the_reason(
    entry: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "static_langchain_two.py").write_text(LANGCHAIN)

    assert reason in (await _tool(f"tools: [{entry}]", tmp_path)).spec.unavailable


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        pytest.param("{tool_id: a_v1, type: Magic}", "unknown type 'Magic'", id="type"),
        pytest.param(
            "{tool_id: a_v1, type: RestAPI, effect: destroy}", "effect: 'destroy'", id="effect"
        ),
        pytest.param(
            "{tool_id: a_v1, type: RestAPI, input_schema: {q: strng}}", "'strng'", id="shorthand"
        ),
        pytest.param(
            "{tool_id: a_v1, type: RestAPI, input_schema: {properties: {a: {type: 5}}}}",
            "broken JSON Schema",
            id="schema",
        ),
        pytest.param(
            f"{{tool_id: {'a' * 80}, type: RestAPI}}", "too long", id="a name that is too long"
        ),
    ],
)
async def test_a_wrong_entry_is_told_with_its_line(entry: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        await _tool(f"tools:\n  - {entry}\n", tmp_path)

    assert says in str(raised.value)
    assert str(raised.value).startswith("board.yaml:2")


ADMIN = """
from pegboard import Retry, tool


@tool(effect="admin", retry=Retry(max_retries=1))
def wipe(customer: int) -> str:
    \"\"\"Remove a customer.\"\"\"
    return f"customer {customer} is gone"
"""


async def test_what_the_function_says_of_itself_holds_where_the_entry_is_silent(
    tmp_path: Path,
) -> None:
    (tmp_path / "static_admin.py").write_text(ADMIN)
    entry = "tools: [{tool_id: del_v1, type: PythonFunction, import: 'static_admin:wipe'}]"

    tool = await _tool(entry, tmp_path)
    result = await ToolRegistry([tool]).call("del", {"customer": 1})

    assert (tool.spec.effect, tool.spec.retry) == (Effect.ADMIN, Retry(max_retries=1))
    assert tool.spec.description == "Remove a customer."
    assert list(tool.spec.input_schema["properties"]) == ["customer"]
    assert result.error is not None
    assert result.error.code == "approval_required"


async def test_an_entry_cannot_weaken_what_the_function_says(tmp_path: Path) -> None:
    (tmp_path / "static_admin.py").write_text(ADMIN)
    entry = "{tool_id: d_v1, type: PythonFunction, import: 'static_admin:wipe', effect: write}"

    with pytest.raises(ConfigError, match=r"board\.yaml:2: .* write 'effect: admin'"):
        await _tool(f"tools:\n  - {entry}\n", tmp_path)


async def test_tools_that_need_each_other_are_refused_with_their_line(tmp_path: Path) -> None:
    text = """
tools:
  - {tool_id: c_v1, type: RestAPI, dependencies: [a]}
  - tool_id: b_v1
    type: RestAPI
    dependencies: [a_v1]
  - {tool_id: a_v1, type: RestAPI, dependencies: [b]}
"""
    with pytest.raises(ConfigError, match=r"^board\.yaml:7.* a_v1 -> b_v1 -> a_v1") as raised:
        await _tool(text, tmp_path)

    assert isinstance(raised.value.__cause__, DependencyCycle)
