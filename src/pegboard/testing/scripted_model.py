"""`ScriptedModel`: a chat model that says what a test wrote, and fails where the program drifts."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.core.model_messages import (
    AssistantMessage,
    ModelPart,
    ModelRequest,
    ModelResponse,
    ModelUsage,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from pegboard.errors import ToolFailed
from pegboard.runtime.standalone.model import ModelChat

_SPACES = re.compile(r"(?<= )")
CallPlan = tuple[str, Mapping[str, Any] | str]
"""A tool and its arguments; text is sent as it is, also where it is no JSON."""


class ScriptDrift(ToolFailed, AssertionError):
    """The program asked for something else than the script expects.

    An agent that is answered so has failed, and its error has this text.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What the model says when it is asked, and what it expects to be asked.

    Attributes:
        text: The answer; streamed in words.
        thinking: The reasoning before it.
        calls: The calls that it asks for.
        expects: Texts that must stand in the last message of a person or a tool.
        tools: Names that must be among the listed tools.
        error: Raised instead of answering.
        usage: What it counts as used.
        is_cut: Whether the answer ends at its limit of tokens.
    """

    text: str = ""
    thinking: str = ""
    calls: tuple[CallPlan, ...] = ()
    expects: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    error: Exception | None = None
    usage: ModelUsage = field(default_factory=lambda: ModelUsage(requests=1))
    is_cut: bool = False


Script = Turn | Callable[[ModelRequest], Turn]


class ScriptedModel(ModelChat):
    """A chat model for tests and demonstrations, without a network.

    ```python
    model = ScriptedModel(
        Turn(calls=(("calculator", {"expression": "6 * 7"}),)),
        Turn(text="It is 42.", expects=("42",)),
    )
    ```

    Args:
        turns: One for each request, in order; a function makes its turn from the request.
        name: The name of the model.
        context_window: Tokens; None for unknown.
        supports_tools: Whether it may be shown tools.
        supports_schema: Whether it may be given a schema of its answer.

    Attributes:
        requests: The requests so far.
    """

    def __init__(
        self,
        *turns: Script,
        name: str = "scripted:model",
        context_window: int | None = None,
        supports_tools: bool = True,
        supports_schema: bool = False,
    ) -> None:
        self.name = name
        self.context_window = context_window
        self.supports_tools = supports_tools
        self.supports_schema = supports_schema
        self.requests: list[ModelRequest] = []
        self._turns: list[Script] = list(turns)
        self._asked = 0
        self._drift: ScriptDrift | None = None

    def add(self, turns: Iterable[Script]) -> None:
        """Add turns to the end of the script."""
        self._turns += turns

    def assert_exhausted(self) -> None:
        """Check that every turn was asked for, and that no request was another than expected.

        Raises:
            ScriptDrift: Some were not, or one was.
        """
        if self._drift is not None:
            raise self._drift
        left = len(self._turns) - self._asked
        if left:
            raise ScriptDrift(f"{left} of {len(self._turns)} turns were not asked for.")

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        """Say the next turn.

        Raises:
            ScriptDrift: There is none, or the request is not what it expects.
        """
        number = self._asked = self._asked + 1
        self.requests.append(request)
        try:
            turn = self._next_turn(request, number)
        except ScriptDrift as drift:
            self._drift = self._drift or drift
            raise
        if turn.error is not None:
            raise turn.error
        if turn.thinking:
            yield ThinkingDelta(turn.thinking)
        for piece in _SPACES.split(turn.text):
            if piece:
                yield TextDelta(piece)
        yield _respond(turn, number, self.name)

    def _next_turn(self, request: ModelRequest, number: int) -> Turn:
        if number > len(self._turns):
            raise ScriptDrift(
                f"The model was asked {number} times; it has {len(self._turns)} turns."
            )
        script = self._turns[number - 1]
        turn = script(request) if callable(script) else script
        _check(turn, request, number)
        return turn


def _check(turn: Turn, request: ModelRequest, number: int) -> None:
    last = _last_text(request)
    for expected in turn.expects:
        if expected not in last:
            raise ScriptDrift(f"Turn {number} expects {expected!r}; the last message is {last!r}.")
    listed = {tool.name for tool in request.tools}
    missing = [name for name in turn.tools if name not in listed]
    if missing:
        raise ScriptDrift(
            f"Turn {number} expects the tools {missing}; listed are {sorted(listed)}."
        )


def _last_text(request: ModelRequest) -> str:
    """The texts of the messages since the model spoke last."""
    texts: list[str] = []
    for message in reversed(request.messages):
        is_note = isinstance(message, UserMessage) and message.is_note
        if is_note or not isinstance(message, UserMessage | ToolMessage):
            break
        texts.append(message.text)
    return "\n".join(reversed(texts))


def _respond(turn: Turn, number: int, name: str) -> ModelResponse:
    calls = tuple(
        ToolCall(
            id=f"call_{number}_{index}",
            name=tool,
            arguments=arguments if isinstance(arguments, str) else json.dumps(arguments),
        )
        for index, (tool, arguments) in enumerate(turn.calls)
    )
    return ModelResponse(
        message=AssistantMessage(text=turn.text, thinking=turn.thinking, calls=calls),
        usage=turn.usage,
        model=name.partition(":")[2],
        finish="length" if turn.is_cut else "tool_calls" if calls else "stop",
    )
