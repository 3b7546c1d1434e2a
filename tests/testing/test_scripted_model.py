import pytest

from pegboard import Agent
from pegboard.core.model_messages import (
    ModelRequest,
    ModelTool,
    TextDelta,
    ThinkingDelta,
    ToolMessage,
    UserMessage,
)
from pegboard.core.ports.chat_model import complete
from pegboard.errors import Unavailable
from pegboard.testing import ScriptDrift, ScriptedModel, Turn

ASKED = ModelRequest(
    messages=(UserMessage(text="what is 6 * 7?"),),
    tools=(ModelTool(name="calculator", description="", parameters={}),),
)


async def test_it_streams_its_turns_word_by_word() -> None:
    model = ScriptedModel(Turn(text="It is  42.", thinking="hm"))
    parts = [part async for part in model.stream(ASKED)]

    assert parts[0] == ThinkingDelta("hm")
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == "It is  42."
    assert len(parts) > 3


async def test_calls_have_ids_of_their_own_and_arguments_as_text() -> None:
    model = ScriptedModel(Turn(calls=(("a", {"n": 1}), ("b", "{broken"))))
    calls = (await complete(model, ASKED)).message.calls

    assert [(call.name, call.arguments) for call in calls] == [("a", '{"n": 1}'), ("b", "{broken")]
    assert len({call.id for call in calls}) == 2


async def test_a_turn_may_be_made_from_the_request() -> None:
    model = ScriptedModel(lambda request: Turn(text=str(len(request.tools))))

    assert (await complete(model, ASKED)).message.text == "1"


async def test_an_error_of_the_script_is_raised() -> None:
    with pytest.raises(Unavailable):
        await complete(ScriptedModel(Turn(error=Unavailable("busy"))), ASKED)


@pytest.mark.parametrize(
    ("turns", "message"),
    [
        ((), "asked 1 times"),
        ((Turn(expects=("weather",)),), "expects 'weather'"),
        ((Turn(tools=("search",)),), r"expects the tools \['search'\]"),
    ],
)
async def test_a_request_that_the_script_does_not_expect_fails(
    turns: tuple[Turn, ...], message: str
) -> None:
    with pytest.raises(ScriptDrift, match=message):
        await complete(ScriptedModel(*turns), ASKED)


async def test_what_tools_answered_since_the_last_turn_is_expected_together() -> None:
    asked = ModelRequest(
        messages=(
            UserMessage(text="earlier"),
            ToolMessage(call_id="1", name="a", text="first"),
            ToolMessage(call_id="2", name="b", text="second"),
        )
    )
    await complete(ScriptedModel(Turn(expects=("first", "second"))), asked)


async def test_turns_that_nobody_asked_for_are_noticed() -> None:
    model = ScriptedModel(Turn(text="one"), Turn(text="two"))
    await complete(model, ASKED)

    with pytest.raises(ScriptDrift, match="1 of 2"):
        model.assert_exhausted()
    model.add([Turn(text="three")])
    for _ in range(2):
        await complete(model, ASKED)
    model.assert_exhausted()


async def test_a_drift_is_the_error_of_the_agent_and_is_not_forgotten() -> None:
    model = ScriptedModel(Turn(text="Hello.", expects=("weather",)))
    result = await Agent(model).run("hi")

    assert result.state == "failed"
    assert result.error is not None
    assert result.error["message"] == "Turn 1 expects 'weather'; the last message is 'hi'."
    with pytest.raises(ScriptDrift, match="expects 'weather'"):
        model.assert_exhausted()
