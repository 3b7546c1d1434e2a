"""What an agent has done: its answer, its calls, and the conversation to go on with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from msgspec import convert

from pegboard.assembly import unwrap_call
from pegboard.core.graph import NodeState
from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    ModelUsage,
    ToolMessage,
    read_message,
)
from pegboard.core.run import NodeRun, PendingStep, RunResult


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """A call that an agent made.

    Attributes:
        id: Unique in the conversation.
        tool: Its name; of a call through `call_tool`, that of the inner tool.
        arguments: JSON text as the model wrote it, which may be malformed.
        text: The result as the model read it, or the error.
    """

    id: str
    tool: str
    arguments: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """How a run of an agent ended; `str()` is its answer.

    Attributes:
        output: The answer; empty without one.
        state: `completed`, `failed` (see `error`), `waiting` (see `pending`) or `cancelled`.
        calls: The calls of this run, in their order.
        usage: What the model used in this run.
        messages: The conversation with this run: give it as `messages=` to go on.
        error: `code` and `message` of what made it fail; None otherwise.
        pending: The approvals that its calls wait for.
        run_id: The run that records of its calls name.
        handle: By which `Agent.resume` goes on; nothing for anybody else.
    """

    output: str
    state: NodeState
    calls: tuple[AgentCall, ...] = ()
    usage: ModelUsage = field(default_factory=ModelUsage)
    messages: tuple[Message, ...] = ()
    error: Mapping[str, Any] | None = None
    pending: tuple[PendingStep, ...] = ()
    run_id: str = ""
    handle: object = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent:
    """Something that happened while an agent worked.

    Attributes:
        event: `step`, `thinking`, `text_delta`, `tool_started`, `tool_progress`, `tool_finished`,
            `approval_required`, `usage`; the last one is `done`.
        data: JSON-compatible data, as in the events of a conversation.
        result: How it ended; of `done` alone.
    """

    event: str
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    result: AgentResult | None = None


def read_result(run: RunResult, before: Sequence[Message], *, handle: object = None) -> AgentResult:
    """The result of an agent from that of its run.

    Args:
        run: Of one agent, also one that failed.
        before: The conversation up to the message that it answers, this one included.
        handle: By which the run is resumed.
    """
    output: Mapping[str, Any] = (run.nodes[0].output if run.nodes else None) or {}
    new = [read_message(item) for item in output.get("messages") or ()]
    return AgentResult(
        output=str(output.get("text", "")),
        state=run.state,
        calls=(*_find_calls(new), *_find_inner_calls(run.nodes)),
        usage=convert(output.get("usage") or {}, ModelUsage),
        messages=(*before, *new),
        error=run.error,
        pending=run.pending,
        run_id=run.run_id,
        handle=handle,
    )


def _find_inner_calls(nodes: Sequence[NodeRun]) -> Iterator[AgentCall]:
    """The calls of the agents that did the steps of a goal."""
    for part in (part for node in nodes for part in node.parts):
        output: Any = part.output
        if isinstance(output, Mapping) and "messages" in output:
            found = cast("Mapping[str, Any]", output)["messages"]
            yield from _find_calls([read_message(item) for item in found])
        yield from _find_inner_calls([part])


def _find_calls(messages: Sequence[Message]) -> Iterator[AgentCall]:
    results = {item.call_id: item for item in messages if isinstance(item, ToolMessage)}
    for message in messages:
        if not isinstance(message, AssistantMessage):
            continue
        for call in message.calls:
            result, inner = results.get(call.id), unwrap_call(call)
            yield AgentCall(
                id=call.id,
                tool=inner.name,
                arguments=inner.arguments,
                text="" if result is None else result.text,
                is_error=result is not None and result.is_error,
            )
