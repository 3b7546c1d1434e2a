"""An agent in a program: one engine for async, sync and streamed runs."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.engines.dag.made import Team, a_step
from tests.models.made import a_provider, call, text

from pegboard import Agent, Policy, ToolContext, tool
from pegboard.core.graph import NodeState
from pegboard.core.model_messages import ModelPart, ModelRequest, ToolMessage, to_dict
from pegboard.core.principal import Principal
from pegboard.engines import AgentLimits, Engine
from pegboard.errors import ApprovalRequired, ConfigError, InvalidRequest, Unavailable
from pegboard.runtime.agent_result import AgentCall
from pegboard.testing import ScriptedModel, Turn


@tool(effect="read")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(effect="read")
async def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


ADD = Turn(calls=(("add", {"a": 1, "b": 2}),), tools=("add",))
THREE = Turn(text="It is 3.", expects=("3",))


async def test_an_agent_answers_with_its_tools() -> None:
    model = ScriptedModel(ADD, THREE)
    result = await Agent(model, tools=[add], instructions="Be brief.").run("What is 1 + 2?")

    assert (result.state, result.output, str(result)) == ("completed", "It is 3.", "It is 3.")
    assert result.calls == (
        AgentCall(id="call_1_0", tool="add", arguments='{"a": 1, "b": 2}', text="3"),
    )
    assert result.usage.requests == 2
    assert [to_dict(item)["role"] for item in result.messages] == [
        "user", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert model.requests[0].messages[0].text == "Be brief."
    assert (result.error, result.pending) == (None, ())


@pytest.mark.parametrize("as_data", [False, True], ids=["messages", "their data"])
async def test_a_conversation_goes_on_with_its_messages(*, as_data: bool) -> None:
    model = ScriptedModel(Turn(text="Hello Ada."), Turn(text="Ada."))
    agent = Agent(model)
    first = await agent.run("I am Ada.")
    messages = [to_dict(item) for item in first.messages] if as_data else first.messages
    second = await agent.run("Who am I?", messages=messages)

    assert [item.text for item in model.requests[1].messages[1:]] == [
        "I am Ada.", "Hello Ada.", "Who am I?",
    ]  # fmt: skip
    assert [item.text for item in second.messages][-2:] == ["Who am I?", "Ada."]


async def test_messages_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidRequest, match="no message"):
        await Agent(ScriptedModel()).run("hi", messages=[{"role": "nobody"}])


def test_the_sync_form_runs_both_kinds_of_tool() -> None:
    both = Turn(calls=(("add", {"a": 1, "b": 2}), ("multiply", {"a": 3, "b": 4})))
    model = ScriptedModel(both, Turn(text="3 and 12.", expects=("3", "12")))

    assert Agent(model, tools=[add, multiply]).run_sync("Both?").output == "3 and 12."


async def test_the_sync_form_works_beside_a_running_loop() -> None:
    assert Agent(ScriptedModel(Turn(text="Hello."))).run_sync("hi").output == "Hello."


async def test_the_tools_of_a_run_take_the_place_of_those_of_the_agent() -> None:
    model = ScriptedModel(*[Turn(text="Done.")] * 3)
    agent = Agent(model, tools=[add])
    await agent.run("its own")
    await agent.run("others", tools=[multiply])
    await agent.run("none", tools=[])

    listed = [[item.name for item in request.tools] for request in model.requests]
    assert listed == [["add"], ["multiply"], []]


async def test_of_very_many_tools_the_model_is_shown_those_that_fit() -> None:
    def numbered(number: int) -> Any:
        def work() -> str:
            """Do something else."""
            return f"done {number}"

        return tool(name=f"work_{number}", effect="read")(work)

    call = Turn(calls=(("call_tool", {"name": "work_7"}),), tools=("add", "find_tools"))
    model = ScriptedModel(call, Turn(text="Well.", expects=("done 7",)))
    many = [numbered(number) for number in range(200)]
    result = await Agent(model, tools=[*many, add]).run("Add two numbers")

    assert result.output == "Well."
    assert len(model.requests[0].tools) < 10


@pytest.mark.parametrize(("at_once", "most"), [(True, 3), (False, 1)], ids=["at once", "in turn"])
async def test_calls_of_a_turn_run_at_once_unless_told_otherwise(
    *, at_once: bool, most: int
) -> None:
    running: list[int] = [0, 0]

    @tool(effect="read")
    async def work(n: int) -> int:
        """Work."""
        running[0] += 1
        running[1] = max(running)
        await asyncio.sleep(0.01)
        running[0] -= 1
        return n

    model = ScriptedModel(Turn(calls=tuple(("work", {"n": n}) for n in range(3))), Turn(text="ok"))
    await Agent(model, tools=[work], concurrent_tool_calls=at_once).run("go")

    assert running[1] == most


async def test_runs_at_the_same_time_share_nothing() -> None:
    started = asyncio.Barrier(2)

    @tool(effect="read")
    async def meet(name: str, ctx: ToolContext[str]) -> str:
        """Wait for the other run."""
        await started.wait()
        return f"{name} {ctx.deps} {ctx.principal.id}"

    def answer(request: Any) -> Turn:
        last = request.messages[-1]
        if isinstance(last, ToolMessage):
            return Turn(text=last.text)
        return Turn(calls=(("meet", {"name": last.text}),))

    agent = Agent(ScriptedModel(*[answer] * 4), tools=[meet])
    async with asyncio.TaskGroup() as group:
        runs = [
            group.create_task(
                agent.run(name, ctx=ToolContext(deps=name.upper(), principal=Principal(id=name)))
            )
            for name in ("ada", "bob")
        ]
    results = [run.result() for run in runs]

    assert [item.output for item in results] == ["ada ADA ada", "bob BOB bob"]
    assert [len(item.calls) for item in results] == [1, 1]
    assert len({item.run_id for item in results}) == 2


async def test_a_stream_reports_what_happens_and_ends_with_the_result() -> None:
    events = [event async for event in Agent(ScriptedModel(ADD, THREE), tools=[add]).stream("?")]

    names = [event.event for event in events]
    assert names[:5] == ["step", "usage", "tool_started", "tool_finished", "step"]
    assert "".join(e.data["text"] for e in events if e.event == "text_delta") == "It is 3."
    last = events[-1]
    assert (last.event, last.data["state"], last.data["text"]) == ("done", "completed", "It is 3.")
    assert last.result is not None
    assert last.result.output == "It is 3."
    assert all(event.result is None for event in events[:-1])


async def test_two_streams_of_one_agent_get_their_own_events() -> None:
    agent = Agent(ScriptedModel(*[lambda r: Turn(text=f"To {r.messages[-1].text}.")] * 2))

    async def read(text: str) -> str:
        return "".join(
            [e.data["text"] async for e in agent.stream(text) if e.event == "text_delta"]
        )

    async with asyncio.TaskGroup() as group:
        reads = [group.create_task(read(name)) for name in ("ada", "bob")]

    assert [item.result() for item in reads] == ["To ada.", "To bob."]


async def test_a_stream_that_is_left_cancels_its_run() -> None:
    ended = asyncio.Event()

    @tool(effect="read")
    async def wait() -> None:
        """Wait for ever."""
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    events = Agent(ScriptedModel(Turn(calls=(("wait", {}),))), tools=[wait]).stream("go")
    async for event in events:
        if event.event == "tool_started":
            await asyncio.sleep(0.01)
            break
    await events.aclose()

    assert ended.is_set()


async def test_a_run_that_is_cancelled_cancels_its_calls() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    @tool(effect="read")
    async def wait() -> None:
        """Wait for ever."""
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    agent = Agent(ScriptedModel(Turn(calls=(("wait", {}),))), tools=[wait])
    run = asyncio.create_task(agent.run("go"))
    await began.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert ended.is_set()


@pytest.mark.parametrize(
    ("decision", "told"), [("approve", "3"), ("deny", "the user refused it: no")], ids=str
)
async def test_a_call_that_needs_an_approval_waits_and_the_run_goes_on(
    decision: Any, told: str
) -> None:
    model = ScriptedModel(ADD, Turn(text="Well.", expects=(told,)))
    agent = Agent(model, tools=[add], policy=Policy(ask=("add",)))
    waiting = await agent.run("What is 1 + 2?", ctx=ToolContext(deps="shop"))

    assert waiting.state is NodeState.WAITING
    [item] = waiting.pending
    assert (item.tool, item.arguments) == ("add", {"a": 1, "b": 2})
    assert item.reason in str(waiting)
    with pytest.raises(ApprovalRequired, match="'add'"):
        waiting.unwrap()

    result = await agent.resume(waiting, decision, note="no")

    assert (result.state, result.output) == ("completed", "Well.")
    assert result.usage.requests == 2  # no turn was repeated
    with pytest.raises(InvalidRequest, match="that waits"):
        await agent.resume(result, "approve")


def test_the_sync_form_resumes_too() -> None:
    agent = Agent(ScriptedModel(ADD, THREE), tools=[add], policy=Policy(ask=("add",)))

    assert agent.resume_sync(agent.run_sync("What is 1 + 2?"), "approve").unwrap() == "It is 3."


def test_without_a_model_the_result_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    result = Agent("openai:gpt-5.2").run_sync("hi")

    assert "OPENAI_API_KEY" in str(result)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        result.unwrap()


@pytest.mark.parametrize(
    ("turn", "limits", "code"),
    [
        (Turn(error=Unavailable("busy")), AgentLimits(), "unavailable"),
        (ADD, AgentLimits(calls=1), "limit_reached"),
    ],
    ids=["the model", "a limit"],
)
async def test_what_fails_is_in_the_result(turn: Turn, limits: AgentLimits, code: str) -> None:
    result = await Agent(ScriptedModel(turn), tools=[add], limits=limits).run("?")

    assert result.state is NodeState.FAILED
    assert (result.error or {})["code"] == code


async def test_a_deadline_ends_a_run() -> None:
    @tool(effect="read")
    async def wait() -> None:
        """Wait for ever."""
        await asyncio.sleep(60)

    agent = Agent(ScriptedModel(Turn(calls=(("wait", {}),))), tools=[wait])
    loop = asyncio.get_running_loop()
    result = await agent.run("?", ctx=ToolContext(deadline=loop.time() + 0.05))

    assert result.state is NodeState.FAILED
    assert (result.error or {})["code"] == "timeout"


async def test_a_goal_is_worked_on_in_steps() -> None:
    def work(text: str, request: ModelRequest) -> Turn:
        if isinstance(request.messages[-1], ToolMessage):
            return Turn(text="done")
        return Turn(calls=(("add", {"a": 1, "b": 2}),))

    team = Team([[a_step("a"), a_step("b")]], work=work)
    agent = Agent(team.model, tools=[add], engine="dag")
    events = [event async for event in agent.stream("Add this and that.")]
    result = events[-1].result

    assert result is not None
    assert (result.output, [item.tool for item in result.calls]) == ("All done.", ["add", "add"])
    text = "".join(event.data["text"] for event in events if event.event == "text_delta")
    assert text == "All done."
    steps = [event.data["step_id"] for event in events if event.event == "tool_finished"]
    assert sorted(steps) == ["a", "b"]


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(ConfigError, match="no engine 'magic'"):
        Agent(ScriptedModel(), engine="magic")  # type: ignore[arg-type]  # what a program may write


async def test_a_model_may_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_provider() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        provider.answers += [call("add", '{"a": 1, "b": 2}'), text("It is ", "3.")] * 2
        agent = Agent("openai:tiny-1", tools=[add])
        here = await agent.run("?")
        there = await asyncio.to_thread(agent.run_sync, "?")

    assert (here.output, there.output) == ("It is 3.", "It is 3.")
    assert provider.requests[0]["model"] == "tiny-1"


async def test_a_name_without_a_provider_is_a_failed_result() -> None:
    result = await Agent("nobody:x").run("hi")

    assert (result.error or {})["code"] == "config_invalid"
    assert "nobody" in (result.error or {})["message"]


def test_sync_runs_of_several_threads_do_not_disturb_each_other() -> None:
    agent = Agent(ScriptedModel(*[lambda r: Turn(text=r.messages[-1].text)] * 4), tools=[add])
    found: dict[str, str] = {}
    threads = [
        threading.Thread(target=lambda n=str(n): found.update({n: agent.run_sync(n).output}))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == {str(n): str(n) for n in range(4)}


class Broken(ScriptedModel):
    """A model with a fault of its own."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        async for part in super().stream(request):
            yield part
            raise LookupError("the password is hunter2")


