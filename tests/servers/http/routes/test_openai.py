"""OpenAI's own client, against a server of ours."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from tests.features.conversations.made import ORDER, TOTAL, find_order, refund
from tests.servers.http.live import a_server

from pegboard.core.model_messages import ModelSettings, ModelUsage
from pegboard.core.principal import LOCAL
from pegboard.errors import InvalidRequest
from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn

BOARD = """
policy: {ask: [refund]}
agents:
  - {name: shop, instructions: You work for a shop., tools: [find_order, refund], temperature: 0.2}
  - {name: lost, tools: [no_such_tool]}
"""
SYSTEM = {"role": "system", "content": "x"}
USAGE = ModelUsage(requests=1, input_tokens=20, output_tokens=5)
ASKED: Any = [{"role": "user", "content": "What was the total of order 7?"}]


class Door:
    """A client, and what stands behind its server."""

    def __init__(self, client: openai.AsyncOpenAI, board: Pegboard, model: ScriptedModel) -> None:
        self.client = client
        self.board = board
        self.model = model


@pytest.fixture
async def door(tmp_path: Path) -> AsyncGenerator[Door]:
    (tmp_path / "board.yaml").write_text(BOARD)
    model = ScriptedModel()
    board = Pegboard(tmp_path / "board.yaml", model=model, tools=[find_order, refund])
    async with (
        a_server(board) as url,
        openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0) as client,
    ):
        yield Door(client, board, model)


async def test_a_completion_uses_the_tools_of_the_server(door: Door) -> None:
    door.model.add([ORDER, Turn(text="It is 12.50 euros.", expects=("12.5",), usage=USAGE)])
    answer = await door.client.chat.completions.create(model="shop", messages=ASKED)

    assert answer.model == "shop"
    assert answer.choices[0].message.content == "It is 12.50 euros."
    assert answer.usage is not None
    assert answer.usage.total_tokens == 25
    first = door.model.requests[0]
    assert first.messages[0].text == "You work for a shop."
    assert [tool.name for tool in first.tools] == ["find_order", "refund"]


async def test_a_completion_is_streamed(door: Door) -> None:
    door.model.add([ORDER, TOTAL])
    stream = await door.client.chat.completions.create(
        model="auto", messages=ASKED, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]

    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == "It is 12.50 euros."
    assert chunks[-1].usage is not None


async def test_a_response_shows_the_calls_and_goes_on_from_an_earlier_one(door: Door) -> None:
    door.model.add([ORDER, TOTAL, Turn(text="You are welcome.")])
    first = await door.client.responses.create(model="auto", input="The total of order 7?")
    second = await door.client.responses.create(
        model="auto", input="Thanks!", previous_response_id=first.id
    )

    assert [item.type for item in first.output] == ["mcp_call", "message"]
    assert (first.output_text, second.output_text) == ("It is 12.50 euros.", "You are welcome.")
    told = [message.text for message in door.model.requests[-1].messages[1:]]
    assert told[0] == "The total of order 7?"
    assert told[-2:] == ["It is 12.50 euros.", "Thanks!"]


async def test_the_output_of_a_response_can_be_its_next_input(door: Door) -> None:
    door.model.add([ORDER, TOTAL, Turn(text="You are welcome.")])
    first = await door.client.responses.create(model="auto", input=ASKED)
    items: Any = [*ASKED, *[item.model_dump() for item in first.output], ASKED[0]]
    second = await door.client.responses.create(model="auto", input=items)

    assert second.output_text == "You are welcome."
    assert len(door.model.requests[-1].messages) == 6


async def test_a_response_is_streamed(door: Door) -> None:
    door.model.add([ORDER, TOTAL])
    async with door.client.responses.stream(model="auto", input="?") as stream:
        kinds = [event.type async for event in stream]
        final = await stream.get_final_response()

    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert final.output_text == "It is 12.50 euros."


class Total(BaseModel):
    """What is asked for."""

    order: int
    total: float


FITS = '{"order": 7, "total": 12.5}'


@pytest.mark.parametrize("model", ["auto", "shop"])
async def test_settings_of_a_request_reach_the_model(door: Door, model: str) -> None:
    door.model.add([ORDER, TOTAL, Turn(text="Hm.")])
    await door.client.chat.completions.create(
        model=model,
        messages=ASKED,
        temperature=0.5,
        top_p=0.9,
        max_completion_tokens=100,
        stop=["END"],
        seed=7,
    )
    await door.client.responses.create(model=model, input="?", top_p=0.5, max_output_tokens=50)

    asked = [request.settings for request in door.model.requests]
    wanted = ModelSettings(temperature=0.5, top_p=0.9, max_output=100, stop=("END",), seed=7)
    kept = 0.2 if model == "shop" else None
    assert asked == [wanted, wanted, ModelSettings(temperature=kept, top_p=0.5, max_output=50)]


async def test_an_answer_that_was_cut_says_so(door: Door) -> None:
    door.model.add([Turn(text="It is", is_cut=True)] * 2)
    answer = await door.client.chat.completions.create(
        model="auto", messages=ASKED, max_completion_tokens=2
    )
    response = await door.client.responses.create(model="auto", input="?", max_output_tokens=2)

    assert answer.choices[0].finish_reason == "length"
    assert response.incomplete_details is not None
    assert (response.status, response.incomplete_details.reason) == (
        "incomplete",
        "max_output_tokens",
    )


async def test_an_answer_is_parsed_by_the_schema_of_the_client(door: Door) -> None:
    door.model.add([ORDER, Turn(text="It is 12.50 euros."), Turn(text=f"Here: {FITS}")])
    answer = await door.client.chat.completions.parse(
        model="auto", messages=ASKED, response_format=Total
    )

    assert answer.choices[0].message.parsed == Total(order=7, total=12.5)
    faults = door.model.requests[-1].messages[-1].text
    assert "there is no JSON object in the answer" in faults
    assert '"total"' in faults


async def test_a_schema_is_no_template(door: Door) -> None:
    text = "{{ params.message }} $.params.message {% raw"
    schema = {"type": "object", "properties": {"a": {"const": text}}, "required": ["a"]}
    door.model.add([Turn(text=json.dumps({"a": text}))])
    named: Any = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    answer = await door.client.chat.completions.create(
        model="auto", messages=ASKED, response_format=named
    )

    assert json.loads(answer.choices[0].message.content or "") == {"a": text}


async def test_a_response_is_parsed_by_the_schema_of_the_client(door: Door) -> None:
    door.model.add([ORDER, Turn(text=FITS)])
    response = await door.client.responses.parse(model="shop", input="?", text_format=Total)

    assert response.output_parsed == Total(order=7, total=12.5)
    assert response.text is not None
    assert response.text.format is not None
    assert response.text.format.type == "json_schema"


async def test_json_is_streamed_when_it_is_checked(door: Door) -> None:
    door.model.add([ORDER, Turn(text="It is 12.50 euros."), Turn(text=FITS)])
    stream = await door.client.chat.completions.create(
        model="auto", messages=ASKED, stream=True, response_format={"type": "json_object"}
    )
    texts = [chunk.choices[0].delta.content async for chunk in stream]

    assert [json.loads(text) for text in texts if text] == [{"order": 7, "total": 12.5}]


async def test_the_client_parses_what_is_streamed(door: Door) -> None:
    door.model.add([ORDER, Turn(text="One moment."), Turn(text=FITS), ORDER, Turn(text=FITS)])
    async with door.client.chat.completions.stream(
        model="auto", messages=ASKED, response_format=Total
    ) as chunks:
        answer = await chunks.get_final_completion()
    async with door.client.responses.stream(model="shop", input="?", text_format=Total) as stream:
        response = await stream.get_final_response()

    assert answer.choices[0].message.parsed == Total(order=7, total=12.5)
    assert response.output_parsed == Total(order=7, total=12.5)


async def test_an_answer_that_never_fits_its_schema_is_an_error(door: Door) -> None:
    door.model.add([Turn(text="No."), Turn(text='{"order": "x"}'), Turn(text="Never.")])
    with pytest.raises(openai.InternalServerError, match="in the requested form, 3 times"):
        await door.client.chat.completions.parse(
            model="auto", messages=ASKED, response_format=Total
        )


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"logprobs": True}, "logprobs"),
        ({"n": 2}, "n"),
        ({"temperature": 3}, "temperature"),
        ({"extra_body": {"no_such": 1}}, "no_such"),
        ({"reasoning_effort": "low"}, "reasoning_effort"),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "x", "schema": {"type": "array"}},
                }
            },
            "response_format.json_schema.schema",
        ),
    ],
    ids=["logprobs", "n", "a range", "unknown", "reasoning", "a schema"],
)
async def test_a_parameter_that_is_not_supported_is_named(
    door: Door, given: Any, param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        await door.client.chat.completions.create(model="auto", messages=ASKED, **given)

    assert (caught.value.param, caught.value.code) == (param, "request_invalid")
    assert door.model.requests == []


async def test_a_setting_that_the_model_does_not_take_is_a_refusal(door: Door) -> None:
    door.model.add([Turn(error=InvalidRequest("The model 'x' takes no 'seed': leave it out."))])
    with pytest.raises(openai.BadRequestError, match="takes no 'seed'"):
        await door.client.chat.completions.create(model="auto", messages=ASKED, seed=7)


async def test_the_models_are_auto_and_the_agents(door: Door) -> None:
    assert [item.id async for item in door.client.models.list()] == ["auto", "shop", "lost"]
    assert (await door.client.models.retrieve("shop")).owned_by == "pegboard"
    with pytest.raises(openai.NotFoundError):
        await door.client.models.retrieve("nobody")


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        ({"model": "gpt-4"}, openai.NotFoundError, "model_not_found"),
        ({"messages": []}, openai.BadRequestError, "request_invalid"),
        ({"messages": [SYSTEM]}, openai.BadRequestError, "request_invalid"),
        ({"n": 2}, openai.BadRequestError, "request_invalid"),
        ({"tools": [{"type": "function"}]}, openai.BadRequestError, "request_invalid"),
        ({"model": "lost"}, openai.InternalServerError, "unavailable"),
    ],
    ids=["no agent", "no messages", "no question", "two answers", "tools", "an unavailable agent"],
)  # fmt: skip
async def test_a_refusal_is_an_error_of_the_client(
    door: Door, body: Any, kind: type[openai.APIStatusError], code: str
) -> None:
    with pytest.raises(kind) as caught:
        await door.client.chat.completions.create(**({"model": "auto", "messages": ASKED} | body))

    assert caught.value.code == code
    assert caught.value.type in {"invalid_request_error", "server_error"}


async def test_a_model_that_fails_is_an_error_streamed_or_not(door: Door) -> None:
    door.model.add([Turn(error=ValueError("key sk-123"))] * 2)
    with pytest.raises(openai.InternalServerError) as whole:
        await door.client.chat.completions.create(model="auto", messages=ASKED)
    with pytest.raises(openai.APIError) as streamed:
        await read_stream(door)

    assert "sk-123" not in f"{whole.value}{streamed.value}"


async def test_an_answer_waits_for_an_approval(door: Door) -> None:
    door.model.add([Turn(calls=(("refund", {"number": 7}),)), Turn(text="Done.")])
    asking = asyncio.create_task(door.client.chat.completions.create(model="auto", messages=ASKED))
    approval = await an_approval(door)
    await door.board.approvals.decide(approval, "approve", principal=LOCAL)

    assert (await asking).choices[0].message.content == "Done."


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_a_client_that_goes_away_cancels_its_answer(door: Door, *, streams: bool) -> None:
    door.model.add([Turn(calls=(("refund", {"number": 7}),))])

    whole = door.client.chat.completions.create
    asking = asyncio.create_task(
        read_stream(door) if streams else whole(model="auto", messages=ASKED)
    )
    await an_approval(door)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking

    async with asyncio.timeout(5):
        while (await door.board.runs.list(principal=LOCAL)).runs[0].result.state != "cancelled":  # noqa: ASYNC110 - as below
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
async def test_a_client_that_goes_away_leaves_the_answer_to_others_with_its_key(
    door: Door, *, streams: bool
) -> None:
    door.model.add([Turn(calls=(("refund", {"number": 7}),)), Turn(text="Done.")])

    async def ask() -> str | None:
        answer = await door.client.chat.completions.create(
            model="auto", messages=ASKED, extra_headers=KEY
        )
        return answer.choices[0].message.content

    leaving = asyncio.create_task(read_stream(door, KEY) if streams else ask())
    approval = await an_approval(door)
    staying = asyncio.create_task(ask())
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    await door.client.models.list()  # after the server has seen that the connection is closed
    await door.board.approvals.decide(approval, "approve", principal=LOCAL)

    assert await staying == "Done."


KEY = {"Idempotency-Key": "k"}


async def read_stream(door: Door, headers: Mapping[str, str] | None = None) -> None:
    stream = await door.client.chat.completions.create(
        model="auto", messages=ASKED, stream=True, extra_headers=headers
    )
    async for _ in stream:
        pass


async def an_approval(door: Door) -> str:
    while not (page := await door.board.approvals.list(principal=LOCAL)).approvals:  # noqa: ASYNC110 - it is asked for soon
        await asyncio.sleep(0.01)
    return page.approvals[0].id
