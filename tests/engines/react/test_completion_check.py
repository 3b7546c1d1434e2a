"""The completion check: which answers it lets pass, and how it sends a model on."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.engines.made import ask, output_of, reported, told
from tests.graphs.made import Bench, at_the_bench

from pegboard.core.graph import NodeState
from pegboard.core.model_messages import (
    AssistantMessage,
    Finish,
    Message,
    ModelResponse,
    ModelUsage,
    ToolCall,
    ToolMessage,
)
from pegboard.engines import AgentLimits
from pegboard.engines.react.completion_check import find_gap
from pegboard.testing import ScriptedModel, Turn

READ = Turn(calls=(("read", {"n": 1}),))
FIRST = "Let me look up the second one."


def judge(text: str, *, fails: bool = False, acts: bool = True, finish: Finish = "stop") -> str:
    call = ToolCall(id="c1", name="refund", arguments="{}")
    messages: list[Message] = [
        AssistantMessage(calls=(call,)),
        ToolMessage(call_id="c1", name="refund", text="x", is_error=fails),
    ]
    response = ModelResponse(
        message=AssistantMessage(text=text), finish=finish, usage=ModelUsage(requests=1)
    )
    return find_gap(response, messages, lambda made: made.name if acts else "")


@pytest.mark.parametrize(
    "text",
    [
        " \n",
        "I found the order. Let me check the refund policy:",
        "Now I'll search for the customer.",
        "First, I will query the orders.",
        "Die Bestellung gibt es. Ich werde jetzt den Kunden abrufen.",
    ],
    ids=["empty", "let me", "I'll", "I will", "German"],
)
def test_an_answer_that_is_none_has_a_gap(text: str) -> None:
    assert judge(text)


@pytest.mark.parametrize(
    "text",
    [
        "The order is on its way.",
        "Let me know if you need more.",
        "I will be at your side. Here is the list: 1, 2.",
        "Let me check: it is on its way.\n\nIt arrives on Friday.",
        "I'll ship it on Monday.",
        "Ich werde oft gefragt, was das kostet: 3 Euro.",
    ],
    ids=["plain", "let me know", "a later sentence", "followed", "no look-up", "German"],
)
def test_an_answer_passes(text: str) -> None:
    assert not judge(text)


def test_a_failed_change_that_is_not_spoken_of_is_a_gap() -> None:
    assert "'refund' failed" in judge("Your refund is done.", fails=True)


@pytest.mark.parametrize(
    "text",
    [
        "The refund failed.",
        "I couldn't refund it.",
        "Sorry.",
        "Das ging leider nicht.",
        "返金しました。",
    ],
    ids=["failed", "could not", "sorry", "German", "a script that the rules do not know"],
)
def test_a_failed_change_that_may_be_spoken_of_passes(text: str) -> None:
    assert not judge(text, fails=True)


def test_a_failed_call_that_only_reads_passes() -> None:
    assert not judge("It is on its way.", fails=True, acts=False)


def test_an_answer_that_was_cut_is_not_judged() -> None:
    assert not judge("", finish="length")


def test_a_model_is_sent_on_once_and_its_next_answer_counts() -> None:
    async def work(bench: Bench) -> tuple[list[str], str, list[Mapping[str, Any]]]:
        model = ScriptedModel(READ, Turn(text=FIRST), Turn(text=FIRST))
        result = await ask(bench, model)
        assert result.state is NodeState.COMPLETED
        phases = [data for _, data in reported(bench, "phase")]
        return told(result), output_of(result)["text"], phases

    messages, text, phases = at_the_bench(work)

    assert text == FIRST
    assert "further step" in messages[3]
    assert [line.partition(":")[0] for line in messages] == [
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert phases == [
        {
            "phase": "complete",
            "turn": 2,
            "reason": "The answer announces a further step, which was not taken.",
        }
    ]


@pytest.mark.parametrize(
    ("turns", "known"),
    [
        ((READ, Turn(text=FIRST)), {"completion_check": False}),
        ((READ, Turn(text=FIRST)), {"limits": AgentLimits(turns=3)}),
        (
            (READ, Turn(text=FIRST, usage=ModelUsage(requests=1, input_tokens=100))),
            {"limits": AgentLimits(tokens=100)},
        ),
        ((Turn(text=FIRST),), {}),
    ],
    ids=["turned off", "no turn to call in", "no tokens left", "no tool was used"],
)
def test_a_model_is_not_sent_on(turns: tuple[Turn, ...], known: dict[str, Any]) -> None:
    result = at_the_bench(lambda bench: ask(bench, ScriptedModel(*turns), **known))

    assert result.state is NodeState.COMPLETED
    assert output_of(result)["text"] == FIRST


@pytest.mark.parametrize(
    ("tool", "answer"), [("pay", "It failed."), ("read", "Done.")], ids=["a change", "a read"]
)
def test_a_model_is_sent_on_from_a_change_that_failed(tool: str, answer: str) -> None:
    async def work(bench: Bench) -> str:
        turns = [Turn(calls=((tool, {"fail": "out of money"}),)), Turn(text="Done.")]
        if tool == "pay":
            turns.append(Turn(text="It failed."))
        return output_of(await ask(bench, ScriptedModel(*turns)))["text"]

    assert at_the_bench(work) == answer
