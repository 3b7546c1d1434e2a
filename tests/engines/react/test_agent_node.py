"""An agent answers: turns, calls, approvals, limits, crashes."""

import asyncio
from typing import Any

import pytest
from tests.engines.made import ASK, add_filler, agent_runner, ask, output_of, told
from tests.graphs.made import Bench, at_the_bench
from tests.graphs.test_runner import after_a_crash, recovered

from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.model_messages import (
    AssistantMessage,
    ModelSettings,
    ModelUsage,
    SystemMessage,
    UserMessage,
)
from pegboard.core.run import RunResult
from pegboard.engines import AgentLimits, ContextState
from pegboard.errors import GraphInvalid, InvalidRequest, Unavailable
from pegboard.testing import ScriptedModel, Turn


def test_an_answer_without_tools_is_one_turn() -> None:
    model = ScriptedModel(Turn(text="Hello Ada."))
    result = at_the_bench(lambda bench: ask(bench, model, "I am Ada"))

    assert result.state is NodeState.COMPLETED
    assert result.output["text"] == "Hello Ada."
    system, question = model.requests[0].messages
    assert isinstance(system, SystemMessage)
    assert question.text == "I am Ada"


def test_without_instructions_there_is_no_system_prompt() -> None:
    model = ScriptedModel(Turn(text="Hello."))
    at_the_bench(lambda bench: ask(bench, model, instructions=""))

    assert [item.text for item in model.requests[0].messages] == ["hi"]


def test_calls_of_a_turn_run_at_once_and_their_results_are_the_next_question() -> None:
    async def work(bench: Bench) -> tuple[RunResult, int]:
        model = ScriptedModel(
            Turn(calls=(("read", {"n": 1}), ("read", {"n": 2}))),
            Turn(text="Both.", expects=('"n":1', '"n":2')),
        )
        return await ask(bench, model), bench.world.most

    result, most = at_the_bench(work)

    assert most == 2
    assert told(result) == ["assistant: ", 'tool: {"n":1}', 'tool: {"n":2}', "assistant: Both."]
    assert output_of(result)["calls"] == 2
    assert output_of(result)["usage"]["requests"] == 2


def test_a_model_that_fails_fails_the_run_and_keeps_what_was_done() -> None:
    model = ScriptedModel(Turn(calls=(("read", {"n": 1}),)), Turn(error=Unavailable("busy")))
    result = at_the_bench(lambda bench: ask(bench, model))

    assert result.state is NodeState.FAILED
    assert (result.error or {})["message"] == "busy"
    assert told(result) == ["assistant: ", 'tool: {"n":1}']


def test_a_crash_repeats_no_turn_and_no_call_that_ended() -> None:
    models = [
        ScriptedModel(Turn(calls=(("read", {"n": 1}), ("read", {"n": 2, "seconds": 5})))),
        ScriptedModel(Turn(text="Both.", expects=('"n":1', '"n":2'))),
    ]

    async def again(bench: Bench) -> tuple[RunResult, list[Any]]:
        agent_runner(bench, models[1])
        return await recovered(bench), [arguments["n"] for _, arguments, _ in bench.world.began]

    result, began = after_a_crash(lambda bench: ask(bench, models[0]), again, at=1)

    assert result.output["text"] == "Both."
    assert began == [1, 2, 2]
    assert output_of(result)["usage"]["requests"] == 2


def test_cancelling_keeps_what_was_said_and_answers_every_call() -> None:
    async def work(bench: Bench) -> RunResult:
        model = ScriptedModel(
            Turn(text="Wait.", calls=(("read", {"n": 1}), ("look", {"seconds": 9})))
        )
        runner = agent_runner(bench, model)
        run_id = await runner.start(ASK, {"message": "hi"})
        await asyncio.sleep(1)
        await runner.cancel(run_id)
        return await runner.result(run_id)

    result = at_the_bench(work)

    assert result.state is NodeState.CANCELLED
    assert [line.partition(":")[0] for line in told(result)] == ["assistant", "tool", "tool"]


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (AgentLimits(turns=2), "2 turns"),
        (AgentLimits(calls=2), "2 calls"),
        (AgentLimits(tokens=100), "100 tokens"),
        (AgentLimits(cost=0.5), "0.5 cost"),
        (AgentLimits(seconds=0.25), "0.25 seconds"),
    ],
    ids=["turns", "calls", "tokens", "cost", "seconds"],
)
def test_a_run_that_reaches_a_limit_fails_with_its_name(limits: AgentLimits, message: str) -> None:
    usage = ModelUsage(requests=1, input_tokens=60, cost=0.3)
    turns = [Turn(calls=(("read", {"n": n}),), usage=usage) for n in range(5)]
    result = at_the_bench(lambda bench: ask(bench, ScriptedModel(*turns), limits=limits))

    assert (result.error or {})["code"] == "limit_reached"
    assert message in (result.error or {})["message"]


