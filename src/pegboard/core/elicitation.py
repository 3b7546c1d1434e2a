"""What a running tool may ask of, and tell to, whoever called it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pegboard.core.result import Part

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""The levels of RFC 5424, as MCP uses them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line that a tool tells its caller; not the operator's log.

    Attributes:
        data: Text, or any JSON value.
        logger: Which part of the tool speaks; empty for the tool itself.
    """

    call_id: str
    tool: str
    level: LogLevel
    data: Any
    logger: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that a person is asked while a tool runs (MCP: elicitation).

    Attributes:
        message: For the person.
        schema: JSON Schema of a flat object whose properties are text, numbers, booleans or
            choices; what the answer must look like.
        url: A page that the person is sent to instead of a form; empty for a form.
        name: By which the answer is told from others that are asked at once; empty for any.
    """

    message: str
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    url: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the person said.

    Attributes:
        action: `accept`, `decline` (said no) or `cancel` (did not say).
        content: Matches the question's schema when accepted; empty otherwise.
    """

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMessage:
    """One message of a conversation with the caller's model."""

    role: Literal["user", "assistant"]
    content: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRequest:
    """A request to the caller's own model (MCP: sampling).

    Attributes:
        max_tokens: The longest answer.
        preferences: `hints`, `costPriority`, `speedPriority` and `intelligencePriority` as in MCP.
        name: As of a `Question`.
    """

    messages: tuple[SampleMessage, ...]
    max_tokens: int = 1000
    system_prompt: str = ""
    temperature: float | None = None
    stop_sequences: tuple[str, ...] = ()
    preferences: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What the caller's model answered.

    Attributes:
        stop_reason: `endTurn`, `maxTokens`, `stopSequence` or another word; empty when not said.
    """

    content: tuple[Part, ...]
    role: Literal["user", "assistant"] = "assistant"
    model: str = ""
    stop_reason: str = ""


class Elicitor(Protocol):
    """A caller that can be asked; a door makes one for each call."""

    @property
    def takes_questions(self) -> bool:
        """Whether a person can be asked."""
        ...

    @property
    def takes_samples(self) -> bool:
        """Whether the caller's model can be asked."""
        ...

    async def ask(self, question: Question) -> Answer:
        """Ask the person and wait for the answer.

        Raises:
            ElicitationUnavailable: This caller takes no questions.
            Unavailable: The caller went away.
        """
        ...

    async def sample(self, request: SampleRequest) -> Sample:
        """Ask the caller's model.

        Raises:
            ElicitationUnavailable: This caller has no model to ask.
            Unavailable: The caller went away.
            ToolFailed: The caller refused.
        """
        ...
