"""What an agent has done: its answer, its calls, and the conversation to go on with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from pegboard.core.ports.approval_store import Approval
from pegboard.core.result import ERROR_KINDS, restore_error
from pegboard.core.run import NodeRun, RunResult
from pegboard.errors import ApprovalRequired, PegboardError, ToolFailed


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
class PendingCall:
    """A call that an agent wants to make, and that needs an approval first.

    Attributes:
        tool: Its name.
        arguments: With known secrets masked, and long texts cut.
        reason: Why an approval is needed.
        approval_id: The approval that it waits for.
    """

    tool: str
    arguments: Mapping[str, Any]
    reason: str
    approval_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """How a run of an agent ended; `str()` is its answer, or why there is none.

    Attributes:
        output: The answer; empty without one.
        state: `completed`, `failed` (see `error`), `waiting` (see `pending`) or `cancelled`.
        calls: The calls of this run, in their order.
        usage: What the model used in this run.
        messages: The conversation with this run: give it as `messages=` to go on.
        error: `code` and `message` of what made it fail; None otherwise.
        pending: The calls that wait for an approval.
        run_id: The run that records of its calls name.
        handle: By which `Agent.resume` goes on; nothing for anybody else.
    """

    output: str
    state: NodeState
    calls: tuple[AgentCall, ...] = ()
    usage: ModelUsage = field(default_factory=ModelUsage)
    messages: tuple[Message, ...] = ()
    error: Mapping[str, Any] | None = None
    pending: tuple[PendingCall, ...] = ()
    run_id: str = ""
    handle: object = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.output if self._problem is None else str(self._problem)

    def unwrap(self) -> str:
        """The answer.

        Raises:
            PegboardError: The typed error of a run that failed, `ApprovalRequired` of one that
                waits, `ToolFailed` of one that was cancelled.
        """
        if self._problem is not None:
            raise self._problem
        return self.output

    @property
    def _problem(self) -> PegboardError | None:
        """Why there is no answer."""
        if self.state is NodeState.COMPLETED:
            return None
        if self.pending:
            first = self.pending[0]
            return ApprovalRequired(first.tool, first.reason, approval_id=first.approval_id)
        return _read_error(self.error or {"message": f"The run of the agent is {self.state}."})


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


def read_result(
    run: RunResult,
    before: Sequence[Message],
    *,
    approvals: Iterable[Approval] = (),
    handle: object = None,
) -> AgentResult:
    """The result of an agent from that of its run.

    Args:
        run: Of one agent, also one that failed.
        before: The conversation up to the message that it answers, this one included.
        approvals: Those that the run waits for.
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
        pending=tuple(map(_read_pending, approvals)),
        run_id=run.run_id,
        handle=handle,
    )


def _read_pending(approval: Approval) -> PendingCall:
    return PendingCall(
        tool=approval.tool,
        arguments=approval.shown or {},
        reason=approval.reason,
        approval_id=approval.id,
    )


def _read_error(error: Mapping[str, Any]) -> PegboardError:
    """The typed error behind its safe part."""
    return restore_error(ERROR_KINDS.get(error.get("code", ""), ToolFailed), error)


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
