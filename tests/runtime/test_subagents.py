"""Agents that are tools: for API, plans and graphs, and never for a model."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import ask, text_of
from tests.runtime.people import found, invite

from pegboard import Pegboard, ToolContext, exports, tool
from pegboard.core.elicitation import Answer, Question, Sample, SampleRequest
from pegboard.core.graph import Graph, Node
from pegboard.core.model_messages import ModelUsage, SystemMessage, ToolMessage, UserMessage
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Retry
from pegboard.errors import ApprovalRequired, ToolFailed, ToolTimeout, Unavailable
from pegboard.runtime.standalone.agent import Agent
from pegboard.testing import ScriptedModel, Turn

RFC: dict[str, Any] = json.loads("""
{
  "tool_id": "research_agent_v1",
  "name": "Research Agent",
  "type": "Subagent",
  "capabilities": ["deep_research", "citation_generation"],
  "input_schema": { "query": "string", "depth": "integer" },
  "output_schema": { "report": "string", "citations": "list" },
  "agent_config": {
    "model": "gpt-4",
    "max_iterations": 10,
    "tools": ["web_search", "document_reader"]
  }
}
""")
GIVEN = {"query": "bees", "depth": 2}
REPORT = {"report": "They dance.", "citations": ["a"]}
SEARCH = Turn(calls=(("web_search", {"query": "bees"}),), tools=("web_search", "document_reader"))
SEARCH_ONLY = Turn(calls=(("web_search", {"query": "bees"}),))
ANSWER = Turn(
    text=json.dumps(REPORT), usage=ModelUsage(requests=1, input_tokens=20, cached_tokens=8)
)


@tool(effect="read")
def web_search(query: str, ctx: ToolContext[Any]) -> dict[str, Any]:
    """Search the web."""
    return {
        "run": ctx.run_id,
        "parent": ctx.parent_id,
        "deps": ctx.deps,
        "caller": ctx.principal.id,
        "seconds": ctx.remaining(),
    }


@tool(effect="read")
def document_reader(url: str) -> str:
    """Read a document."""
    return "text"


COSTLY = ModelUsage(requests=1, input_tokens=8, output_tokens=2)


@asynccontextmanager
async def a_board(
    *turns: Any, board: Path | None = None, **config: Any
) -> AsyncGenerator[tuple[Pegboard, ScriptedModel]]:
    """A board with the agent of the RFC, and its tools."""
    model = ScriptedModel(*turns, name="gpt-4")
    async with Pegboard(board, model=model, tools=[web_search, document_reader]) as opened:
        agent_config = {**RFC["agent_config"], **config}
        await opened.catalogue.register([{**RFC, "agent_config": agent_config}], principal=LOCAL)
        yield opened, model


async def test_the_agent_of_the_rfc_answers_as_it_says() -> None:
    async with a_board(SEARCH, ANSWER) as (board, model):
        result = await board.call("research_agent", GIVEN)
        spec = board.registry.get("research_agent_v1").spec

    assert result.structured == REPORT
    assert (result.meta.model, result.meta.tokens, result.meta.cached_tokens) == ("gpt-4", 20, 8)
    assert (spec.title, spec.capabilities) == (
        "Research Agent",
        ("deep_research", "citation_generation"),
    )
    system, question = model.requests[0].messages
    assert isinstance(system, SystemMessage)
    assert question == UserMessage(text=json.dumps(GIVEN))
    assert [item.name for item in model.requests[0].tools] == ["web_search", "document_reader"]


async def test_an_answer_that_is_no_object_is_asked_for_once_more() -> None:
    async with a_board(Turn(text="They dance."), ANSWER) as (board, model):
        result = await board.call("research_agent", GIVEN)

    assert result.structured == REPORT
    assert model.requests[1].tool_choice == "answer"


async def test_unknown_tools_make_it_unavailable_and_are_named_until_they_are_there() -> None:
    model = ScriptedModel(ANSWER, name="gpt-4")
    async with Pegboard(model=model, tools=[web_search]) as board:
        [made] = await board.catalogue.register([RFC], principal=LOCAL)
        refused = await board.call("research_agent", GIVEN)
        board.registry.add(document_reader)
        await asyncio.sleep(0)
        answered = await board.call("research_agent", GIVEN)
        board.registry.remove("document_reader")
        await asyncio.sleep(0)
        gone = board.registry.get("research_agent").spec.unavailable

    assert made.to_dict()["unavailable"] == "there is no tool 'document_reader'"
    assert refused.is_error
    assert "there is no tool 'document_reader'" in refused.text
    assert answered.structured == REPORT
    assert gone == "there is no tool 'document_reader'"


async def test_its_calls_carry_the_run_the_deadline_and_the_dependencies_of_its_caller() -> None:
    ctx = ToolContext(
        deps="shop", principal=Principal(id="ada"), deadline=time.monotonic() + 30, run_id="r_1"
    )
    async with a_board(SEARCH, ANSWER) as (board, model):
        result = await board.call("research_agent", GIVEN, ctx)

    seen = json.loads(model.requests[1].messages[-1].text)
    assert seen.pop("seconds") <= 30
    assert seen == {
        "run": "r_1",
        "parent": result.meta.call_id,
        "deps": "shop",
        "caller": "ada",
    }


async def test_a_graph_calls_it_and_its_own_run_stays_one_run() -> None:
    node = Node(id="research", tool="research_agent", input=dict(GIVEN))
    async with a_board(SEARCH, ANSWER) as (board, model):
        view = await board.runs.start_graph(Graph(nodes=(node,)), principal=LOCAL)
        view = await board.runs.wait(view.id, principal=LOCAL)
        events = [event.kind async for event in board.runs.events(view.id, principal=LOCAL)]
        runs = await board.runs.list(principal=LOCAL)

    assert view.result.output == {"research": REPORT}
    assert json.loads(model.requests[1].messages[-1].text)["run"] == view.id
    assert len(runs.runs) == 1
    assert not {"text_delta", "step"} & set(events)


async def test_two_nodes_of_a_run_do_not_share_their_calls() -> None:
    nodes = [
        Node(id=name, tool="research_agent", input={"query": name, "depth": 1}) for name in "ab"
    ]

    def answer(request: Any) -> Turn:
        name = json.loads(request.messages[1].text)["query"]
        if len(request.messages) == 2:
            return Turn(calls=(("web_search", {"query": name}),))
        return Turn(text=json.dumps({"report": name, "citations": []}))

    async with a_board(*[answer] * 4) as (board, _):
        view = await board.runs.start_graph(Graph(nodes=tuple(nodes)), principal=LOCAL)
        view = await board.runs.wait(view.id, principal=LOCAL)

    assert {name: view.result.output[name]["report"] for name in "ab"} == {"a": "a", "b": "b"}


async def test_no_model_gets_it() -> None:
    find = Turn(calls=(("find_tools", {"query": "research agent deep research"}),))
    call = Turn(calls=(("call_tool", {"name": "research_agent", "arguments": GIVEN}),))
    plain = Turn(calls=(("research_agent", GIVEN),))
    last = Turn(text="No.", expects=("Tool 'research_agent' not found.",))
    async with a_board(find, call, plain, last) as (board, model):
        events, _ = await ask(board, "hi")
        exported = [item["function"]["name"] for item in board.registry.openai_tools()]
        catalogue = exports.compact_catalog(board.registry)
        agent = Agent(ScriptedModel(Turn(text="Hello.")), tools=board.registry)
        await agent.run("hi")

    listed = {item.name for request in model.requests for item in request.tools}
    assert "research_agent" not in listed | set(exported)
    assert "research_agent" not in catalogue
    messages = model.requests[-1].messages
    found, *refused = [item.text for item in messages if isinstance(item, ToolMessage)]
    assert "research_agent" not in found
    assert all("Tool 'research_agent' not found." in text for text in refused)
    assert text_of(events) == "No."


async def test_no_agent_has_an_agent_as_its_tool(tmp_path: Path) -> None:
    (tmp_path / "board.yaml").write_text("agents: [{name: boss, tools: [research_agent]}]\n")
    second = {**RFC, "tool_id": "boss_v1", "agent_config": {"tools": ["research_agent"]}}
    async with a_board(board=tmp_path / "board.yaml") as (board, _):
        await board.catalogue.register([second], principal=LOCAL)
        unavailable = board.registry.get("boss").spec.unavailable
        profile = board.agents.show("boss", principal=LOCAL)

    assert unavailable == "'research_agent' is an agent, which no agent may have as a tool"
    assert "is an agent" in profile["unavailable"]


async def test_a_call_that_needs_an_approval_is_the_approval_of_the_agent(tmp_path: Path) -> None:
    (tmp_path / "board.yaml").write_text("policy: {ask: [web_search]}\n")
    node = Node(id="research", tool="research_agent", input=dict(GIVEN))
    async with a_board(SEARCH, SEARCH, ANSWER, board=tmp_path / "board.yaml") as (board, _):
        plain = await board.call("research_agent", GIVEN)
        view = await board.runs.start_graph(Graph(nodes=(node,)), principal=LOCAL)
        waiting = await board.runs.wait(view.id, principal=LOCAL)
        [pending] = waiting.result.pending
        await board.approvals.decide(pending.approval_id, "approve", principal=LOCAL)
        done = await board.runs.wait(view.id, principal=LOCAL)

    assert isinstance(plain.error, ApprovalRequired)
    assert done.result.output == {"research": REPORT}


async def test_after_an_approval_it_goes_on_and_repeats_no_call(tmp_path: Path) -> None:
    done: list[str] = []

    @tool(effect="write")
    def book(seat: int) -> str:
        """Book."""
        done.append(f"booked {seat}")
        return "booked"

    @tool(effect="write")
    def pay(cents: int) -> str:
        """Pay."""
        done.append(f"paid {cents}")
        return "paid"

    (tmp_path / "board.yaml").write_text("policy: {ask: [pay]}\n")
    model = ScriptedModel(
        Turn(calls=(("book", {"seat": 1}),)),
        Turn(calls=(("pay", {"cents": 5}),), expects=("booked",)),
        Turn(text="All done.", expects=("paid",)),
        name="gpt-4",
    )
    entry = {**RFC, "agent_config": {"model": "gpt-4", "tools": ["book", "pay"]}}
    entry.pop("output_schema")
    node = Node(id="research", tool="research_agent", input=dict(GIVEN))
    async with Pegboard(tmp_path / "board.yaml", model=model, tools=[book, pay]) as board:
        await board.catalogue.register([entry], principal=LOCAL)
        view = await board.runs.start_graph(Graph(nodes=(node,)), principal=LOCAL)
        waiting = await board.runs.wait(view.id, principal=LOCAL)
        [pending] = waiting.result.pending
        before = list(done)
        await board.approvals.decide(pending.approval_id, "approve", principal=LOCAL)
        ended = await board.runs.wait(view.id, principal=LOCAL)

    assert before == ["booked 1"]
    assert done == ["booked 1", "paid 5"]
    assert ended.result.output == {"research": "All done."}


async def test_after_a_restart_it_goes_on_and_knows_its_approval(tmp_path: Path) -> None:
    done: list[str] = []

    @tool(effect="write")
    def book(seat: int) -> str:
        """Book."""
        done.append(f"booked {seat}")
        return "booked"

    @tool(effect="write")
    def pay(cents: int) -> str:
        """Pay."""
        done.append(f"paid {cents}")
        return "paid"

    path = tmp_path / "board.yaml"
    path.write_text("""
