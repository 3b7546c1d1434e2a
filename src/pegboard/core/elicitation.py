"""Elicitation and sampling: what a running tool may ask its caller, and send to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeGuard

from pegboard.core.result import Part

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
"""The levels of RFC 5424, as MCP uses them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A log message from a tool to its caller; not part of the operator's log.

    Attributes:
        data: Text, or any JSON value.
        logger: The part of the tool that logs; empty for the tool itself.
    """

    call_id: str
    tool: str
    level: LogLevel
    data: Any
    logger: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question to a person while a tool runs (MCP: elicitation).

    Attributes:
        message: For the person.
        schema: JSON Schema of the answer: a flat object whose properties are text, numbers,
            booleans or choices.
        url: A page to open instead of a form; empty for a form.
        name: Identifies the question among others that are asked at once; empty for any.
        tool: The tool that asks; `ToolContext.ask` sets it.
    """

    message: str
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    url: str = ""
    name: str = ""
    tool: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to a question.

    Attributes:
        action: `accept`, `decline` (refused) or `cancel` (dismissed).
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
        max_tokens: The maximal length of the answer.
        preferences: `hints`, `costPriority`, `speedPriority` and `intelligencePriority` as in MCP.
        name: As in `Question`.
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
    """The answer of the caller's model.

    Attributes:
        stop_reason: `endTurn`, `maxTokens`, `stopSequence` or another word; empty when unknown.
    """

    content: tuple[Part, ...]
    role: Literal["user", "assistant"] = "assistant"
    model: str = ""
    stop_reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRules:
    """Whether the tools of a run may ask a person.

    Attributes:
        timeout: Seconds that a question waits for its answer; 0 when nobody can be asked.
        refusal: Why nobody can be asked.
    """

    timeout: float = 0.0
    refusal: str = "Nobody can be asked in this run."


class Elicitor(Protocol):
    """The port of elicitation and sampling; a door makes one for each call."""

    @property
    def takes_questions(self) -> bool:
        """Whether the client supports questions."""
        ...

    @property
    def takes_samples(self) -> bool:
        """Whether the client offers its model."""
        ...

    async def ask(self, question: Question) -> Answer:
        """Ask the person and wait for the answer.

        Raises:
            ElicitationUnavailable: The client supports no questions.
            Unavailable: The caller has disconnected.
        """
        ...

    async def sample(self, request: SampleRequest) -> Sample:
        """Ask the caller's model.

        Raises:
            ElicitationUnavailable: The client offers no model.
            Unavailable: The caller has disconnected.
            ToolFailed: The caller refused.
        """
        ...


class Sampler(Protocol):
    """A model that answers a tool, as that of the agent which calls it."""

    @property
    def name(self) -> str:
        """The name of the model."""
        ...

    async def sample(self, request: SampleRequest, /) -> Sample:
        """Ask the model.

        Raises:
            ElicitationUnavailable: The model cannot be asked this.
            PegboardError: It does not answer.
        """
        ...


class TimedElicitor(Elicitor, Protocol):
    """An elicitor that limits its waits, so that the time of a call stands still meanwhile.

    Attributes:
        deadline: `time.monotonic()` seconds by which the call must have ended, whatever it asks;
            None for no limit.
    """

    @property
    def deadline(self) -> float | None:
        """See the class."""
        ...


def is_timed(elicitor: Elicitor) -> TypeGuard[TimedElicitor]:
    """Whether an elicitor limits its waits.

    It looks at nothing else, since to read `takes_questions` is to ask for it.
    """
    return hasattr(elicitor, "deadline")
