import asyncio
import sys
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelResponse,
    RunContext,
    TextPart,
    ToolCallPart,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import BinaryContent, ModelMessage, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from pegboard import CallRecord, Principal, ToolContext, ToolResult, exports, tool
from pegboard.core import result as results
from pegboard.core.result import AudioPart, ImagePart
from pegboard.errors import ConfigError, InvalidRequest, SyncUse
from pegboard.exports import langchain_tool
from pegboard.exports.pydantic_ai import ModelRetry, _answer
from pegboard.registry import ToolRegistry

ANN = ToolContext(principal=Principal(id="ann", scopes=frozenset({"payments"})))
GUEST = ToolContext(principal=Principal(id="guest"))

SOUND = AudioPart(data=b"RIFF", media_type="audio/wav")
PARTS = (
    results.TextPart(text="a"),
    ImagePart(data=b"PNG", media_type="image/png"),
    SOUND,
    results.ResourcePart(uri="file:///a", data=b"x"),
    results.ResourcePart(uri="file:///b", text="b"),
    results.ResourcePart(uri="file:///c"),
)


@tool(effect="read")
def large() -> list[str]:
    """Everything that there is."""
    return ["a line of a report"] * 30_000


# LangChain


def tools_of(registry: ToolRegistry, **options: Any) -> dict[str, BaseTool]:
    return {item.name: item for item in exports.langchain_tools(registry, **options)}


async def test_a_langchain_tool_calls_through_the_registry(registry: ToolRegistry) -> None:
    weather = tools_of(registry)["weather"]

    assert await weather.ainvoke({"city": "Rome", "days": "3"}) == (
        '{"city":"Rome","days":3,"unit":"C"}'
    )


async def test_a_model_s_call_is_answered_by_a_message_with_the_value(
    registry: ToolRegistry,
) -> None:
    call = {"type": "tool_call", "id": "1", "name": "weather", "args": {"city": "Rome"}}

    message = await tools_of(registry)["weather"].ainvoke(call)

    assert isinstance(message, ToolMessage)
    assert (message.status, message.tool_call_id) == ("success", "1")
    assert message.artifact == {"city": "Rome", "days": 1, "unit": "C"}


def test_langchain_shows_models_what_we_show(registry: ToolRegistry) -> None:
    shown = convert_to_openai_tool(tools_of(registry)["weather"])["function"]

    assert shown["description"].startswith("Forecast the weather")
    assert shown["parameters"]["properties"].keys() == {"city", "days", "unit"}


def test_a_sync_tool_can_be_invoked_without_a_loop(registry: ToolRegistry) -> None:
    assert tools_of(registry)["shout"].invoke({"text": "hey"}) == "HEY"


def test_an_async_tool_is_invoked_without_a_loop_too(registry: ToolRegistry) -> None:
    call = {"name": "weather", "args": {"city": "Rome"}, "id": "1", "type": "tool_call"}

    answer = tools_of(registry)["weather"].invoke(call)

    assert answer.artifact == {"city": "Rome", "days": 1, "unit": "C"}
    with pytest.raises(SyncUse):
        registry.call_sync("weather", {"city": "Rome"})


async def test_an_async_tool_is_invoked_within_a_running_loop_too(registry: ToolRegistry) -> None:
    assert "Rome" in tools_of(registry)["weather"].invoke({"city": "Rome"})


def test_the_artifact_of_a_stored_result_has_its_handle() -> None:
    board = ToolRegistry([large])
    call = {"name": "large", "args": {}, "id": "1", "type": "tool_call"}

    artifact = tools_of(board)["large"].invoke(call).artifact
    page = asyncio.run(board.read_result(artifact["handle"], page=2))

    assert artifact["total_bytes"] > 500_000
    assert page.page == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        pytest.param({"town": "Rome"}, "- city: missing", id="arguments"),
        pytest.param({"city": "Atlantis"}, "'weather' failed. (error id e_", id="an exception"),
    ],
)
async def test_a_failure_is_a_safe_text_and_the_run_goes_on(
    registry: ToolRegistry, arguments: dict[str, Any], text: str
) -> None:
    call = {"type": "tool_call", "id": "1", "name": "weather", "args": arguments}

    message = await tools_of(registry)["weather"].ainvoke(call)

    assert message.status == "error"
    assert text in message.content
    assert "hunter2" not in message.content


async def test_a_failure_can_be_raised(registry: ToolRegistry) -> None:
    weather = tools_of(registry, raise_errors=True)["weather"]

    with pytest.raises(ToolException, match="'weather' failed"):
        await weather.ainvoke({"city": "Atlantis"})


async def test_an_argument_may_be_called_as_langchain_calls_its_own(
    registry: ToolRegistry,
) -> None:
    answer = await tools_of(registry)["picture"].ainvoke({"config": "a house"})

    assert answer == [
        {"type": "text", "text": "a house"},
        {"type": "image", "base64": "UE5H", "mime_type": "image/png"},
    ]


