"""Questions of tools, answered by a client in either era."""

from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from tests.servers.mcp.made import RUNS, Records, a_client
from tests.servers.mcp.test_handlers import words

from pegboard.core.elicitation import SampleMessage, SampleRequest
from pegboard.core.result import ImagePart, TextPart
from pegboard.servers.mcp.elicitation import sample_of, sampling
from pegboard.servers.mcp.server import BoardServer


class Person:
    """Answers questions, and keeps them."""

    def __init__(self, *answers: types.ElicitResult) -> None:
        self.answers = list(answers)
        self.asked: list[Any] = []

    async def __call__(self, _ctx: Any, params: Any) -> Any:
        self.asked.append(params)
        return self.answers.pop(0)


class Model:
    """Answers as a model does."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def __call__(self, _ctx: Any, params: Any) -> types.CreateMessageResult:
        self.asked.append(params)
        return types.CreateMessageResult(
            role="assistant",
            content=types.TextContent(text="deep"),
            model="tiny-1",
            stop_reason="endTurn",
        )


def named(name: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": name})


async def test_a_person_answers_and_the_tool_runs_once(
    server: BoardServer, era: str, records: Records
) -> None:
    person = Person(named("Ada"))
    async with a_client(server, era, elicitation_callback=person) as client:
        result = await client.call_tool("ask", {})

    assert words(result) == "accept: Ada"
    assert RUNS == ["asked"]
    assert [call.status for call in records.calls] == ["completed"]
    assert person.asked[0].message == "What is your name?"
    assert person.asked[0].requested_schema["required"] == ["name"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_may_say_no(server: BoardServer, era: str, action: Any) -> None:
    person = Person(types.ElicitResult(action=action))
    async with a_client(server, era, elicitation_callback=person) as client:
        result = await client.call_tool("ask", {})

    assert words(result) == f"{action}: "


async def test_an_answer_that_does_not_fit_fails_the_tool_or_is_asked_for_again(
    server: BoardServer, era: str
) -> None:
    person = Person(named(7), named("Ada"))
    async with a_client(server, era, elicitation_callback=person) as client:
        result = await client.call_tool("ask", {})

    again = era != "legacy"
    assert len(person.asked) == (2 if again else 1)
    assert words(result).startswith("accept: Ada" if again else "The caller's answer does not fit")


async def test_the_callers_model_answers(server: BoardServer, era: str) -> None:
    model = Model()
    async with a_client(server, era, sampling_callback=model) as client:
        result = await client.call_tool("think", {})

    asked = model.asked[0]
    assert words(result) == "tiny-1: deep"
    assert [item.text for item in asked.messages[0].content] == ["Think", "of a"]
    assert (asked.system_prompt, asked.max_tokens) == ("Briefly.", 1000)
    assert asked.model_preferences.speed_priority == 1.0


async def test_several_questions_at_once_and_one_after_the_other(
    server: BoardServer, era: str
) -> None:
    person = Person(named("Ada"), named("Grace"))
    given: Any = {"elicitation_callback": person, "sampling_callback": Model()}
    async with a_client(server, era, **given) as client:
        result = await client.call_tool("ask_twice", {})

    assert words(result) == "Ada deep Grace"


async def test_a_prompt_may_ask_too(server: BoardServer, era: str) -> None:
    async with a_client(server, era, elicitation_callback=Person(named("Ada"))) as client:
        filled = await client.get_prompt("ask_prompt")

    assert filled.messages[0].content.text == "Dear Ada"


async def test_a_person_is_sent_to_a_page(server: BoardServer, era: str) -> None:
    person = Person(types.ElicitResult(action="accept"))
    async with a_client(server, era, elicitation_callback=person) as client:
        result = await client.call_tool("send_away", {})

    assert words(result) == "accept"
    assert person.asked[0].url == "https://example.org/login"


@pytest.mark.parametrize(
    ("name", "needed"), [("ask", {"elicitation": {}}), ("think", {"sampling": {}})]
)
async def test_a_client_that_cannot_be_asked_is_told_what_is_missing(
    client: Any, era: str, name: str, needed: Any
) -> None:
    if era == "legacy":
        result = await client.call_tool(name, {})
        assert result.is_error
        assert "cannot be asked" in words(result) or "there is none" in words(result)
        return
    with pytest.raises(MCPError) as caught:
        await client.call_tool(name, {})
    assert caught.value.code == types.MISSING_REQUIRED_CLIENT_CAPABILITY
    assert caught.value.data == {"requiredCapabilities": needed}


async def test_a_client_that_refuses_fails_the_tool_alone(server: BoardServer) -> None:
    async def refuse(_ctx: Any, _params: Any) -> Any:
        return types.ErrorData(code=-1, message="the person said no, and more: hunter2")

    async with a_client(server, "legacy", sampling_callback=refuse) as client:
        result = await client.call_tool("think", {})

    assert result.is_error
    assert "The caller refused to answer." in words(result)
    assert "hunter2" not in words(result)


@pytest.mark.parametrize(
    ("taken", "name", "said"),
    [
        (types.ElicitationCapability(form=types.FormElicitationCapability()), "send_away", "page"),
        (types.ElicitationCapability(url=types.UrlElicitationCapability()), "ask", "form"),
    ],
    ids=["forms alone", "pages alone"],
)
async def test_a_client_is_asked_only_in_the_ways_that_it_takes(
    server: BoardServer, taken: Any, name: str, said: str
) -> None:
    from tests.servers.mcp.made import NAME

    from pegboard.core.elicitation import Question
    from pegboard.errors import ElicitationUnavailable
    from pegboard.servers.mcp.elicitation import ClientAbilities

    abilities = ClientAbilities(types.ClientCapabilities(elicitation=taken))
    question = NAME if name == "ask" else Question(message="Log in", url="https://example.org")

    with pytest.raises(ElicitationUnavailable, match=said):
        abilities.check(question)

    assert abilities.takes_questions
    assert abilities.any
    assert "elicitation" in abilities.missed


def test_pictures_go_to_a_model_and_come_back() -> None:
    picture = ImagePart(data=b"\x89PNG", media_type="image/png")
    message = SampleMessage(role="user", content=(picture,))
    asked = sampling(SampleRequest(messages=(message,), stop_sequences=("end",)))
    block: Any = asked.params.messages[0].content

    back = sample_of(types.CreateMessageResult(role="assistant", content=block, model="m"))

    assert asked.params.stop_sequences == ["end"]
    assert (back.content, back.stop_reason) == ((picture,), "")


def test_a_kind_of_answer_that_is_not_known_is_named() -> None:
    from pegboard.servers.mcp.content_blocks import parts_of

    link = types.ResourceLink(uri="docs://a", name="a")
    sound = types.AudioContent(data="UklGRg==", mime_type="audio/wav")

    assert parts_of([link])[0] == TextPart(text="[resource_link]")
    assert parts_of([sound])[0].data == b"RIFF"  # type: ignore[union-attr]  # a sound came in
