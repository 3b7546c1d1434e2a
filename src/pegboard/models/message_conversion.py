"""Our messages as those of Pydantic AI's model layer, and its answers as ours."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pegboard.core.model_messages import (
    AssistantMessage,
    Finish,
    Message,
    ModelResponse,
    ModelUsage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from pydantic_ai import messages as theirs

_KEPT = "pydantic_ai"
_FINISH: dict[str, Finish] = {
    "stop": "stop",
    "tool_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}


def to_theirs(messages: Iterable[Message]) -> "list[theirs.ModelMessage]":
    """The messages of a request."""
    from pydantic_ai import messages as theirs

    made: list[theirs.ModelMessage] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            made.append(_to_response(message))
        elif made and isinstance(made[-1], theirs.ModelRequest):
            made[-1] = theirs.ModelRequest(parts=[*made[-1].parts, _to_part(message)])
        else:
            made.append(theirs.ModelRequest(parts=[_to_part(message)]))
    return made


def from_theirs(response: "theirs.ModelResponse", *, model: str) -> ModelResponse:
    """A whole answer."""
    from pydantic_ai import messages as theirs

    texts = [part.content for part in response.parts if isinstance(part, theirs.TextPart)]
    thoughts = [part.content for part in response.parts if isinstance(part, theirs.ThinkingPart)]
    calls = tuple(
        ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=_as_text(part.args))
        for part in response.parts
        if isinstance(part, theirs.ToolCallPart)
    )
    finish = _FINISH.get(response.finish_reason or "", "tool_calls" if calls else "stop")
    return ModelResponse(
        message=AssistantMessage(
            text="".join(texts),
            thinking="".join(thoughts),
            calls=calls,
            provider=_keep(response) if thoughts else {},
        ),
        usage=read_usage(response),
        model=response.model_name or model,
        finish=finish,
    )


def _keep(response: "theirs.ModelResponse") -> dict[str, Any]:
    """What a provider that signs its reasoning wants back."""
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    return {_KEPT: json.loads(ModelMessagesTypeAdapter.dump_json([response]))}


def _to_response(message: AssistantMessage) -> "theirs.ModelResponse":
    from pydantic_ai import messages as theirs

    if kept := message.provider.get(_KEPT):
        (response,) = theirs.ModelMessagesTypeAdapter.validate_python(kept)
        if isinstance(response, theirs.ModelResponse):
            return response
    parts: list[Any] = [theirs.TextPart(content=message.text)] if message.text else []
    parts += [
        theirs.ToolCallPart(tool_name=call.name, args=_object(call.arguments), tool_call_id=call.id)
        for call in message.calls
    ]
    return theirs.ModelResponse(parts=parts)


def _as_text(arguments: object) -> str:
    """Arguments as the model wrote them, also where they are no JSON."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def _object(arguments: str) -> str:
    """Arguments that are no JSON are refused by providers when they are sent back."""
    try:
        return arguments if isinstance(json.loads(arguments), dict) else "{}"
    except ValueError:
        return "{}"


def _to_part(message: SystemMessage | UserMessage | ToolMessage) -> "theirs.ModelRequestPart":
    from pydantic_ai import messages as theirs

    match message:
        case SystemMessage():
            return theirs.SystemPromptPart(content=message.text)
        case UserMessage():
            return theirs.UserPromptPart(content=message.text)
        case ToolMessage():
            return theirs.ToolReturnPart(
                tool_name=message.name, content=message.text, tool_call_id=message.call_id
            )


def read_usage(response: "theirs.ModelResponse") -> ModelUsage:
    """What an answer used; its cost where the price of the model is known."""
    used = response.usage
    try:
        cost = float(response.cost().total_price) if used.input_tokens else None
    except (LookupError, AssertionError, ValueError):  # no price is known
        cost = None
    return ModelUsage(
        requests=1,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_tokens=used.cache_read_tokens,
        reasoning_tokens=used.details.get("reasoning_tokens", 0),
        cost=cost,
    )
