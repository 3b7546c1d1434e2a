"""Requests in OpenAI's formats.

Formats: https://platform.openai.com/docs/api-reference/chat and .../responses.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    ModelSettings,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest
from pegboard.servers.http.openai.parameters import (
    CHAT,
    CHAT_STREAM,
    RESPONSES,
    Limit,
    OutputFormat,
    Seed,
    Stop,
    Temperature,
    TextOptions,
    TopP,
    make_settings,
    read_schema,
    refuse_others,
)

_OPEN = ConfigDict(extra="ignore", frozen=True)
_BODY = ConfigDict(extra="allow", frozen=True)
_CHAT_SETTINGS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_completion_tokens": "max_output",
    "max_tokens": "max_output",
    "stop": "stop",
    "seed": "seed",
}
_RESPONSE_SETTINGS: Mapping[str, str] = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_output_tokens": "max_output",
}
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

    model_config = _BODY

    include_usage: bool = False


class CompletionBody(BaseModel):
    """A request for a chat completion; parameters that are not named here are refused."""

    model_config = _BODY

    model: Annotated[str, Field(max_length=200, description="`auto`, or the name of an agent.")]
    messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    temperature: Temperature = None
    top_p: TopP = None
    max_tokens: Limit = None
    max_completion_tokens: Limit = None
    stop: Stop = None
    seed: Seed = None
    response_format: OutputFormat | None = None

    def read_settings(self) -> ModelSettings:
        """How the model writes the answer.

        Raises:
            InvalidRequest: Two parameters contradict each other, or one is not supported.
        """
        refuse_others(self.model_extra, CHAT)
        if self.stream_options is not None:
            refuse_others(self.stream_options.model_extra, CHAT_STREAM, within="stream_options.")
        return make_settings(self, _CHAT_SETTINGS)

    def read_schema(self) -> JsonSchema | None:
        """The schema of the answer; None for text. Raises `InvalidRequest` where it is none."""
        if (wanted := self.response_format) is None:
            return None
        parameter = "response_format.json_schema.schema"
        return read_schema(wanted.type, wanted.json_schema, parameter=parameter)


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


class RespondBody(BaseModel):
    """A request for a response; parameters that are not named here are refused."""

    model_config = _BODY

    model: Annotated[str, Field(max_length=200, description="`auto`, or the name of an agent.")]
    input: str | Annotated[tuple[InputItem, ...], Field(min_length=1)]
    instructions: Annotated[
        str | None, Field(description="Follow those of the agent, for this response.")
    ] = None
    previous_response_id: Annotated[
        str | None, Field(max_length=200, description="The response to go on with.")
    ] = None
    stream: bool = False
    temperature: Temperature = None
    top_p: TopP = None
    max_output_tokens: Limit = None
    text: TextOptions | None = None
    metadata: Annotated[dict[str, str] | None, Field(description="Returned with the response.")] = (
        None
    )

    def read_settings(self) -> ModelSettings:
        """How the model writes the answer.

        Raises:
            InvalidRequest: A parameter is not supported.
        """
        refuse_others(self.model_extra, RESPONSES)
        if self.text is not None:
            refuse_others(self.text.model_extra, RESPONSES, within="text.")
        return make_settings(self, _RESPONSE_SETTINGS)

    def read_schema(self) -> JsonSchema | None:
        """The schema of the answer; None for text. Raises `InvalidRequest` where it is none."""
        if self.text is None or (wanted := self.text.format) is None:
            return None
        return read_schema(wanted.type, wanted, parameter="text.format.schema")


def read_messages(body: CompletionBody) -> list[Message]:
    """The conversation of a chat completion.

    Raises:
        InvalidRequest: It asks for something that agents do not do.
    """
    names = {call.id: call.function.name for item in body.messages for call in item.tool_calls}
    return [_read_message(item, names) for item in body.messages]


def read_input(body: RespondBody) -> list[Message]:
    """The messages of a response, without those of earlier ones.

    Raises:
        InvalidRequest: It asks for something that agents do not do.
    """
    system = [SystemMessage(text=body.instructions)] if body.instructions else []
    if isinstance(body.input, str):
        return [*system, UserMessage(text=body.input)]
    return [*system, *(message for item in body.input for message in _read_item(item))]


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