def test_every_kind_of_part_has_a_block_that_langchain_takes() -> None:
    content, _ = langchain_tool._answer(ToolResult(content=PARTS))

    assert [block["type"] for block in content] == ["text", "image", "file", "file", "text", "text"]
    assert [block["text"] for block in content if block["type"] == "text"] == [
        "a",
        "b",
        "file:///c",
    ]


async def test_each_caller_of_langchain_sees_and_calls_for_itself(registry: ToolRegistry) -> None:
    assert "balance" not in tools_of(registry, ctx=GUEST)
    assert await tools_of(registry, ctx=ANN)["balance"].ainvoke({}) == "of ann"


async def test_a_caller_can_be_taken_from_langchain_s_config(registry: ToolRegistry) -> None:
    def who(config: RunnableConfig) -> ToolContext[Any]:
        name = config.get("configurable", {}).get("user", "nobody")
        return ToolContext(principal=Principal(id=name, scopes=frozenset({"payments"})))

    balance = tools_of(registry, ctx=who)["balance"]

    assert await balance.ainvoke({}, {"configurable": {"user": "bea"}}) == "of bea"
    assert balance.invoke({}, {"configurable": {"user": "cid"}}) == "of cid"


async def test_a_tool_that_went_through_langchain_can_come_back(registry: ToolRegistry) -> None:
    back = ToolRegistry(exports.langchain_tools(registry))

    assert (await back.call("weather", {"city": "Rome"})).unwrap()["city"] == "Rome"
    assert back.get("weather").spec.effect.value == "read"


# Pydantic AI


def agent_of(
    registry: ToolRegistry, *calls: ToolCallPart, output: Any = str, **options: Any
) -> Agent[Any, Any]:
    """An agent whose model makes these calls in turn and then ends."""
    left = list(calls)

    async def model(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[left.pop(0)] if left else [TextPart("done")])

    toolset = exports.pydantic_ai_toolset(registry, **options)
    return Agent(FunctionModel(model), output_type=output, toolsets=[toolset])


def parts_of(messages: list[ModelMessage], kind: type[Any]) -> list[Any]:
    return [part for message in messages for part in message.parts if isinstance(part, kind)]


async def test_pydantic_ai_calls_through_the_registry(registry: ToolRegistry) -> None:
    agent = agent_of(registry, ToolCallPart("weather", '{"city": "Rome", "days": "3"}'))

    run = await agent.run("hi")

    (answer,) = parts_of(run.all_messages(), ToolReturnPart)
    assert run.output == "done"
    assert answer.content == {"city": "Rome", "days": 3, "unit": "C"}
    assert answer.metadata.keys() == {"call_id", "structured"}


async def test_pydantic_ai_s_metadata_has_the_handle_of_a_stored_result() -> None:
    board = ToolRegistry([large])

    run = await agent_of(board, ToolCallPart("large", {})).run("hi")
    (answer,) = parts_of(run.all_messages(), ToolReturnPart)
    page = await board.read_result(answer.metadata["handle"], page=2)

    assert answer.metadata["handle"] in answer.content
    assert page.page == 2


async def test_a_model_corrects_arguments_that_do_not_fit(registry: ToolRegistry) -> None:
    agent = agent_of(
        registry,
        ToolCallPart("weather", {"town": "Rome"}),
        ToolCallPart("weather", {"city": "Rome"}),
    )

    run = await agent.run("hi")

    retried, answered = parts_of(run.all_messages(), ToolReturnPart)
    assert (retried.outcome, answered.outcome) == ("retried", "success")
    assert "- city: missing" in retried.content


async def test_a_model_that_never_corrects_itself_is_stopped(registry: ToolRegistry) -> None:
    wrong = [ToolCallPart("weather", {"town": "Rome"}) for _ in range(3)]

    with pytest.raises(UnexpectedModelBehavior):
        await agent_of(registry, *wrong, max_retries=1).run("hi")


async def test_a_tool_that_fails_does_not_end_the_run(registry: ToolRegistry) -> None:
    agent = agent_of(registry, ToolCallPart("weather", {"city": "Atlantis"}))

    run = await agent.run("hi")

    (answer,) = parts_of(run.all_messages(), ToolReturnPart)
    assert run.output == "done"
    assert answer.outcome == "failed"
    assert "'weather' failed." in str(answer.content)
    assert "hunter2" not in str(answer.content)


@pytest.fixture
def wiped() -> list[str]:
    """The disks that were wiped."""
    return []


@pytest.fixture
def asking(wiped: list[str]) -> ToolRegistry:
    """A registry whose one tool needs an approval."""

    @tool(effect="admin")
    def wipe(disk: str) -> str:
        """Wipe a disk."""
        wiped.append(disk)
        return "wiped"

    return ToolRegistry([wipe])


async def test_a_call_that_needs_an_approval_is_deferred_and_runs_once_when_it_is_given(
    asking: ToolRegistry, wiped: list[str]
) -> None:
    wipe = ToolCallPart("wipe", {"disk": "sda"}, tool_call_id="1")
    agent = agent_of(asking, wipe, output=[str, DeferredToolRequests])

    waits = await agent.run("hi")
    before = list(wiped)
    asked = waits.output
    assert isinstance(asked, DeferredToolRequests)
    run = await agent.run(
        message_history=waits.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={"1": True}),
    )

    (answer,) = parts_of(run.all_messages(), ToolReturnPart)
    found = await asking.environment.approvals.get(asked.metadata["1"]["approval_id"])
    assert found is not None
    assert (before, wiped, answer.content) == ([], ["sda"], "wiped")
    assert (found.state, found.decided_by) == ("used", "local")


