"""The agents of a board: who can be chosen, and which tools each may use."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import ask, find_order, refund, text_of

from pegboard import Pegboard, ToolRegistry, tool
from pegboard.core.model_messages import SystemMessage
from pegboard.core.principal import LOCAL
from pegboard.core.tool import ToolSpec
from pegboard.engines.agent import INSTRUCTIONS
from pegboard.errors import AgentNotFound
from pegboard.features.agents import AgentProfile, Agents
from pegboard.testing import ScriptedModel, Turn

BOARD = """
agents:
  - name: shop
    description: Answers questions about orders.
    instructions: You work for a shop.
    tools: [find_order, "ref*"]
    temperature: 0.5
    limits: {turns: 1}
  - name: lost
    tools: [find_ordr]
"""


@tool(effect="read")
def weather() -> str:
    """Tell the weather."""
    return "rain"


def agents(*profiles: AgentProfile) -> Agents:
    return Agents(ToolRegistry([find_order, refund, weather]), lambda _: profiles)


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        (None, ["find_order", "refund", "weather"]),
        ((), []),
        (("weather", "find_order"), ["weather", "find_order"]),
        (("*_*er", "weather"), ["find_order", "weather"]),
    ],
    ids=["all", "none", "names", "a glob"],
)
def test_the_tools_of_an_agent_are_those_of_its_list(tools: Any, names: list[str]) -> None:
    selection = agents().select_tools(AgentProfile(name="a", tools=tools), principal=LOCAL)

    assert [item.spec.name for item in selection.tools] == names
    assert selection.problem == ""


def test_an_unknown_name_makes_an_agent_unavailable_and_a_glob_does_not() -> None:
    wanted = AgentProfile(name="a", tools=("wether", "crm__*", "weather"))
    selection = agents().select_tools(wanted, principal=LOCAL)

    assert selection.problem == "There is no tool 'wether'; did you mean 'weather'?"
    assert selection.missing == {"crm__*": "no tool matches"}


async def test_the_list_of_agents_has_no_instructions() -> None:
    [shown] = await agents(AgentProfile(name="a", instructions="A secret.")).list(principal=LOCAL)

    assert shown == {
        "name": "a",
        "description": "",
        "model": "",
        "engine": "react",
        "tools": None,
        "tool_count": 3,
        "missing": {},
        "unavailable": "",
    }


def many(count: int, *, connector: str = "crm") -> list[AgentProfile]:
    return [
        AgentProfile(name=f"a{number}", connector_ids=(connector.format(number),))
        for number in range(count)
    ]


class CountedTool:
    """A tool that counts how often it is looked at."""

    def __init__(self) -> None:
        self.looks = 0
        self._inner = ToolRegistry([weather]).get("weather")
        self.run = self._inner.run

    @property
    def spec(self) -> ToolSpec:
        self.looks += 1
        return self._inner.spec


async def test_agents_with_the_same_binding_cost_one_look_at_the_tools() -> None:
    async def count_looks(count: int) -> int:
        counted = CountedTool()
        registry = ToolRegistry([counted])
        counted.looks = 0
        await Agents(registry, lambda _: many(count)).list(principal=LOCAL)
        return counted.looks

    assert await count_looks(50) == await count_looks(1)


async def test_others_have_their_turn_while_many_agents_are_listed() -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    found = await agents(*many(20, connector="crm{}")).list(principal=LOCAL)
    counting.cancel()

    assert len(found) == 20
    assert turns >= 20


@pytest.mark.parametrize(
    ("name", "stored"), [("", ""), ("auto", ""), ("a", "a")], ids=["empty", "auto", "an agent"]
)
def test_a_chosen_name_is_an_agent_or_auto(name: str, stored: str) -> None:
    assert agents(AgentProfile(name="a")).resolve_name(name, principal=LOCAL) == stored


def test_an_unknown_agent_is_refused_with_those_there_are() -> None:
    with pytest.raises(AgentNotFound, match="no agent 'bob'; there are auto, shop"):
        agents(AgentProfile(name="shop")).resolve_name("bob", principal=LOCAL)


def board_file(folder: Path, text: str = BOARD) -> Path:
    (folder / "board.yaml").write_text(text)
    return folder / "board.yaml"


async def test_a_chosen_agent_answers_with_its_instructions_and_tools(tmp_path: Path) -> None:
    model = ScriptedModel(Turn(text="Hello."), Turn(text="Hello."))
    path = board_file(tmp_path)
    async with Pegboard(path, model=model, tools=[find_order, refund, weather]) as board:
        _, conversation = await ask(board, "hi", agent="shop")
        await ask(board, "hi", conversation=conversation, agent="auto")

    first, second = model.requests
    assert first.messages[0] == SystemMessage(text="You work for a shop.")
    assert [item.name for item in first.tools][:2] == ["find_order", "refund"]
    assert (first.settings.temperature, first.tool_choice) == (0.5, "none")  # its only turn
    assert second.messages[0] == SystemMessage(text=INSTRUCTIONS)
    assert "weather" in [item.name for item in second.tools]


async def test_an_agent_reaches_no_tool_outside_its_list(tmp_path: Path) -> None:
    text = BOARD.replace("limits: {turns: 1}", "limits: {turns: 2}")
    model = ScriptedModel(
        Turn(calls=(("weather", {}),)), Turn(text="Well.", expects=("'weather' not found",))
    )
    async with Pegboard(
        board_file(tmp_path, text), model=model, tools=[find_order, refund, weather]
    ) as board:
        events, _ = await ask(board, "hi", agent="shop")

    assert text_of(events) == "Well."


async def test_an_unavailable_agent_says_why_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    async with Pegboard(
        board_file(tmp_path), model=ScriptedModel(), tools=[find_order, refund]
    ) as board:
        events, conversation = await ask(board, "hi", agent="lost")
        with pytest.raises(AgentNotFound, match="no agent 'nobody'"):
            await ask(board, "hi", agent="nobody")
        with pytest.raises(AgentNotFound, match="no agent 'nobody'"):
            await board.conversations.change(conversation, {"agent": "nobody"}, principal=LOCAL)

    [error] = [event.data for event in events if event.event == "error"]
    assert error["code"] == "unavailable"
    assert "did you mean 'find_order'?" in error["detail"]


async def test_a_reload_changes_the_agents(tmp_path: Path) -> None:
    path = board_file(tmp_path)
    async with Pegboard(path, model=ScriptedModel(), tools=[find_order, refund]) as board:
        before = [item["name"] for item in await board.agents.list(principal=LOCAL)]
        board_file(tmp_path, "agents: [{name: new}]\n")
        await board.reload()
        after = [item["name"] for item in await board.agents.list(principal=LOCAL)]

    assert (before, after) == (["shop", "lost"], ["new"])


async def test_a_tool_whose_source_is_down_is_missing_and_the_agent_works(tmp_path: Path) -> None:
    text = """
sources: [{kind: functions, name: gone, config: {modules: [no_such_module]}}]
agents: [{name: shop, tools: [gone__find, find_order]}]
"""
    async with Pegboard(
        board_file(tmp_path, text), model=ScriptedModel(), tools=[find_order]
    ) as board:
        shown = board.agents.show("shop", principal=LOCAL)

    assert shown["unavailable"] == ""
    assert shown["tool_count"] == 1
    assert "no_such_module" in shown["missing"]["gone__find"]
