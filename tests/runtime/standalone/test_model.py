"""One exchange with a model, in a program."""

from pegboard import tool
from pegboard.core.model_messages import UserMessage
from pegboard.testing import ScriptedModel, Turn


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


ADD = Turn(calls=(("add", {"a": 1, "b": 2}),))
THREE = Turn(text="It is 3.", expects=("3",))


async def test_an_exchange_runs_the_calls_that_it_needs() -> None:
    model = ScriptedModel(ADD, THREE)
    result = await model.chat("What is 1 + 2?", tools=[add], instructions="Be brief.")

    assert (result.output, len(result.calls)) == ("It is 3.", 1)
    assert model.requests[0].messages[0].text == "Be brief."


async def test_an_exchange_without_tools_sends_none_and_no_instructions() -> None:
    model = ScriptedModel(Turn(text="Hello."))
    await model.chat("hi")

    assert model.requests[0].tools == ()
    assert model.requests[0].messages == (UserMessage(text="hi"),)


def test_the_sync_form_runs_async_tools_too() -> None:
    assert ScriptedModel(ADD, THREE).chat_sync("?", tools=[add]).output == "It is 3."


async def test_an_exchange_goes_on_with_the_messages_of_another() -> None:
    model = ScriptedModel(Turn(text="Hello Ada."), Turn(text="Ada."))
    first = await model.chat("I am Ada.")
    await model.chat("Who am I?", messages=first.messages)

    assert len(model.requests[1].messages) == 3
