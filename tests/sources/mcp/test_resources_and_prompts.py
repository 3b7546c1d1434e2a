"""A server's resources and prompts, read, filled in and completed."""

from typing import Any

import mcp_types as types
import pytest
from tests.sources.mcp.opening import call_of, opened, over_http
from tests.sources.mcp.workshop import server as workshop

from pegboard.core.resources_and_prompts import Completer, Completion, PromptArgument
from pegboard.core.result import ResourcePart, TextPart
from pegboard.sources.mcp.resources_and_prompts import (
    ServerPrompt,
    ServerResource,
    prompts_of,
    resources_of,
)
from pegboard.sources.mcp.source import McpSource

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start


async def _resources(source: McpSource) -> dict[str, Any]:
    return {item.spec.uri: item for item in await source.resources()}


async def test_resources_and_templates_are_listed_and_read() -> None:
    async with over_http(workshop) as door, opened({"url": door.url}) as source:
        found = await _resources(source)
        text = await found["shelf://plan"].read("shelf://plan", call_of())
        blob = await found["shelf://parts/{number}"].read("shelf://parts/7", call_of())

    assert list(found) == ["shelf://plan", "shelf://parts/{number}"]
    assert text == [ResourcePart("shelf://plan", "text/plain", text="a chair")]
    assert blob[0].data == b"part 7"
    assert found["shelf://plan"].spec.source == "shop"


async def test_prompts_are_filled_in() -> None:
    async with over_http(workshop) as door, opened({"url": door.url}) as source:
        prompts = {item.spec.action: item for item in await source.prompts()}
        filled = await prompts["order"].fill({"thing": "chair", "colour": "blue"}, call_of())

    assert prompts["order"].spec.name == "shop__order"
    assert prompts["order"].spec.arguments == (
        PromptArgument(name="thing", required=True),
        PromptArgument(name="colour"),
    )
    assert [(item.role, item.content) for item in filled.messages] == [
        ("user", TextPart("Please build a blue chair."))
    ]


async def test_arguments_of_prompts_and_templates_are_completed() -> None:
    async with over_http(workshop) as door, opened({"url": door.url}) as source:
        prompt = (await source.prompts())[0]
        template = (await _resources(source))["shelf://parts/{number}"]
        assert isinstance(prompt, Completer)
        first = await prompt.complete("thing", "ch", {}, call_of())
        second = await template.complete("number", "t", {"x": "y"}, call_of())

    assert first == Completion(values=("chair", "chest"), total=2)
    assert second.values == ("table",)


async def test_what_the_operator_leaves_out_is_not_asked_for() -> None:
    config = {"resources": False, "prompts": False}
    async with over_http(workshop) as door, opened({"url": door.url, **config}) as source:
        assert await source.resources() == []
        assert await source.prompts() == []


async def test_what_a_server_does_not_have_is_not_asked_for() -> None:
    from tests.sources.mcp.test_source import TIME

    async with opened({"command": TIME}) as source:
        assert await source.resources() == []
        assert await source.prompts() == []


def test_a_resource_keeps_what_the_server_says_of_it_and_counts_once() -> None:
    told = types.Resource(
        uri="a://b",
        name="b",
        title="B",
        description="A thing.",
        mime_type="text/x",
        size=3,
        annotations=types.Annotations(audience=["user"], priority=0.5),
    )
    upstream: Any = None
    items = resources_of("s", [told, told], upstream)

    assert len(items) == 1
    spec = ServerResource("s", told, upstream).spec
    assert (spec.title, spec.description, spec.media_type) == ("B", "A thing.", "text/x")
    assert (spec.size, spec.audience, spec.priority) == (3, ("user",), 0.5)
    assert ServerPrompt("s", types.Prompt(name="p"), upstream).spec.arguments == ()


def test_a_prompt_without_a_name_costs_the_others_nothing() -> None:
    upstream: Any = None
    found = prompts_of("shop", [types.Prompt(name=""), types.Prompt(name="order")], upstream)

    assert [item.spec.name for item in found] == ["shop__order"]
