"""Meta-tools, skills and delegation on a board: what is called, recorded and reported."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.assembly.made import names_of
from tests.assembly.systems import systems
from tests.features.conversations.made import ask, text_of
from tests.registry.made import a_tool
from tests.sources.skills.made import open_in, write_skill

from pegboard.core.model_messages import ModelRequest, ModelUsage, SystemMessage
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.principal import LOCAL
from pegboard.features.conversations import NewMessage
from pegboard.runtime import Pegboard
from pegboard.runtime.settings import Settings
from pegboard.runtime.standalone.agent import Agent
from pegboard.testing import ScriptedModel, Turn

BOARD = """
skills: [house]
policy: {ask: [billing__send_invoice]}
agents:
  - {name: writer, description: Writes letters., instructions: SECRET WORDS., tools: [clock]}
  - {name: seller, description: Knows customers., connector_ids: [crm], tool_categories: [time]}
"""
USAGE = ModelUsage(requests=1, input_tokens=10, output_tokens=1)


@asynccontextmanager
async def a_board(
    folder: Path, *turns: Any, text: str = BOARD, **known: Any
) -> AsyncGenerator[tuple[Pegboard, ScriptedModel]]:
    if not (folder / "house" / "billing").exists():
        write_skill(
            folder / "house" / "billing",
            "Find the customer first.",
            front="description: How to bill.\nallowed-tools: crm__find_* clock",
        )
    model = ScriptedModel(*turns)
    tools = [tool for tool in systems() if tool.spec.source != "skills"]
    async with Pegboard(write_board(folder, text), model=model, tools=tools, **known) as board:
        yield board, model


def write_board(folder: Path, text: str) -> Path:
    (folder / "board.yaml").write_text(text)
    return folder / "board.yaml"


def call(name: str, /, **arguments: Any) -> Turn:
    return Turn(calls=((name, arguments),))


FIND = {
    "subcommand": "execute",
    "connector": "crm",
    "action": "find_customer",
    "parameters": {"id": 7},
}


async def records(board: Pegboard) -> list[str]:
    return [str(item["tool"]) for item in (await board.history.calls(HistoryQuery())).calls][::-1]


async def test_a_call_of_a_meta_tool_is_recorded_as_that_of_the_inner_tool(tmp_path: Path) -> None:
    turns = [call("connector", **FIND), Turn(text="Ada.", expects=("crm__find_customer",))]
    async with a_board(tmp_path, *turns) as (board, model):
        events, _ = await ask(board, "hello")
        found = await records(board)

    listed = set(names_of(model.requests[0].tools))
    assert {"connector", "database", "mcp", "read_skill", "call_agent"} <= listed
    assert found == ["crm__find_customer"]
    [started] = [event.data for event in events if event.event == "tool_started"]
    assert (started["tool"], started["arguments"]) == ("crm__find_customer", {"id": 7})


async def test_a_meta_call_waits_for_the_approval_of_the_inner_call(tmp_path: Path) -> None:
    arguments = {"subcommand": "execute", "connector": "billing", "action": "send_invoice"}
    async with a_board(tmp_path, call("connector", **arguments), Turn(text="Sent.")) as (board, _):
        sent = await board.conversations.send(NewMessage(text="bill"), principal=LOCAL)
        async for event in board.conversations.follow(
            sent.conversation, until=sent.id, principal=LOCAL
        ):
            if event.event == "approval_required":
                assert event.data["tool"] == "billing__send_invoice"
                await board.approvals.decide(
                    str(event.data["approval"]), "approve", principal=LOCAL
                )
        _, exchanges = await board.conversations.get(sent.conversation, principal=LOCAL)

    assert exchanges[0].answer == "Sent."


async def test_an_agent_reaches_what_it_binds(tmp_path: Path) -> None:
    async with a_board(tmp_path, Turn(text="Hello.")) as (board, model):
        await ask(board, "hello", agent="seller")
        [_, shown] = await board.agents.list(principal=LOCAL)

    assert names_of(model.requests[0].tools) == [
        "clock", "crm__find_customer", "crm__list_customers", "crm__merge_customers",
        "files__read_file", "read_skill", "find_tools", "call_tool",
    ]  # fmt: skip
    assert shown["tool_count"] == 5


async def test_a_skill_that_was_read_restricts_the_calls_of_the_answer(tmp_path: Path) -> None:
    turns = [
        call("web_search"),
        call("read_skill", name="billing"),
        Turn(
            calls=(("web_search", {"q": 1}), ("connector", FIND), ("find_tools", {"query": "x"})),
            expects=("Find the customer first.",),
        ),
        Turn(
            calls=(("call_agent", {"agent_id": "writer", "task": "x"}),),
            expects=("the skill 'billing' in force allows crm__find_*, clock",),
        ),
        Turn(text="Done.", expects=("Access to 'call_agent' denied",)),
        call("web_search", q=2),
        Turn(text="Again."),
    ]
    async with a_board(tmp_path, *turns) as (board, _):
        _, id_ = await ask(board, "bill Ada")
        await ask(board, "search", conversation=id_)
        found = await records(board)

    assert found == ["web_search", "skills__billing", "crm__find_customer", "web_search"]


async def test_an_inline_skill_stands_in_the_system_prompt(tmp_path: Path) -> None:
    write_skill(tmp_path / "house" / "style", "Be brief.")
    text = BOARD.replace("tools: [clock]}", "model_config: {skill_tool_mode: inline}}")
    async with a_board(tmp_path, Turn(text="Hello."), text=text) as (board, model):
        await ask(board, "hello", agent="writer")

    system = [item.text for item in model.requests[0].messages if isinstance(item, SystemMessage)]
    assert system[0] == "SECRET WORDS."
    assert "## Skill: style\n\nBe brief." in system[1]


def team(request: ModelRequest) -> Turn:
    """Plays the assistant and both agents, which work at the same time."""
    said = " ".join(item.text for item in request.messages)
    names = names_of(request.tools)
    if "task for the writer" in said and "call_agent" not in names:
        return Turn(text="Dear Ada.", usage=USAGE)
    if "task for the seller" in said and "call_agent" not in names:
        done = "crm__find_customer" in said
        return Turn(text="She is Ada.", usage=USAGE) if done else call("crm__find_customer")
    if "Dear Ada." in said:
        return Turn(text="Both are done.", usage=USAGE)
    tasks = [("writer", "task for the writer"), ("seller", "task for the seller")]
    return Turn(
        calls=tuple(("call_agent", {"agent_id": who, "task": task}) for who, task in tasks),
        usage=USAGE,
    )


async def test_agents_are_called_with_their_own_tools_and_only_their_answers_come_back(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path, *[team] * 5) as (board, model):
        events, id_ = await ask(board, "Write to my customer.")
        model.assert_exhausted()
        found = await records(board)
        _, exchanges = await board.conversations.get(id_, principal=LOCAL)

    by_first = {request.messages[-1].text: request for request in model.requests}
    writer = by_first["task for the writer"]
    assert names_of(writer.tools) == ["clock", "read_skill"]
    assert "call_agent" not in names_of(by_first["task for the seller"].tools)
    outer = next(item for item in model.requests if "Dear Ada." in str(item.messages))
    assert "SECRET WORDS" not in str(outer.messages)
    assert found == ["crm__find_customer"]
    assert text_of(events) == exchanges[0].answer == "Both are done."
    parents = {
        str(event.data["parent"]): event.data["tool"]
        for event in events
        if event.event == "tool_started" and "parent" in event.data
    }
    assert parents == {"t1-1": "crm__find_customer"}
    done = next(event.data for event in events if event.event == "done")
    assert done["usage"]["input_tokens"] == 40


async def test_an_agent_that_fails_is_named_and_fails_the_call_alone(tmp_path: Path) -> None:
    def play(request: ModelRequest) -> Turn:
        said = " ".join(item.text for item in request.messages)
        if "call_agent" not in names_of(request.tools):
            return call("clock", number=len(request.messages))
        if "failed" in said:
            return Turn(text="It failed.")
        return call("call_agent", agent_id="writer", task="work")

    text = BOARD.replace("tools: [clock]}", "tools: [clock], limits: {calls: 1}}")
    async with a_board(tmp_path, *[play] * 5, text=text) as (board, _):
        events, _ = await ask(board, "hello")

    failed = [
        event.data
        for event in events
        if event.event == "tool_finished" and event.data["tool"] == "call_agent"
    ]
    assert text_of(events) == "It failed."
    assert [(item["state"], item["error_code"]) for item in failed] == [("failed", "limit_reached")]
    assert "The agent 'writer' failed:" in str(failed[0]["text"])


async def test_a_delegate_waits_for_an_approval_in_the_run_of_its_caller(tmp_path: Path) -> None:
    def play(request: ModelRequest) -> Turn:
        said = " ".join(item.text for item in request.messages)
        if "call_agent" not in names_of(request.tools):
            is_done = "billing__send_invoice" in said
            return Turn(text="Billed.") if is_done else call("billing__send_invoice")
        return (
            Turn(text="All done.")
            if "Billed." in said
            else call("call_agent", agent_id="writer", task="work")
        )

    text = BOARD.replace("tools: [clock]", "tools: [billing__send_invoice]")
    async with a_board(tmp_path, *[play] * 4, text=text) as (board, model):
        sent = await board.conversations.send(NewMessage(text="bill"), principal=LOCAL)
        async for event in board.conversations.follow(
            sent.conversation, until=sent.id, principal=LOCAL
        ):
            if event.event == "approval_required":
                await board.approvals.decide(
                    str(event.data["approval"]), "approve", principal=LOCAL
                )
        _, exchanges = await board.conversations.get(sent.conversation, principal=LOCAL)
        model.assert_exhausted()

    assert exchanges[0].answer == "All done."


async def test_an_agent_of_a_program_reads_skills_and_lists_its_tools_whole(tmp_path: Path) -> None:
    write_skill(tmp_path / "house" / "billing", "Find the customer first.")
    model = ScriptedModel(
        call("read_skill", name="billing"),
        Turn(text="Ok.", expects=("Find the customer first.",)),
    )
    agent = Agent(model, tools=[*systems().exclude("skills__*"), open_in(tmp_path, "house")])

    result = await agent.run("hello")

    assert result.output == "Ok."
    assert names_of(model.requests[0].tools) == [
        *systems().exclude("skills__*").names(), "read_skill",
    ]  # fmt: skip


async def test_a_large_result_of_a_delegate_is_named_by_its_handle(tmp_path: Path) -> None:
    board_text = "agents: [{name: writer, tools: [flood]}]"
    turns = [
        call("call_agent", agent_id="writer", task="work"),
        call("flood"),
        Turn(text="It is stored."),
        Turn(text="Done.", expects=("Results that it stored", "300000 bytes of flood")),
    ]
    flood = a_tool("flood", answer="x" * 300_000)
    async with Pegboard(
        write_board(tmp_path, board_text), model=ScriptedModel(*turns), tools=[flood]
    ) as board:
        events, _ = await ask(board, "hello")

    assert text_of(events) == "Done."


async def test_the_work_of_a_delegate_is_not_repeated_after_a_restart(tmp_path: Path) -> None:
    text = BOARD.replace("tools: [clock]", "tools: [clock, billing__send_invoice]")
    before = [
        call("call_agent", agent_id="writer", task="work"),
        call("clock"),
        call("billing__send_invoice"),
    ]
    after = [
        Turn(text="Billed.", expects=("billing__send_invoice",)),
        Turn(text="All done.", expects=("Billed.",)),
    ]
    data = tmp_path / "data"
    async with a_board(tmp_path, *before, text=text, data=data) as (board, model):
        message, approval = NewMessage(text="bill"), ""
        sent = await board.conversations.send(message, principal=LOCAL)
        async for event in board.conversations.follow(
            sent.conversation, until=sent.id, principal=LOCAL
        ):
            if event.event == "approval_required":
                approval = str(event.data["approval"])
                break
        model.assert_exhausted()
    async with a_board(tmp_path, *after, text=text, data=data) as (board, model):
        await board.approvals.decide(approval, "approve", principal=LOCAL)
        async for _ in board.conversations.follow(
            sent.conversation, until=sent.id, principal=LOCAL
        ):
            pass
        _, exchanges = await board.conversations.get(sent.conversation, principal=LOCAL)
        found = await records(board)
        model.assert_exhausted()

    assert exchanges[0].answer == "All done."
    assert found.count("clock") == 1


async def test_what_is_missing_is_reported_with_its_reason(tmp_path: Path) -> None:
    text = BOARD.replace("connector_ids: [crm]", "connector_ids: [crm, erp]")
    async with a_board(tmp_path, Turn(text="Hello."), text=text) as (board, _):
        events, _ = await ask(board, "hello", agent="seller")

    [missing] = [event.data["missing"] for event in events if event.event == "tools_missing"]
    assert missing == {"erp": "there is no such connector with tools now"}


async def test_a_source_that_failed_is_reported_to_the_operator(tmp_path: Path) -> None:
    text = f"sources: [{{kind: skills, name: lost, config: {{paths: [none]}}}}]{BOARD}"
    async with a_board(tmp_path, Turn(text="Hello."), text=text) as (board, _):
        events, _ = await ask(board, "hello")

    [missing] = [event.data["missing"] for event in events if event.event == "tools_missing"]
    assert list(missing) == ["lost"]
    assert "'none' cannot be read" in missing["lost"]


async def test_the_settings_choose_the_modes_of_a_board(tmp_path: Path) -> None:
    settings = Settings(connector_tool_mode="direct", skill_tool_mode="direct")
    async with a_board(tmp_path, Turn(text="Hello."), settings=settings) as (board, model):
        await ask(board, "How to bill?")

    listed = set(names_of(model.requests[0].tools))
    assert {"database", "mcp", "skills__billing"} <= listed
    assert not {"connector", "read_skill"} & listed
