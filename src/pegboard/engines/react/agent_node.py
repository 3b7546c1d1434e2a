"""The node kind `agent`: a model that calls tools until it can answer."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from msgspec import convert, structs, to_builtins

from pegboard.assembly import ModelToolList
from pegboard.core.graph import Node, NodeState
from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    ModelUsage,
    SystemMessage,
    UserMessage,
    read_message,
    to_dict,
)
from pegboard.core.result import error_to_dict
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema
from pegboard.engines.agent import AgentConfig, AgentLimits, AgentSetup, Prepare, read_config
from pegboard.engines.react.model_turn import ModelTurn, TurnRecord, read_turn
from pegboard.engines.react.tool_calls import Repetition, as_message, refuse_call, run_calls
from pegboard.errors import InvalidRequest, LimitReached
from pegboard.graphs.engine.stop_signal import Stopped
from pegboard.graphs.node_kind import NodeContext, SchemaOf

OUTPUT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "messages": {"type": "array", "items": {"type": "object"}},
        "usage": {"type": "object"},
        "calls": {"type": "integer"},
        "received": {"type": "array", "items": {"type": "string"}},
        "context": {"type": "object"},
        "tools": {"type": "object"},
    },
    "required": ["text", "messages"],
}


class AgentNode:
    """An agent answers a message.

    Its input is `message` (text), and `messages` (an earlier conversation, as from `to_dict`). Its
    output is `text`, the answer; `messages`, what this run adds to the conversation behind the
    message; `usage` and `calls`; `received`, the ids of messages that reached it while it worked;
    `context` and `tools`, the `ContextState` and the `ModelToolList` with which the conversation
    goes on. A run that failed or was cancelled has what there was so far.

    Args:
        prepare: Makes the setup of an agent, at each attempt.
    """

    name = "agent"
    fields = frozenset({"config"})

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        try:
            read_config(node.config)
        except InvalidRequest as error:
            yield "config", "config_invalid", str(error)
        if "message" not in node.input:
            yield "input", "message_missing", "An agent needs a 'message' to answer."

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:  # noqa: ARG002 - always the same
        return OUTPUT_SCHEMA

    async def run(self, context: NodeContext) -> NodeRun:
        config = read_config(context.node.config)
        setup = await self._prepare(config, context.principal)
        if config.is_step:
            setup = replace(setup, history=(), context_state=None)
        return await self.answer(context, config, setup)

    async def answer(self, context: NodeContext, config: AgentConfig, setup: AgentSetup) -> NodeRun:
        """Answer with a setup that is there already."""
        setup = await select_tools(context, setup)
        topic = f"event:{config.steering}"
        started = await record_start(context, setup.limits)
        messages = read_question(context, setup)
        return await _Loop(context, setup, messages, topic=topic, started=started).run()


async def record_start(context: NodeContext, limits: AgentLimits) -> float:
    """When the work began, the same in all attempts; 0 where no limit needs it."""
    if limits.seconds is None:
        return 0.0
    return float(await context.compute_once("started", context.now))


def read_question(context: NodeContext, setup: AgentSetup) -> list[Message]:
    """The instructions, what came before, and last the message to answer."""
    given = context.arguments()
    earlier = map(read_message, given.get("messages") or ())
    system = [SystemMessage(text=setup.instructions)] if setup.instructions else []
    return [*system, *setup.history, *earlier, UserMessage(text=str(given["message"]))]


async def select_tools(context: NodeContext, setup: AgentSetup) -> AgentSetup:
    """Choose the tools that the model is shown for the message, once over all attempts."""
    selector = setup.selector
    if selector is None:
        return setup
    question = str(context.arguments()["message"])
    made = await context.compute_once("tools", lambda: to_builtins(selector.select(question)))
    shown = convert(made, ModelToolList)
    return replace(setup, selector=None, toolset=selector.assemble(shown), shown=shown)


class _Loop:
    """One attempt at the work of an agent."""

    def __init__(
        self,
        context: NodeContext,
        setup: AgentSetup,
        messages: list[Message],
        *,
        topic: str,
        started: float,
    ) -> None:
        self._context = context
        self._setup = setup
        self._before = tuple(messages)
        note = setup.shown.note
        self._new: list[Message] = [UserMessage(text=note, is_note=True)] if note else []
        self._topic = topic
        self._started = started
        self._taken: frozenset[str] = frozenset()
        self._usage = ModelUsage()
        self._calls = 0
        self._repetition = Repetition()
        self._guard = setup.guard(context.principal, question=len(messages) - 1)

    async def run(self) -> NodeRun:
        """Take turns until the model answers, or a limit is reached."""
        try:
            return await self._take_turns()
        except Stopped as stop:
            return self._end(NodeState.CANCELLED, reason=str(stop))
        except LimitReached as error:
            return self._end(NodeState.FAILED, error=error_to_dict(error))

    async def _take_turns(self) -> NodeRun:
        for number in range(1, self._setup.limits.turns + 1):
            elapsed = self._context.now() - self._started
            check_limits(self._setup.limits, self._usage, self._calls, elapsed=elapsed)
            is_last = number == self._setup.limits.turns
            turn = ModelTurn(
                self._context,
                self._setup,
                number=number,
                guard=self._guard,
                topic=self._topic,
                known=self._taken,
            )
            is_stuck = self._is_stuck()
            run = await turn.run([*self._before, *self._new], final=is_last or is_stuck)
            if run.state is not NodeState.COMPLETED:
                return self._end(run.state, error=run.error, reason=run.reason)
            record = read_turn(run)
            self._add_turn(record)
            message = record.response.message
            if not message.calls:
                return self._end(NodeState.COMPLETED, text=message.text)
            if is_stuck or is_last:
                self._new += map(refuse_call, message.calls)
            if is_stuck:
                raise LimitReached("The model repeats the same calls and gives no answer.")
            if is_last:
                break
            await self._make_calls(message, number)
        raise _limit_reached(self._setup.limits.turns, "turns")

    def _add_turn(self, record: TurnRecord) -> None:
        self._taken |= frozenset(record.signals)
        self._new += [*record.messages, record.response.message]
        self._usage += record.response.usage + record.usage
        counted = record.response.usage.input_tokens
        self._guard.restore(record.context, units=record.units, counted=counted)

    async def _make_calls(self, message: AssistantMessage, turn: int) -> None:
        calls = message.calls
        self._calls += len(calls)
        most = self._guard.limit_results([*self._before, *self._new], len(calls))
        runs = await run_calls(self._context, self._setup, calls, turn=turn, max_result_bytes=most)
        for call, run in zip(calls, runs, strict=True):
            told = as_message(call, run)
            note = self._repetition.note(call, told.text)
            self._new.append(structs.replace(told, text=f"{told.text}{note}"))

    def _is_stuck(self) -> bool:
        last = next((m for m in reversed(self._new) if isinstance(m, AssistantMessage)), None)
        return last is not None and self._repetition.is_stuck(last.calls)

    def _end(self, state: NodeState, *, text: str = "", **known: Any) -> NodeRun:
        return NodeRun(
            id=self._context.step,
            state=state,
            usage=self._usage if self._usage.requests else None,
            output={
                "text": text,
                "messages": [to_dict(message) for message in self._new],
                "usage": to_builtins(self._usage),
                "calls": self._calls,
                "received": sorted(self._taken),
                "context": to_builtins(self._guard.state),
                "tools": to_builtins(structs.replace(self._setup.shown, note="")),
            },
            **known,
        )


def check_limits(limits: AgentLimits, usage: ModelUsage, calls: int, *, elapsed: float) -> None:
    """Check that a run may go on.

    Raises:
        LimitReached: It has used what it may use.
    """
    used = {
        "calls": (calls, limits.calls),
        "tokens": (usage.input_tokens + usage.output_tokens, limits.tokens),
        "cost": (usage.cost or 0.0, limits.cost),
        "seconds": (elapsed, limits.seconds),
    }
    for name, (count, most) in used.items():
        if most is not None and count >= most:
            raise _limit_reached(most, name)


def _limit_reached(most: float, what: str) -> LimitReached:
    return LimitReached(f"The agent has reached its limit of {most} {what}.")