policy: {ask: [pay]}
sources: [{kind: agents, name: staff, config: {agents: [{name: aide, tools: [book, pay]}]}}]
""")
    node = Node(id="ask", tool="staff__aide", input={"task": "Book and pay."})
    before = ScriptedModel(
        Turn(calls=(("book", {"seat": 1}),)), Turn(calls=(("pay", {"cents": 5}),))
    )
    after = ScriptedModel(Turn(text="All done.", expects=("paid",)))
    given: dict[str, Any] = {"tools": [book, pay], "data": tmp_path / "data"}
    async with Pegboard(path, model=before, **given) as board:
        await board.wait_for_sources()
        view = await board.runs.start_graph(Graph(nodes=(node,)), principal=LOCAL)
        waiting = await board.runs.wait(view.id, principal=LOCAL)
    async with Pegboard(path, model=after, **given) as board:
        await board.wait_for_sources()
        [pending] = waiting.result.pending
        await board.approvals.decide(pending.approval_id, "approve", principal=LOCAL)
        ended = await board.runs.wait(view.id, principal=LOCAL)

    assert done == ["booked 1", "paid 5"]
    assert ended.result.output == {"ask": "All done."}


async def test_a_node_that_tries_a_failed_agent_again_begins_anew() -> None:
    entry = {**RFC, "agent_config": {"model": "gpt-4", "tools": ["web_search"]}}
    node = Node(
        id="ask", tool="research_agent", input=dict(GIVEN), retry=Retry(max_retries=1, backoff=0)
    )
    busy = Turn(error=Unavailable("busy"))
    model = ScriptedModel(SEARCH_ONLY, busy, SEARCH_ONLY, ANSWER, name="gpt-4")
    async with Pegboard(model=model, tools=[web_search]) as board:
        await board.catalogue.register([entry], principal=LOCAL)
        view = await board.runs.start_graph(Graph(nodes=(node,)), principal=LOCAL)
        view = await board.runs.wait(view.id, principal=LOCAL)

    assert view.result.output == {"ask": REPORT}


@pytest.mark.parametrize(
    ("error", "kind"), [(Unavailable("busy"), Unavailable), (None, ToolFailed)], ids=["later", "no"]
)
async def test_a_failure_of_its_run_is_a_failure_of_the_call(error: Any, kind: Any) -> None:
    turns = [Turn(error=error)] * 9 if error else [Turn(text="x")] * 9
    async with a_board(*turns) as (board, _):
        result = await board.call("research_agent", GIVEN)

    assert isinstance(result.error, kind)
    assert "research_agent" in result.text


@pytest.mark.parametrize(
    ("turns", "config", "tokens"),
    [
        ([Turn(text="x", usage=COSTLY)] * 4, {}, 40),
        ([Turn(text="", calls=SEARCH.calls, usage=COSTLY)] * 2, {"max_iterations": 2}, 20),
    ],
    ids=["no object", "a limit"],
)
async def test_what_a_failed_answer_has_used_is_recorded(
    turns: Any, config: dict[str, Any], tokens: int
) -> None:
    async with a_board(*turns, **config) as (board, _):
        result = await board.call("research_agent", GIVEN)
        records = (await board.history.calls(HistoryQuery(tool="research_agent"))).calls

    assert isinstance(result.error, ToolFailed)
    assert (result.meta.tokens, result.meta.model) == (tokens, "gpt-4")
    assert [(item["status"], item["tokens"]) for item in records] == [("failed", tokens)]


async def test_it_remembers_its_answers_within_a_conversation() -> None:
    given = {**GIVEN, "conversation": "c"}
    schema = {**RFC["input_schema"], "conversation": "string"}
    entry = {
        **RFC,
        "tool_id": "helper_v1",
        "input_schema": schema,
        "output_schema": None,
        "agent_config": {"memory": "conversation"},
    }
    entry.pop("output_schema")
    async with a_board(*[Turn(text="Yes.")] * 4) as (board, model):
        await board.catalogue.register([entry], principal=LOCAL)
        await board.call("helper", given)
        await board.call("helper", given)
        await board.call("helper", {**given, "conversation": "other"})
        await board.call("helper", given, ToolContext(principal=Principal(id="eve")))

    assert [len(request.messages) for request in model.requests] == [2, 4, 2, 2]
    assert [item.text for item in model.requests[1].messages[2:3]] == ["Yes."]


async def test_agents_of_the_board_file_are_tools_too(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"
    path.write_text("""
