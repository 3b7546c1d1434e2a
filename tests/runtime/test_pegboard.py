import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard import Policy, ToolContext, ToolFailed, tool
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied, ConfigError, SourceUnavailable, ToolNotFound
from pegboard.runtime import Pegboard, Settings
from pegboard.schemas.validation_cost import read_branch_limit

TOOLS = '''
from pegboard import tool


@tool(effect="read")
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}!"


@tool(effect="write")
def leak() -> str:
    """Say what should not be said."""
    return "the password is s3cret-s3cret"
'''
BOARD = """
sources:
  - {kind: functions, name: my, config: {modules: [MODULE]}}
policy: {deny: ["*forbidden*"]}
"""

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, request: pytest.FixtureRequest) -> Write:
    """Writes a board whose module has a name of its own, since modules are kept by name."""
    module = f"my_tools_{abs(hash(request.node.nodeid)) % 10**9}"
    (tmp_path / f"{module}.py").write_text(TOOLS)

    def write_board(text: str) -> Path:
        path = tmp_path / "board.yaml"
        path.write_text(text.replace("MODULE", module))
        return path

    return write_board


async def test_a_board_is_opened_used_and_closed(write: Write) -> None:
    async with Pegboard(write(BOARD), settings=Settings()) as board:
        result = await board.call("my__greet", {"name": "Ada"})
        names = board.registry.names()

    assert result.unwrap() == "Hello Ada!"
    assert set(names) == {"board__read_result", "my__greet", "my__leak"}


async def test_without_a_file_the_built_in_tools_are_there() -> None:
    async with Pegboard(settings=Settings()) as board:
        assert (await board.call("builtin__calculator", {"expression": "6*7"})).unwrap() == 42


async def test_own_tools_and_listeners_join_in(write: Write) -> None:
    @tool(effect="read")
    def mine() -> int:
        """Mine."""
        return 5

    class Heard:
        def __init__(self) -> None:
            self.tools: list[str] = []

        def on_event(self, event: object) -> None:
            self.tools.append(getattr(event, "tool", ""))

    heard = Heard()
    async with Pegboard(
        write(BOARD), tools=[mine], listeners=[heard], settings=Settings()
    ) as board:
        assert (await board.call("mine")).unwrap() == 5

    assert "mine" in heard.tools


async def test_a_closed_board_says_how_to_open_it(write: Write) -> None:
    board = Pegboard(write(BOARD), settings=Settings())

    with pytest.raises(RuntimeError, match="async with Pegboard"):
        _ = board.registry


async def test_history_survives_in_the_data_directory(write: Write, tmp_path: Path) -> None:
    path = write(BOARD)
    async with Pegboard(path, data=tmp_path / "data", settings=Settings()) as board:
        await board.call("my__greet", {"name": "Ada"})
        await board.call("my__greet", {})

    async with Pegboard(path, data=tmp_path / "data", settings=Settings()) as board:
        page = await board.history.calls(HistoryQuery())

    assert [(call["tool"], call["status"]) for call in page.calls] == [
        ("my__greet", "invalid"),
        ("my__greet", "completed"),
    ]


async def test_an_idempotency_key_survives_a_restart(write: Write, tmp_path: Path) -> None:
    path = write(BOARD)
    ctx = ToolContext(idempotency_key="k1")
    async with Pegboard(path, data=tmp_path / "data", settings=Settings()) as board:
        await board.call("my__leak", ctx=ctx)

    async with Pegboard(path, data=tmp_path / "data", settings=Settings()) as board:
        again = await board.call("my__leak", ctx=ctx)

    assert (again.meta.replayed, again.meta.attempts) == (True, 0)


async def test_two_boards_cannot_share_a_data_directory(write: Write, tmp_path: Path) -> None:
    path = write(BOARD)
    async with Pegboard(path, data=tmp_path / "data", settings=Settings()):
        with pytest.raises(ConfigError, match="data"):
            async with Pegboard(path, data=tmp_path / "data", settings=Settings()):
                pass


