"""Messages for a provider and back."""

from pydantic_ai import messages as theirs
from pydantic_ai.usage import RequestUsage

from pegboard.core.model_messages import (
    SystemMessage,
    ToolMessage,
    UserMessage,
    read_message,
    to_dict,
)
from pegboard.models.message_conversion import from_theirs, to_theirs


def test_messages_between_two_answers_are_one_request() -> None:
    made = to_theirs(
        (
            SystemMessage(text="s"),
            UserMessage(text="u"),
            ToolMessage(call_id="c", name="add", text="3"),
        )
    )

    (request,) = made
    assert [part.part_kind for part in request.parts] == [
        "system-prompt",
        "user-prompt",
        "tool-return",
    ]


def test_signed_reasoning_goes_back_as_it_came() -> None:
    thought = theirs.ThinkingPart(content="hm", signature="signed", provider_name="anthropic")
    response = theirs.ModelResponse(
        parts=[thought, theirs.TextPart(content="Yes.")],
        usage=RequestUsage(input_tokens=3, output_tokens=2),
        model_name="m",
        finish_reason="stop",
    )
    ours = from_theirs(response, model="m").message
    stored = read_message(to_dict(ours))
    (again,) = to_theirs((stored,))

    assert (ours.text, ours.thinking) == ("Yes.", "hm")
    assert isinstance(again, theirs.ModelResponse)
    assert again.parts[0] == thought


def test_broken_arguments_are_kept_as_the_model_wrote_them() -> None:
    call = theirs.ToolCallPart(tool_name="add", args='{"a": ', tool_call_id="c")
    ours = from_theirs(theirs.ModelResponse(parts=[call]), model="m")

    assert ours.message.calls[0].arguments == '{"a": '
    assert ours.finish == "tool_calls"