sources:
  - {kind: agents, name: staff, config: {agents: [{name: helper, tools: [web_search]}]}}
tools:
  - {tool_id: aide_v1, type: Subagent, agent_config: {tools: [staff__helper]}}
""")
    async with a_board(Turn(text="Done."), board=path) as (board, _):
        await board.wait_for_sources()
        await asyncio.sleep(0)
        result = await board.call("staff__helper", {"task": "Help."})
        aide = board.registry.get("aide").spec.unavailable
        path.write_text("sources: []\n")
        await board.reload()
        names = board.registry.names()

    assert result.text == "Done."
    assert "is an agent" in aide
    assert not {"staff__helper", "aide"} & set(names)


@pytest.mark.slow
async def test_its_calls_have_the_rights_of_now_and_not_those_of_its_start() -> None:
    model = ScriptedModel(SEARCH_ONLY, SEARCH_ONLY, ANSWER, name="gpt-4")
    async with Pegboard(model=model, tools=[web_search, document_reader]) as board:
        ada = await found(board)
        bob = await invite(board, ada, "bob", "editor")
        await board.catalogue.register([RFC], principal=ada)

        async def demote(query: str) -> str:
            """Search, while an administrator takes the rights of the caller away."""
            await board.identity.organisations.approve("acme", "bob", ["approver"], principal=ada)
            return query

        board.registry.add(tool(effect="read", name="web_search")(demote), replace=True)
        await board.call("research_agent", GIVEN, ToolContext(principal=bob))

    first, second = (
        message.text for message in model.requests[2].messages if isinstance(message, ToolMessage)
    )
    assert "bees" in first
    assert "denied: calls need a role" in second


class SlowPerson:
    """A person who answers after some time."""

    takes_questions = True
    takes_samples = False
    deadline = None

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def ask(self, question: Question) -> Answer:
        await asyncio.sleep(self.seconds)
        return Answer(action="accept", content={"text": question.message})

    async def sample(self, request: SampleRequest) -> Sample:
        raise NotImplementedError


async def test_its_deadline_waits_while_a_person_is_asked() -> None:
    left: list[float | None] = []

    @tool(effect="read", name="web_search")
    async def asking_search(query: str, ctx: ToolContext[Any]) -> str:
        """Ask what is meant, and search the web."""
        answer = await ctx.ask(Question(message=f"Which {query}?", schema={}))
        left.append(ctx.remaining())
        return str(answer.content["text"])

    seconds = 2.0
    async with a_board(SEARCH, SEARCH_ONLY, ANSWER) as (board, model):
        board.registry.add(asking_search, replace=True)
        ctx = ToolContext(deadline=time.monotonic() + seconds, elicitor=SlowPerson(seconds + 0.5))
        result = await board.call("research_agent", GIVEN, ctx)

    assert result.structured == REPORT
    assert model.requests[1].messages[-1].text == "Which bees?"
    assert len(left) == 2
    assert all(it is not None and 0 < it <= seconds + 0.1 for it in left)


async def test_its_deadline_ends_its_run_though_a_person_was_asked() -> None:
    @tool(effect="read", name="web_search")
    async def slow_search(query: str, ctx: ToolContext[Any]) -> str:
        """Ask what is meant, and take for ever."""
        await ctx.ask(Question(message=f"Which {query}?", schema={}))
        await asyncio.sleep(60)
        return ""

    async with a_board(SEARCH, ANSWER, ANSWER) as (board, _):
        board.registry.add(slow_search, replace=True)
        ctx = ToolContext(deadline=time.monotonic() + 1.5, elicitor=SlowPerson(0.1))
        result = await board.call("research_agent", GIVEN, ctx)

    assert result.is_error
    assert isinstance(result.error, ToolTimeout)
