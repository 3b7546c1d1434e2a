"""Models of providers, over a real socket."""

import json
import traceback
from collections.abc import AsyncGenerator

import pytest
from msgspec import structs
from tests.models.made import Chunk, Provider, a_provider, call, text

from pegboard.core.model_messages import (
    AssistantMessage,
    ModelRequest,
    ModelResponse,
    ModelSettings,
    ModelTool,
    SystemMessage,
    TextDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pegboard.core.ports.chat_model import complete
from pegboard.errors import ConfigError, InvalidRequest, PegboardError, Unavailable
from pegboard.models import ModelEndpoint, ProviderModel, UsagePrice
from pegboard.network import GuardedClient, SsrfPolicy

KEY = "sk-very-secret-key"
ASKED = ModelRequest(
    messages=(SystemMessage(text="Be brief."), UserMessage(text="Hi")),
    tools=(ModelTool(name="add", description="Add.", parameters={"type": "object"}),),
)


@pytest.fixture
async def provider() -> AsyncGenerator[Provider]:
    async with a_provider() as opened:
        yield opened


@pytest.fixture
async def model(provider: Provider) -> AsyncGenerator[ProviderModel]:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    settings = ModelEndpoint(name="openai:tiny-1", api_key=KEY, base_url=provider.url)
    yield ProviderModel(settings, client)
    await client.close()


async def test_the_price_of_its_operator_makes_its_cost(provider: Provider) -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    settings = ModelEndpoint(
        name="openai:tiny-1", base_url=provider.url, price=UsagePrice(input=2.0, request=0.5)
    )
    provider.answers.append(text("Hello."))

    parts = [part async for part in ProviderModel(settings, client).stream(ASKED)]
    await client.close()

    assert isinstance(parts[-1], ModelResponse)
    assert parts[-1].usage.cost == pytest.approx(0.5 + 20 * 2 / 1_000_000)


async def test_text_is_streamed_and_usage_counted(provider: Provider, model: ProviderModel) -> None:
    provider.answers.append(text("Hel", "lo."))
    parts = [part async for part in model.stream(ASKED)]
    last = parts[-1]

    assert [part.text for part in parts if isinstance(part, TextDelta)] == ["Hel", "lo."]
    assert isinstance(last, ModelResponse)
    assert (last.message.text, last.finish) == ("Hello.", "stop")
    assert (last.usage.input_tokens, last.usage.cached_tokens) == (20, 12)
    assert last.usage.cost is None
    assert provider.headers[0]["authorization"] == f"Bearer {KEY}"
    asked = provider.requests[0]
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert asked["tools"][0]["function"]["name"] == "add"


async def test_calls_and_their_results_go_back_and_forth(
    provider: Provider, model: ProviderModel
) -> None:
    provider.answers += [call("add", '{"a": 1,', ' "b": 2}'), text("3")]
    first = await complete(model, ASKED)
    (wanted,) = first.message.calls
    result = ToolMessage(call_id=wanted.id, name="add", text="3")
    await complete(model, ModelRequest(messages=(*ASKED.messages, first.message, result)))

    assert (wanted.name, wanted.arguments) == ("add", '{"a": 1, "b": 2}')
    assert first.finish == "tool_calls"
    sent = provider.requests[1]["messages"]
    assert sent[2]["tool_calls"][0]["function"]["name"] == "add"
    assert (sent[3]["role"], sent[3]["tool_call_id"], sent[3]["content"]) == ("tool", "call_1", "3")


async def test_arguments_that_were_no_json_are_not_sent_back(
    provider: Provider, model: ProviderModel
) -> None:
    provider.answers.append(text("sorry"))
    broken = AssistantMessage(calls=(ToolCall(id="c", name="add", arguments='{"a": '),))
    told = ToolMessage(call_id="c", name="add", text="no JSON", is_error=True)
    await complete(model, ModelRequest(messages=(UserMessage(text="x"), broken, told)))

    sent = provider.requests[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert sent == "{}"


@pytest.mark.parametrize("choice", ["none", "required"])
async def test_a_choice_of_tools_is_passed_on(
    provider: Provider, model: ProviderModel, choice: str
) -> None:
    provider.answers.append(text("x"))
    asked = ModelRequest(messages=ASKED.messages, tools=ASKED.tools, tool_choice=choice)
    await complete(model, asked)

    assert provider.requests[0].get("tool_choice", "none") == choice


SHAPE = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


async def test_a_schema_of_the_answer_goes_to_the_provider(
    provider: Provider, model: ProviderModel
) -> None:
    provider.answers.append(text('{"n": 3}'))
    answer = await complete(model, ModelRequest(messages=ASKED.messages, output_schema=SHAPE))

    wanted = provider.requests[0]["response_format"]
    assert wanted["type"] == "json_schema"
    assert wanted["json_schema"]["schema"]["required"] == ["n"]
    assert answer.message.text == '{"n": 3}'


async def test_a_schema_leaves_the_model_free_to_call_a_tool_first(
    provider: Provider, model: ProviderModel
) -> None:
    provider.answers.append(call("add", "{}"))
    await complete(model, structs.replace(ASKED, output_schema=SHAPE))

    assert provider.requests[0]["response_format"]["type"] == "json_schema"
    assert provider.requests[0].get("tool_choice", "auto") == "auto"


async def test_settings_go_to_the_provider(provider: Provider, model: ProviderModel) -> None:
    provider.answers.append(text("x"))
    settings = ModelSettings(max_output=9, temperature=0.5, top_p=0.9, stop=("END",), seed=7)
    await complete(model, structs.replace(ASKED, settings=settings))
    (sent,) = provider.requests

    assert (sent["temperature"], sent["top_p"], sent["seed"]) == (0.5, 0.9, 7)
    assert (sent["stop"], sent["max_completion_tokens"]) == (["END"], 9)


@pytest.mark.parametrize(
    ("name", "settings", "setting"),
    [
        ("anthropic:claude-opus-4-8", ModelSettings(seed=7), "seed"),
        ("anthropic:claude-opus-4-8", ModelSettings(top_p=0.5), "top_p"),
    ],
)
async def test_a_setting_that_a_model_does_not_take_is_refused(
    provider: Provider, name: str, settings: ModelSettings, setting: str
) -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    model = ProviderModel(ModelEndpoint(name=name, base_url=provider.url), client)
    with pytest.raises(InvalidRequest, match=f"takes no '{setting}'"):
        await complete(model, structs.replace(ASKED, settings=settings))
    await client.close()

    assert provider.requests == []


@pytest.mark.parametrize("is_continued", [True, False], ids=["a conversation", "a lone request"])
async def test_the_beginning_of_a_conversation_is_kept_in_the_providers_cache(
    provider: Provider, is_continued: bool
) -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    url = provider.url.removesuffix("/v1")
    settings = ModelEndpoint(name="anthropic:claude-opus-4-8", base_url=url)
    asked = ModelRequest(messages=ASKED.messages, tools=ASKED.tools, is_continued=is_continued)
    with pytest.raises(InvalidRequest):
        await complete(ProviderModel(settings, client), asked)
    await client.close()
    (sent,) = provider.requests

    assert ("cache_control" in sent["tools"][-1]) is is_continued
    assert ("cache_control" in json.dumps(sent["system"])) is is_continued


@pytest.mark.slow
async def test_a_model_without_schemas_of_answers_says_so(provider: Provider) -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    settings = ModelEndpoint(name="anthropic:claude-3-haiku-20240307", base_url=provider.url)
    with pytest.raises(InvalidRequest, match="no schema"):
        await complete(
            ProviderModel(settings, client),
            ModelRequest(messages=ASKED.messages, output_schema=SHAPE),
        )
    await client.close()

    assert provider.requests == []


async def test_a_tool_can_be_demanded(provider: Provider, model: ProviderModel) -> None:
    provider.answers.append(call("add", "{}"))
    asked = ModelRequest(messages=ASKED.messages, tools=ASKED.tools, tool_choice="add")
    await complete(model, asked)

    assert provider.requests[0]["tool_choice"] in (
        "required",
        {"type": "function", "function": {"name": "add"}},
    )


ERROR = {"error": {"message": f"refused {KEY}", "type": "x", "code": "x"}}
TOO_LONG = {"error": {"message": "too long", "type": "x", "code": "context_length_exceeded"}}


@pytest.mark.parametrize(
    ("status", "body", "error", "times"),
    [
        (401, ERROR, ConfigError, 1),
        (404, ERROR, ConfigError, 1),
        (400, ERROR, InvalidRequest, 1),
        (400, TOO_LONG, InvalidRequest, 1),
        (429, ERROR, Unavailable, 3),
        (500, ERROR, Unavailable, 3),
    ],
)
async def test_errors_of_the_provider_are_ours_without_its_text(
    provider: Provider,
    model: ProviderModel,
    status: int,
    body: object,
    error: type[PegboardError],
    times: int,
) -> None:
    provider.answers += [(status, body)] * 5
    with pytest.raises(error) as raised:
        await complete(model, ASKED)

    assert KEY not in "".join(traceback.format_exception(raised.value))
    assert "openai:tiny-1" in str(raised.value)
    assert len(provider.requests) == times


async def test_a_server_that_repeats_its_key_does_not_hand_it_on(
    provider: Provider, model: ProviderModel
) -> None:
    provider.answers += [text("It is ", KEY[:7], KEY[7:], "."), call("add", f'{{"a": "{KEY}"}}')]
    parts = [part async for part in model.stream(ASKED)]
    wanted = await complete(model, ASKED)

    assert KEY not in repr(parts)
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)) == (
        "It is [redacted]."
    )
    assert wanted.message.calls[0].arguments == '{"a": "[redacted]"}'