async def test_values_from_the_environment_never_come_back(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_PASSWORD", "s3cret-s3cret")
    path = write(
        BOARD + "\ntools: [{tool_id: x_v1, type: RestAPI, url: 'http://u:${MY_PASSWORD}@h/'}]\n"
    )

    async with Pegboard(path, settings=Settings()) as board:
        result = await board.call("my__leak")

    assert result.text == "the password is [redacted]"
    assert result.structured == "the password is [redacted]"


async def test_a_tool_of_a_failed_source_carries_its_reason(write: Write) -> None:
    path = write("sources: [{kind: functions, name: gone, config: {modules: [no_such_m]}}]")

    async with Pegboard(path, settings=Settings()) as board:
        result = await board.call("gone__thing")
        with pytest.raises(SourceUnavailable, match="no module 'no_such_m'"):
            board.find("gone__thing")
        states = [state.to_dict() for state in board.sources]

    assert result.error is not None
    assert result.error.code == "source_unavailable"
    assert "no module 'no_such_m'" in result.text
    assert (states[0]["status"], states[0]["tools"]) == ("failed", 0)


async def test_explain_and_find_tell_of_hidden_tools(write: Write) -> None:
    async with Pegboard(
        write(BOARD.replace("*forbidden*", "my__leak")), settings=Settings()
    ) as board:
        explanation = board.explain("my__leak", principal=Principal(id="ada"))
        with pytest.raises(ToolNotFound):
            board.find("my__lek")

    assert explanation.to_dict()["verdict"] == "deny"
    assert not explanation.visible


async def test_health_tells_of_every_source(write: Write) -> None:
    path = write(
        BOARD.replace(
            "policy:", "  - {kind: functions, name: bad, config: {files: [no.py]}}\npolicy:"
        )
    )
    async with Pegboard(path, settings=Settings()) as board:
        found = {item["name"]: item["health"] for item in await board.health()}

    assert found == {"my": "healthy", "bad": "unhealthy"}


async def test_a_changed_file_is_followed(write: Write) -> None:
    path = write(BOARD)
    async with Pegboard(path, settings=Settings()) as board:
        write(
            BOARD.replace("*forbidden*", "my__greet").replace(
                "policy:", "  - {kind: builtin, name: std}\npolicy:"
            )
        )
        await board.reload()
        denied = await board.call("my__greet", {"name": "x"})
        added = await board.call("std__echo", {"message": "hi"})
        write("sources: [{kind: builtin, name: std}]")
        await board.reload()
        names = board.registry.names()

    assert denied.error is not None
    assert denied.error.code == "access_denied"
    assert added.unwrap() == "hi"
    assert "my__greet" not in names
    assert "std__echo" in names


async def test_a_changed_module_is_run_again(write: Write, tmp_path: Path) -> None:
    path = write(BOARD)
    module = next(iter(tmp_path.glob("my_tools_*.py")))  # noqa: ASYNC240 - a test may wait
    async with Pegboard(path, settings=Settings()) as board:
        module.write_text(TOOLS.replace("Hello", "Good morning"))
        await board.reload()
        result = await board.call("my__greet", {"name": "Ada"})

    assert result.unwrap() == "Good morning Ada!"


async def test_a_source_that_is_opened_anew_begins_anew(write: Write) -> None:
    path = write(BOARD)
    async with Pegboard(path, settings=Settings()) as board:
        await board.call("my__greet", {"name": "x"})
        before = board.tool_health.to_dict("my__greet_v1")["calls"]
        await board.reload()
        kept = board.tool_health.to_dict("my__greet_v1")["calls"]
        write("sources: [{kind: builtin, name: my}]")
        await board.reload()
        write(BOARD)
        await board.reload()
        after = board.tool_health.to_dict("my__greet_v1")["calls"]

    assert (before, kept, after) == (1, 1, 0)


async def test_what_a_tool_was_is_known_once_it_went(write: Write) -> None:
    path = write(BOARD)
    async with Pegboard(path, settings=Settings()) as board:
        write("sources: []")
        await board.reload()
        found = board.tool_health.replacements.find("my__greet", principal=LOCAL)

    assert (found.is_gone, found.tool.name) == (True, "my__greet")


async def test_a_mistake_leaves_the_board_as_it_was(write: Write) -> None:
    path = write(BOARD)
    async with Pegboard(path, settings=Settings()) as board:
        write(BOARD + "polcy: {}\n")
        with pytest.raises(ConfigError, match="did you mean 'policy'"):
            await board.reload()
        result = await board.call("my__greet", {"name": "Ada"})
        problem = board.problem
        write(BOARD)
        await board.reload()
        cleared = board.problem

    assert result.unwrap() == "Hello Ada!"
    assert "polcy" in problem
    assert cleared == ""


async def test_a_secret_that_comes_with_a_reload_is_masked_in_history(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LATER_TOKEN", "l4ter-s3cret")
    path = write(BOARD)
    async with Pegboard(path, settings=Settings(store_arguments=True)) as board:
        write(BOARD + "\ntools: [{tool_id: x_v1, type: RestAPI, url: '${LATER_TOKEN}'}]\n")
        await board.reload()
        await board.call("my__greet", {"name": "l4ter-s3cret"})
        await board.flush()
        page = await board.history.calls(HistoryQuery())

    assert "l4ter-s3cret" not in str(page.calls)


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        pytest.param(
            "[{tool_id: my__greet_v1, type: RestAPI}]", "beginning with 'my__'", id="a source's"
        ),
        pytest.param(
            "[{tool_id: a_v1, type: RestAPI}, {tool_id: a_v2, type: RestAPI}]",
            "another tool is already named 'a'",
            id="twice",
        ),
    ],
)
async def test_a_name_that_is_taken_is_refused_before_anything_changes(
    tools: str, says: str, write: Write
) -> None:
    path = write(BOARD)
    async with Pegboard(path, settings=Settings()) as board:
        write(BOARD.replace("*forbidden*", "my__greet") + f"\ntools: {tools}\n")
        with pytest.raises(ConfigError, match=says):
            await board.reload()
        result = await board.call("my__greet", {"name": "Ada"})

    assert result.unwrap() == "Hello Ada!"
    with pytest.raises(ConfigError, match=r"board\.yaml:\d+: .*" + says):
        async with Pegboard(path, settings=Settings()):
            pass


