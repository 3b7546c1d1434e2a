import pytest

from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    ModelSettings,
    ModelUsage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    read_message,
    to_dict,
)
from pegboard.errors import InvalidRequest

MESSAGES: list[Message] = [
    SystemMessage(text="Be brief."),
    UserMessage(text="Refund order 7"),
    AssistantMessage(
        text="One moment.",
        thinking="which tool?",
        calls=(ToolCall(id="c1", name="shop__refund", arguments='{"order": 7'),),
        provider={"signature": "xyz"},
    ),
    ToolMessage(call_id="c1", name="shop__refund", text="refused", is_error=True),
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_comes_back_from_its_data(message: Message) -> None:
    assert read_message(to_dict(message)) == message


@pytest.mark.parametrize("data", [{}, {"role": "queen"}, {"role": "user"}, "text", None])
def test_what_is_no_message_is_refused(data: object) -> None:
    with pytest.raises(InvalidRequest, match="no message"):
        read_message(data)


def test_settings_are_merged_where_others_give_them() -> None:
    own = ModelSettings(temperature=0.2, stop=("END",))

    assert own.merge(ModelSettings()) == own
    assert own.merge(ModelSettings(temperature=0.0, seed=7)) == ModelSettings(
        temperature=0.0, stop=("END",), seed=7
    )


def test_usage_adds_up_and_an_unknown_price_stays_unknown() -> None:
    known = ModelUsage(requests=1, input_tokens=10, output_tokens=5, cached_tokens=4, cost=0.5)
    unknown = ModelUsage(requests=1, input_tokens=1)

    assert ModelUsage() + known == known + ModelUsage() == known
    assert (known + known).cost == 1.0
    assert (known + unknown).cost is None
    assert (known + unknown).input_tokens == 11