@pytest.mark.parametrize(
    "node",
    [
        Node(id="a", kind="agent", input={"message": "hi"}, config={"modle": "x"}),
        Node(id="a", kind="agent"),
        Node(
            id="a",
            kind="agent",
            input={"message": "hi"},
            config={"output_schema": {"type": "array"}},
        ),
    ],
    ids=["an unknown setting", "no message", "a schema of no object"],
)
def test_a_node_that_cannot_work_is_refused_before_it_runs(node: Node) -> None:
    async def work(bench: Bench) -> None:
        with pytest.raises(GraphInvalid):
            await agent_runner(bench, ScriptedModel()).start(Graph(nodes=(node,)))

    at_the_bench(work)


def test_a_summary_is_written_by_the_fast_model_and_counts() -> None:
    turns = [
        Turn(calls=tuple(("fill", {"n": 10 * turn + n, "size": 250}) for n in range(10)))
        for turn in range(4)
    ]
    model = ScriptedModel(*turns, Turn(text="done"), context_window=12_000)
    fast = ScriptedModel(Turn(text="Nothing yet.", usage=ModelUsage(requests=1, input_tokens=500)))

    async def work(bench: Bench) -> RunResult:
        add_filler(bench)
        return await ask(bench, model, fast_model=fast)

    output = output_of(at_the_bench(work))

    fast.assert_exhausted()
    assert output["usage"]["input_tokens"] == 500
    assert output["context"]["summary"] == "Nothing yet."


def test_a_conversation_goes_on_with_what_was_left_out_before() -> None:
    history = [UserMessage(text="Hi"), AssistantMessage(text="Hello"), UserMessage(text="Who?")]
    model = ScriptedModel(Turn(text="done"))
    state = ContextState(omitted=3, summary="They greeted.", room=5)
    result = at_the_bench(lambda bench: ask(bench, model, history=history, context_state=state))

    assert [message.text for message in model.requests[0].messages[2:]] == ["Who?", "hi"]
    assert output_of(result)["context"] == {"omitted": 3, "summary": "They greeted."}


SHAPE: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
FORM: dict[str, Any] = {"output_schema": SHAPE, "settings": {"temperature": 0.5, "seed": 7}}


def test_an_answer_has_the_form_that_its_node_asks_for() -> None:
    model = ScriptedModel(
        Turn(calls=(("read", {"n": 1}),)),
        Turn(text="It is one."),
        Turn(text='Sorry: {"n": "1"}'),
    )
    result = at_the_bench(lambda bench: ask(bench, model, config=FORM))

    assert result.output["text"] == '{"n":1}'
    assert told(result)[-1] == 'assistant: {"n":1}'
    assert "there is no JSON object in the answer" in model.requests[2].messages[-1].text
    order = model.requests[0].messages[1]
    assert isinstance(order, SystemMessage)
    assert "It must fit this JSON Schema" in order.text
    assert {request.output_schema is None for request in model.requests} == {True}
    assert model.requests[0].settings == ModelSettings(temperature=0.5, seed=7)


def test_a_provider_that_can_holds_an_agent_to_the_form_and_its_tools_stay() -> None:
    model = ScriptedModel(
        Turn(calls=(("read", {"n": 1}),)), Turn(text='{"n": 1}'), supports_schema=True
    )
    at_the_bench(lambda bench: ask(bench, model, config=FORM))

    assert [request.output_schema for request in model.requests] == [SHAPE, SHAPE]
    assert {bool(request.tools) for request in model.requests} == {True}


def test_a_provider_that_refuses_the_form_is_asked_without_it() -> None:
    model = ScriptedModel(
        Turn(error=InvalidRequest("no schemas")), Turn(text='{"n": 1}'), supports_schema=True
    )
    result = at_the_bench(lambda bench: ask(bench, model, config=FORM))

    assert result.output["text"] == '{"n":1}'
    assert [request.output_schema for request in model.requests] == [SHAPE, None]


def test_any_object_is_not_enforced_by_a_provider() -> None:
    model = ScriptedModel(Turn(text='{"a": 1}'), supports_schema=True)
    form = {"output_schema": {"type": "object"}}
    result = at_the_bench(lambda bench: ask(bench, model, config=form))

    assert result.output["text"] == '{"a":1}'
    assert model.requests[0].output_schema is None


def test_an_answer_that_never_has_its_form_fails_the_run_and_counts() -> None:
    used = ModelUsage(requests=1, output_tokens=5)
    model = ScriptedModel(
        Turn(text="No.", usage=used),
        Turn(text='{"n": 1', is_cut=True, usage=used),
        Turn(text='{"m": 1}', usage=used),
    )
    result = at_the_bench(lambda bench: ask(bench, model, config=FORM))

    assert result.state is NodeState.FAILED
    assert (result.error or {})["code"] == "unavailable"
    assert "gave no answer in the requested form, 3 times" in (result.error or {})["message"]
    assert "be brief" in model.requests[2].messages[-1].text
    assert output_of(result)["usage"]["output_tokens"] == 15


def test_an_answer_that_was_cut_says_why_it_ended() -> None:
    model = ScriptedModel(Turn(text="It is", is_cut=True))
    result = at_the_bench(lambda bench: ask(bench, model))

    assert (result.output["text"], result.output["finish"]) == ("It is", "length")