@pytest.mark.parametrize("engine", ["react", "dag"])
async def test_an_unexpected_exception_of_a_model_has_an_error_id_and_is_logged_once(
    engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    result = await Agent(Broken(Turn(text="Hello.")), engine=engine).run("hi")

    assert result.error is not None
    assert result.error["code"] == "tool_failed"
    assert "hunter2" not in str(result.error)
    (record,) = [item for item in caplog.records if item.name == "pegboard.tools"]
    assert f"(error id {result.error['error_id']})" in record.getMessage()
    assert "LookupError" in record.getMessage()
    assert "in stream" in record.getMessage()


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ("x", "list of messages"),
        ({"a": 1}, "list of messages"),
        (5, "list of messages"),
        ([1], "no message of a conversation"),
        ([None], "no message of a conversation"),
        ([{"role": "narrator"}], "no message of a conversation"),
    ],
    ids=["text", "mapping", "number", "numbers", "nothing", "role"],
)
async def test_what_is_no_conversation_is_refused(messages: Any, says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        await Agent(ScriptedModel(Turn(text="x"))).run("hi", messages=messages)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ConfigError, match="found 5"):
        Agent(5)  # pyright: ignore[reportArgumentType]  # it is what the test is about


async def test_what_is_no_decision_is_refused() -> None:
    agent = Agent(
        ScriptedModel(Turn(calls=(("add", {"a": 1, "b": 2}),)), THREE),
        tools=[add],
        policy=Policy(ask=("add",)),
    )
    waiting = await agent.run("What is 1 + 2?")
    with pytest.raises(InvalidRequest, match="found 'perhaps'"):
        await agent.resume(waiting, "perhaps")  # pyright: ignore[reportArgumentType]  # as above

    assert (await agent.resume(waiting, "approve")).output == "It is 3."