async def test_a_busy_provider_is_asked_again(provider: Provider, model: ProviderModel) -> None:
    provider.answers += [(429, ERROR), text("Hello.")]

    assert (await complete(model, ASKED)).message.text == "Hello."


@pytest.mark.parametrize("how", ["cut", "end"])
@pytest.mark.parametrize("answer", [text("Hel"), call("add", '{"a": 1}')], ids=["text", "call"])
async def test_an_answer_that_is_cut_is_unavailable(
    answer: list[Chunk], how: str, provider: Provider, model: ProviderModel
) -> None:
    provider.answers.append([*answer[:-1], {how: True}])

    with pytest.raises(Unavailable, match="cut off"):
        await complete(model, ASKED)


@pytest.mark.parametrize(
    "answer",
    [text("Hello.")[:-1], [*text("Hello."), {"end": True}]],
    ids=["without a finish reason", "without the last line"],
)
async def test_an_answer_needs_one_sign_of_its_end(
    answer: list[Chunk], provider: Provider, model: ProviderModel
) -> None:
    provider.answers.append(answer)
    done = await complete(model, ASKED)

    assert (done.message.text, done.finish) == ("Hello.", "stop")


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    settings = ModelEndpoint(name="openai:x", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(Unavailable):
        await complete(ProviderModel(settings, client), ASKED)
    await client.close()


async def test_an_address_that_the_policy_refuses_is_not_asked(provider: Provider) -> None:
    client = GuardedClient()
    settings = ModelEndpoint(name="openai:x", base_url=provider.url)
    with pytest.raises(PegboardError):
        await complete(ProviderModel(settings, client), ASKED)
    await client.close()

    assert provider.requests == []


@pytest.mark.parametrize("name", ["gpt", "openai:", "nobody:x"])
def test_a_name_without_a_known_provider_is_refused(name: str) -> None:
    with pytest.raises(ConfigError):
        ProviderModel(ModelEndpoint(name=name), GuardedClient())
