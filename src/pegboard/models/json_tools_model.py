"""Calls of tools by a model whose server knows none: JSON in its text."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal

from msgspec import Struct, ValidationError, convert, structs
from msgspec import json as fast

from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    ModelPart,
    ModelRequest,
    ModelResponse,
    ModelTool,
    ModelUsage,
    SystemMessage,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pegboard.core.ports.chat_model import ChatModel
from pegboard.schemas.json_in_text import find_objects

_REPAIRS = 1
_SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["tool", "answer"]},
        "reasoning": {"type": "string"},
        "tool_name": {"type": "string"},
        "tool_args": {"type": "object"},
        "answer": {"type": "string"},
    },
    "required": ["type"],
}
_ORDER = (
    "Say each time one JSON object and nothing else. To use a tool: "
    '{"type": "tool", "reasoning": "why", "tool_name": "its name", "tool_args": {...}}. You are '
    'then told its result. To answer: {"type": "answer", "answer": "the text"}. The tools, each '
    "with the JSON Schema of its arguments:"
)
_AGAIN = "This is no such JSON object ({reason}). Say it again."


class JsonStep(Struct, frozen=True, kw_only=True):
    """What the model says: a call of a tool, or the answer."""

    type: Literal["tool", "answer"]
    reasoning: str = ""
    tool_name: str = ""
    tool_args: dict[str, Any] = {}
    answer: str = ""


class JsonToolsModel:
    """Gives tools to a model that has no function calls: one call a turn, as JSON.

    What is not JSON at all counts as the answer. The text of an answer comes in one piece.

    Args:
        model: Is asked without tools.
    """

    supports_tools = True

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name = model.name
        self.context_window = model.context_window
        self.supports_schema = model.supports_schema

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        """Ask the model; errors as of `ChatModel`."""
        plain = structs.replace(
            request, messages=_without_calls(request.messages), tools=(), tool_choice="auto"
        )
        if not request.tools or request.tool_choice == "none":
            async for part in self._model.stream(plain):
                yield part
            return
        schema = _SCHEMA if self.supports_schema else None
        messages = (*plain.messages, SystemMessage(text=_describe(request.tools)))
        plain = structs.replace(plain, messages=_in_order(messages), output_schema=schema)
        usage = ModelUsage()
        for left in range(_REPAIRS, -1, -1):
            response: ModelResponse | None = None
            async for part in self._model.stream(plain):
                if isinstance(part, ThinkingDelta):
                    yield part
                elif isinstance(part, ModelResponse):
                    response = part
            if response is None:
                return
            usage += response.usage
            text = response.message.text
            step, reason = _read_step(text)
            if step is not None or not left:
                answer = _respond(step, response, usage, number=len(request.messages))
                if answer.message.text:
                    yield TextDelta(answer.message.text)
                yield answer
                return
            told = UserMessage(text=_AGAIN.format(reason=reason))
            said = AssistantMessage(text=text)
            plain = structs.replace(plain, messages=(*plain.messages, said, told))


def _describe(tools: Sequence[ModelTool]) -> str:
    lines = (
        json.dumps(
            {"name": tool.name, "description": tool.description, "arguments": tool.parameters},
            ensure_ascii=False,
        )
        for tool in tools
    )
    return "\n".join((_ORDER, *lines))


def _in_order(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The instructions first: servers take them nowhere else."""
    system = [item for item in messages if isinstance(item, SystemMessage)]
    return (*system, *(item for item in messages if not isinstance(item, SystemMessage)))


def _without_calls(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Calls and their results as text, of which the model knows the form."""
    made: list[Message] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            what = "failed" if message.is_error else "gave"
            made.append(UserMessage(text=f"The tool '{message.name}' {what}:\n{message.text}"))
        elif isinstance(message, AssistantMessage) and message.calls:
            made += [
                AssistantMessage(
                    text=f'{{"type": "tool", "tool_name": {json.dumps(call.name)}, '
                    f'"tool_args": {call.arguments}}}'
                )
                for call in message.calls
            ]
        else:
            made.append(message)
    return tuple(made)


def _read_step(text: str) -> tuple[JsonStep | None, str]:
    """What the model says; a reason where it tried and failed to say it."""
    reason = ""
    for found in find_objects(text):
        try:
            return convert(fast.decode(found), JsonStep), ""
        except (ValidationError, ValueError) as error:
            reason = reason or str(error)
    is_json = bool(reason) or text.lstrip().startswith("{")
    if is_json:
        return None, reason or "it is cut off"
    return JsonStep(type="answer", answer=text), ""


def _respond(
    step: JsonStep | None, response: ModelResponse, usage: ModelUsage, *, number: int
) -> ModelResponse:
    message = response.message
    if step is None:
        return structs.replace(response, usage=usage)
    if step.type == "answer" or not step.tool_name:
        answer = AssistantMessage(text=step.answer, thinking=message.thinking)
        return structs.replace(response, message=answer, usage=usage)
    call = ToolCall(
        id=f"json_{number}", name=step.tool_name, arguments=fast.encode(step.tool_args).decode()
    )
    called = AssistantMessage(thinking=message.thinking or step.reasoning, calls=(call,))
    return structs.replace(response, message=called, usage=usage, finish="tool_calls")