async def test_an_approver_who_may_not_decide_leaves_the_call_undone(
    asking: ToolRegistry, wiped: list[str]
) -> None:
    wipe = ToolCallPart("wipe", {"disk": "sda"}, tool_call_id="1")
    agent = agent_of(asking, wipe, defer_approvals=True, ctx=GUEST, approver=GUEST.principal)

    waits = await agent.run("hi", output_type=[str, DeferredToolRequests])
    run = await agent.run(
        message_history=waits.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={"1": True}),
    )

    (answer,) = parts_of(run.all_messages(), ToolReturnPart)
    assert (wiped, answer.outcome) == ([], "failed")
    assert "approvals:decide" in str(answer.content)


async def test_an_agent_that_defers_nothing_is_told_that_an_approval_is_needed(
    asking: ToolRegistry, wiped: list[str]
) -> None:
    run = await agent_of(asking, ToolCallPart("wipe", {"disk": "sda"})).run("hi")

    (answer,) = parts_of(run.all_messages(), ToolReturnPart)
    assert (wiped, answer.outcome) == ([], "failed")
    assert "approv" in str(answer.content)


class Seen:
    """Which tools were called."""

    def __init__(self) -> None:
        self.called: set[str] = set()

    def on_event(self, event: object) -> None:
        if isinstance(event, CallRecord):
            self.called.add(event.tool)


async def test_every_tool_can_be_called_by_a_model_that_tries_them_all(
    registry: ToolRegistry,
) -> None:
    seen = Seen()
    names = {"weather", "shout", "picture", "balance"}
    watched = ToolRegistry(registry.only(*names), listeners=[seen])
    toolset = exports.pydantic_ai_toolset(watched, id="board")

    await Agent(TestModel(), toolsets=[toolset]).run("hi")

    assert toolset.id == "board"
    assert seen.called == names


async def test_pictures_arrive_as_pictures(registry: ToolRegistry) -> None:
    run = await agent_of(registry, ToolCallPart("picture", {"config": "a house"})).run("hi")

    (answer,) = parts_of(run.all_messages(), ToolReturnPart)
    assert answer.content[0] == "a house"
    assert isinstance(answer.content[1], BinaryContent)
    assert answer.content[1].data == b"PNG"


def test_every_kind_of_part_has_a_content_that_pydantic_ai_takes() -> None:
    content = _answer(ToolResult(content=PARTS)).return_value

    assert [item if isinstance(item, str) else item.media_type for item in content] == [
        "a",
        "image/png",
        "audio/wav",
        "application/octet-stream",
        "b",
        "file:///c",
    ]


def test_what_a_caller_can_mend_goes_back_to_the_model() -> None:
    failed = ToolResult(content="No such table.", is_error=True, error=InvalidRequest("x"))

    with pytest.raises(ModelRetry, match="No such table"):
        _answer(failed)


async def test_each_caller_of_pydantic_ai_sees_and_calls_for_itself(registry: ToolRegistry) -> None:
    def who(ctx: RunContext[str]) -> ToolContext[Any]:
        scopes = frozenset({"payments"}) if ctx.deps == "ann" else frozenset[str]()
        return ToolContext(principal=Principal(id=ctx.deps, scopes=scopes))

    shown: dict[str, list[str]] = {}

    async def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        names = [item.name for item in info.function_tools]
        if len(messages) == 1 and "balance" in names:
            return ModelResponse(parts=[ToolCallPart("balance", {})])
        answers = parts_of(messages, ToolReturnPart)
        shown["names"] = names
        return ModelResponse(parts=[TextPart(str(answers[0].content) if answers else "nothing")])

    toolset = exports.pydantic_ai_toolset(registry, ctx=who)
    agent = Agent(FunctionModel(model), deps_type=str, toolsets=[toolset])

    assert (await agent.run("hi", deps="ann")).output == "of ann"
    assert (await agent.run("hi", deps="guest")).output == "nothing"
    assert "balance" not in shown["names"]


@pytest.mark.parametrize(
    ("export", "module", "package", "hint"),
    [
        (
            exports.langchain_tools,
            "langchain_tool",
            "langchain_core.tools",
            r"pegboard\[langchain\]",
        ),
        (exports.pydantic_ai_toolset, "pydantic_ai", "pydantic_ai", "pydantic-ai-slim"),
    ],
    ids=["langchain", "pydantic ai"],
)
def test_without_the_framework_one_line_says_what_to_install(
    registry: ToolRegistry,
    monkeypatch: pytest.MonkeyPatch,
    export: Any,
    module: str,
    package: str,
    hint: str,
) -> None:
    monkeypatch.delitem(sys.modules, f"pegboard.exports.{module}")
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(ConfigError, match=hint):
        export(registry)
