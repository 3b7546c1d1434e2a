"""Messages to and from language models, in one shape for every provider.

A message is JSON-compatible by `to_dict` and comes back by `read_message`, so that conversations
and recorded steps of runs can keep it.
"""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct, ValidationError, convert, structs, to_builtins

from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest

Finish = Literal["stop", "tool_calls", "length", "content_filter"]
"""Why a model ended its turn; `length` is its limit of output tokens."""


class ToolCall(Struct, frozen=True, kw_only=True):
    """A call that a model asks for.

    Attributes:
        id: Unique in the conversation; its result names it.
        name: Of the tool, as the request listed it.
        arguments: JSON text as the model wrote it, which may be malformed.
    """

    id: str
    name: str
    arguments: str = "{}"


class SystemMessage(Struct, frozen=True, kw_only=True, tag_field="role", tag="system"):
    """Instructions to the model."""

    text: str


class UserMessage(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="role", tag="user"
):
    """What a person, or a program on its behalf, says.

    Attributes:
        is_note: Whether the board adds it for the model, so that people need not see it.
    """

    text: str
    is_note: bool = False


class AssistantMessage(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="role", tag="assistant"
):
    """What a model says, and the calls that it asks for.

    Attributes:
        thinking: The reasoning that the provider shows.
        provider: What the provider wants back unchanged, as signatures; JSON-compatible.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    provider: Mapping[str, Any] = {}


class ToolMessage(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="role", tag="tool"
):
    """The result of a call, for the model.

    Attributes:
        is_unknown: Whether a call that was interrupted or has failed may have taken effect.
    """

    call_id: str
    name: str
    text: str
    is_error: bool = False
    is_unknown: bool = False


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage


def to_dict(message: Message) -> dict[str, Any]:
    """A message as JSON-compatible data; `role` says which kind it is."""
    return to_builtins(message)


def read_message(data: object) -> Message:
    """A message from its data.

    Raises:
        InvalidRequest: It is none; says where.
    """
    try:
        return convert(data, Message)
    except ValidationError as error:
        raise InvalidRequest(f"This is no message of a conversation: {error}") from error


class ModelTool(Struct, frozen=True, kw_only=True):
    """A tool as a model is shown it."""

    name: str
    description: str
    parameters: JsonSchema


class ModelSettings(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """How a model writes an answer; None, or no text, for the provider's default.

    A model that does not take one of them refuses the request (`InvalidRequest`).

    Attributes:
        max_output: Tokens of the answer, reasoning included, at most.
        temperature: From 0 on; more is more varied.
        top_p: The share of the likeliest tokens from which each next one is taken.
        stop: Texts at which the answer ends; they are not part of it.
        seed: The same seed makes equal answers likelier.
    """

    max_output: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None

    def merge(self, other: "ModelSettings") -> "ModelSettings":
        """These settings, except those that others give."""
        return structs.replace(self, **to_builtins(other))


class ModelRequest(Struct, frozen=True, kw_only=True):
    """What a model is asked.

    Attributes:
        output_schema: JSON Schema of the answer, where it must be JSON; None for text.
        settings: How it writes the answer.
        tool_choice: `auto`, `none`, `required`, or the name of the tool to call.
        is_continued: Whether a request with the same beginning is likely to follow, so that it pays
            to keep it in the provider's cache.
    """

    messages: tuple[Message, ...]
    tools: tuple[ModelTool, ...] = ()
    output_schema: JsonSchema | None = None
    settings: ModelSettings = ModelSettings()
    tool_choice: str = "auto"
    is_continued: bool = False


class ModelUsage(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What model calls used.

    Attributes:
        requests: Calls of a model.
        input_tokens: Cached ones included.
        output_tokens: Reasoning included.
        cached_tokens: Of the input, those that the provider read from its cache.
        reasoning_tokens: Of the output.
        cost: US dollars; None where a price is not known.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: "ModelUsage") -> "ModelUsage":
        """Both together; the cost is unknown as soon as one of them is, unless it used nothing."""
        if not self.requests:
            return other
        if not other.requests:
            return self
        costs = (self.cost, other.cost)
        return ModelUsage(
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        )


class TextDelta(Struct, frozen=True):
    """More of the text of an answer."""

    text: str


class ThinkingDelta(Struct, frozen=True):
    """More of the reasoning that the provider shows."""

    text: str


class ModelResponse(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A whole turn of a model; the last part of a stream.

    Attributes:
        model: The provider's name of the model that answered.
    """

    message: AssistantMessage
    usage: ModelUsage = ModelUsage()
    model: str = ""
    finish: Finish = "stop"


ModelPart = TextDelta | ThinkingDelta | ModelResponse