async def test_a_watched_file_is_followed_by_itself(write: Write) -> None:
    path = write(BOARD)
    async with Pegboard(path, settings=Settings()) as board:
        board.watch(every=0.02)
        write("nonsense: 1\n")
        await _until(lambda: board.problem != "")
        write("sources: [{kind: builtin, name: std}]\n")
        await _until(lambda: "std__echo" in board.registry)
        names = board.registry.names()

    assert "my__greet" not in names


async def test_metrics_are_kept_when_asked_for(write: Write) -> None:
    async with Pegboard(write(BOARD), metrics=True, settings=Settings()) as board:
        await board.call("my__greet", {"name": "Ada"})
        text = (await board.render_metrics()).decode()
    async with Pegboard(write(BOARD), settings=Settings()) as board:
        with pytest.raises(RuntimeError, match="metrics=True"):
            await board.render_metrics()

    assert 'pegboard_calls_total{source="my",status="completed",tool="my__greet"} 1.0' in text


async def test_json_lines_are_written_when_asked_for(write: Write, tmp_path: Path) -> None:
    settings = Settings(log=str(tmp_path / "calls.jsonl"))
    async with Pegboard(write(BOARD), settings=settings) as board:
        await board.call("my__greet", {"name": "Ada"})

    assert '"my__greet"' in (tmp_path / "calls.jsonl").read_text()


async def test_a_large_result_is_read_page_by_page(write: Write) -> None:
    @tool(effect="read")
    def many() -> list[int]:
        """Many."""
        return list(range(3000))

    settings = Settings(max_result_bytes=5000)
    async with Pegboard(write(BOARD), tools=[many], settings=settings) as board:
        first = await board.call("many")
        second = await board.call("board__read_result", {"handle": first.meta.handle, "page": "2"})
        beyond = await board.call("board__read_result", {"handle": first.meta.handle, "page": 99})

    assert first.meta.truncated
    assert f"[page 2 of 3 of {first.meta.handle}]" in second.text
    assert beyond.error is not None
    assert beyond.error.code == "handle_not_found"


async def test_network_rules_need_a_restart(write: Write) -> None:
    path = write(BOARD)
    async with Pegboard(path, settings=Settings()) as board:
        write(BOARD + "network: {allow_hosts: [localhost]}\n")
        with pytest.raises(ConfigError, match="restart"):
            await board.reload()


async def test_nothing_is_left_running(write: Write) -> None:
    async with Pegboard(write(BOARD), settings=Settings()) as board:
        board.watch(every=0.01)
        await board.call("my__greet", {"name": "Ada"})

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def _until(true: Callable[[], bool]) -> None:
    while not true():  # noqa: ASYNC110 - a board sets no event of the test
        await asyncio.sleep(0.01)


@tool(effect="read", capabilities=("searching",))
def google(words: str) -> str:
    """Search."""
    raise ToolFailed("It does not answer.")


@tool(effect="read", capabilities=("searching",))
def bing(words: str) -> str:
    """Search elsewhere."""
    return words


async def test_a_plan_with_an_unhealthy_tool_names_what_could_stand_in() -> None:
    def plan(name: str) -> dict[str, Any]:
        return {"steps": [{"step_id": 1, "tool_id": name, "input_mapping": {"words": "x"}}]}

    async with Pegboard(tools=(google, bing)) as board:
        for _ in range(3):
            await board.call("google", {"words": "x"})
        await board.call("bing", {"words": "x"})
        broken = board.plans.check(plan("google"), principal=LOCAL).preview
        well = board.plans.check(plan("bing"), principal=LOCAL).preview

    assert [fault.code for fault in broken.faults] == ["tool_unhealthy"]
    assert broken.faults[0].message == (
        "'google' is unhealthy: It does not answer. Give it a fallback."
        " 'bing' could stand in for it."
    )
    assert well.faults == ()
    assert well.seconds is not None
    assert broken.seconds is None


async def test_a_program_s_policy_holds_and_survives_a_reload(tmp_path: Path) -> None:
    file = tmp_path / "board.yaml"
    file.write_text("sources: []")

    async with Pegboard(file, tools=[bing], policy=Policy(deny=("bing", "gone"))) as board:
        await board.reload()

        assert isinstance((await board.call("bing", {"words": "x"})).error, AccessDenied)
        assert [(rule.glob, rule.where) for rule in board.find_unused_rules()] == [("gone", "")]


async def test_how_many_alternatives_a_schema_may_have_is_a_setting() -> None:
    async with Pegboard(settings=Settings(max_schema_alternatives=77)):
        assert read_branch_limit() == 77
