"""A model of a program that is known by its name."""

import pytest
from tests.features.conversations.made import ask, text_of
from tests.models.made import a_provider, call, text

from pegboard import Model, Pegboard, tool
from pegboard.runtime.standalone.named_model import open_model
from pegboard.testing import ScriptedModel


@tool(effect="read")
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def test_a_named_model_is_reached_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with a_provider() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        provider.answers += [call("add", '{"a": 1, "b": 2}'), text("It is ", "3."), text("Hello.")]
        result = await Model("openai:tiny-1").chat("?", tools=[add])
        async with Pegboard(model=Model()) as board:  # the only model that the server has
            events, _ = await ask(board, "hi")

    assert result.output == "It is 3."
    assert text_of(events) == "Hello."


async def test_a_model_that_is_given_is_used_as_it_is() -> None:
    given = ScriptedModel()

    async with open_model(given) as model:
        assert model is given
