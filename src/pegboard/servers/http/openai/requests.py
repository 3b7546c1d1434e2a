"""Requests in OpenAI's formats; what an agent decides itself is accepted and not used.

Formats: https://platform.openai.com/docs/api-reference/chat and .../responses.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pegboard.errors import InvalidRequest

_OPEN = ConfigDict(extra="ignore", frozen=True)
_OWN_TOOLS = (
    "The agents of this server call its own tools: leave 'tools' out, or choose an agent with them."
)
_PARTS = frozenset({"text", "input_text", "output_text"})


class ContentPart(BaseModel):
    """A part of a message; only text is read."""

    model_config = _OPEN

    type: str
    text: str = ""


Content = str | tuple[ContentPart, ...] | None


class FunctionCall(BaseModel):
    """The function of a call that an earlier answer has made."""

    model_config = _OPEN

    name: str
    arguments: str = "{}"


class MessageCall(BaseModel):
    """A call that an earlier answer has made."""

    model_config = _OPEN

    id: str
    function: FunctionCall


class ChatMessage(BaseModel):
    """A message of a conversation."""

    model_config = _OPEN

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: Content = None
    tool_calls: tuple[MessageCall, ...] = ()
    tool_call_id: str = ""
    name: str = ""


class StreamOptions(BaseModel):
    """What a stream contains beside the answer."""

    model_config = _OPEN

    include_usage: bool = False


class OutputFormat(BaseModel):
    """The format of the answer; only text is answered."""

    model_config = _OPEN

    type: str = "text"


class CompletionBody(BaseModel):
    """A request for a chat completion."""

    model_config = _OPEN

    model: Annotated[str, Field(max_length=200, description="`auto`, or the name of an agent.")]
    messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    tools: tuple[dict[str, Any], ...] | None = None
    response_format: OutputFormat | None = None


class InputItem(BaseModel):
    """A message, or something else that an earlier response has put out."""

    model_config = _OPEN

    type: str = "message"
    role: Literal["system", "developer", "user", "assistant"] = "user"
    content: Content = None
    id: str = ""
    name: str = ""
    arguments: str = "{}"
    output: str | None = None
    error: Any = None


class TextOptions(BaseModel):
    """How the text of a response is formatted."""

    model_config = _OPEN

    format: OutputFormat | None = None


class RespondBody(BaseModel):
    """A request for a response."""

    model_config = _OPEN

    model: Annotated[str, Field(max_length=200, description="`auto`, or the name of an agent.")]
    input: str | Annotated[tuple[InputItem, ...], Field(min_length=1)]
    instructions: Annotated[
        str | None, Field(description="Follow those of the agent, for this response.")
    ] = None
    previous_response_id: Annotated[
        str | None, Field(max_length=200, description="The response to go on with.")
    ] = None
    stream: bool = False
    background: Literal[False] | None = None
    tools: tuple[dict[str, Any], ...] | None = None
    text: TextOptions | None = None


def read_messages(body: CompletionBody) -> list[Message]:
    """The conversation of a chat completion.

    Raises:
        InvalidRequest: It asks for something that agents do not do.
    """
    _check(body.tools, body.response_format)
    names = {call.id: call.function.name for item in body.messages for call in item.tool_calls}
    return [_read_message(item, names) for item in body.messages]


def read_input(body: RespondBody) -> list[Message]:
    """The messages of a response, without those of earlier ones.

    Raises:
        InvalidRequest: It asks for something that agents do not do.
    """
    _check(body.tools, body.text.format if body.text else None)
    system = [SystemMessage(text=body.instructions)] if body.instructions else []
    if isinstance(body.input, str):
        return [*system, UserMessage(text=body.input)]
    return [*system, *(message for item in body.input for message in _read_item(item))]


def _check(tools: Sequence[Any] | None, output: OutputFormat | None) -> None:
    if tools:
        raise InvalidRequest(_OWN_TOOLS)
    if output is not None and output.type != "text":
        raise InvalidRequest(f"Agents answer with text; found the format '{output.type[:50]}'.")


def _read_message(item: ChatMessage, names: dict[str, str]) -> Message:
    text = _read_text(item.content)
    match item.role:
        case "system" | "developer":
            return SystemMessage(text=text)
        case "user":
            return UserMessage(text=text)
        case "tool":
            name = names.get(item.tool_call_id, item.name)
            return ToolMessage(call_id=item.tool_call_id, name=name, text=text)
        case "assistant":
            calls = tuple(
                ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
                for call in item.tool_calls
            )
            return AssistantMessage(text=text, calls=calls)


def _read_item(item: InputItem) -> Iterator[Message]:
    match item.type:
        case "message":
            yield _read_message(ChatMessage(role=item.role, content=item.content), {})
        case "mcp_call":
            call = ToolCall(id=item.id, name=item.name, arguments=item.arguments)
            yield AssistantMessage(calls=(call,))
            text = item.output if item.output is not None else str(item.error or "")
            is_error = item.error is not None
            yield ToolMessage(call_id=item.id, name=item.name, text=text, is_error=is_error)
        case "reasoning":
            return
        case other:
            raise InvalidRequest(f"An item of the input is a message; found '{other[:50]}'.")


def _read_text(content: Content) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    other = next((part.type for part in content if part.type not in _PARTS), None)
    if other is not None:
        raise InvalidRequest(f"Agents read text; found a part of type '{other[:50]}'.")
    return "".join(part.text for part in content)
