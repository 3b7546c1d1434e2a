"""One turn of a model: a step of the run that is recorded, with its text streamed as events."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, convert, structs, to_builtins

from pegboard.core.graph import NodeState
from pegboard.core.model_messages import (
    Message,
    ModelRequest,
    ModelResponse,
    ModelUsage,
    TextDelta,
    ThinkingDelta,
    UserMessage,
)
from pegboard.core.ports.durability import Signal
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema
from pegboard.engines.agent import AgentSetup
from pegboard.engines.context import ContextGuard, ContextState, FittedContext
from pegboard.engines.shared_goal import accept_messages, read_text
from pegboard.errors import ContextTooLong, InvalidRequest, Unavailable
from pegboard.graphs.node_kind import NodeContext

_TO_THE_GOAL = (
    "(The person has sent this message about the larger goal. Take it into account where it "
    "concerns your step.)\n\n{text}"
)
_PAUSE = 0.04
"""Seconds between two events of text: faster than anybody reads."""


class TurnRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The recorded outcome of a turn.

    Attributes:
        messages: What people sent while the run worked, answered from this turn on.
        signals: The ids by which they were sent.
        response: The answer of the model.
        context: What the model is not shown of the conversation, where that has changed.
        units: The estimated size of the request.
        usage: Of the model that wrote a summary.
    """

    response: ModelResponse
    messages: tuple[UserMessage, ...] = ()
    signals: tuple[str, ...] = ()
    context: ContextState | None = None
    units: int = 0
    usage: ModelUsage = ModelUsage()


class ModelTurn:
    """One turn of an agent's model.

    Args:
        context: The agent's node.
        setup: The agent's model and tools.
        number: 1 for the first turn.
        guard: Fits the request into the window of the model.
        topic: The topic of messages to the agent.
        known: Ids of signals that earlier turns have taken.
        place: Of the agent of a step, the number of the turn among those of its goal.
    """

    def __init__(
        self,
        context: NodeContext,
        setup: AgentSetup,
        *,
        number: int,
        guard: ContextGuard,
        topic: str,
        known: frozenset[str],
        place: int = 0,
    ) -> None:
        self._context = context
        self._setup = setup
        self._number = number
        self._guard = guard
        self._topic = topic
        self._known = known
        self._place = place

    async def run(self, messages: Sequence[Message], *, final: bool = False) -> NodeRun:
        """Ask the model, once over all attempts; the output is a `TurnRecord`.

        Args:
            messages: The conversation so far.
            final: Whether it must answer without calling tools.
        """

        async def work(_key: str) -> NodeRun:
            record = await self._ask(messages, final=final)
            return NodeRun(
                id=self._context.step, state=NodeState.COMPLETED, output=to_builtins(record)
            )

        return await self._context.run_once(work, label=f"turn{self._number}", acts=False)

    async def _ask(self, messages: Sequence[Message], *, final: bool) -> TurnRecord:
        if (goal := self._setup.goal) is not None:
            goal.check(self._context.now(), turn=self._place)
        signals, new = await self._take_messages()
        self._emit("step", {})
        for signal in self._find_unreported(signals):
            data = {"message": signal.id, "text": read_text(signal)}
            self._emit("message_received", data)
        before = self._guard.state
        fitted, response = await self._ask_model((*messages, *new), final=final)
        self._emit("usage", {"model": response.model, **to_builtins(response.usage)})
        return TurnRecord(
            response=response,
            messages=new,
            signals=tuple(signal.id for signal in signals),
            context=None if fitted.state == before else fitted.state,
            units=fitted.units,
            usage=fitted.usage,
        )

    async def _take_messages(self) -> tuple[list[Signal], tuple[UserMessage, ...]]:
        """What has arrived for this agent, and for the goal for which it does a step."""
        goal, known = self._setup.goal, self._known
        is_step = goal is not None and goal.topic != self._topic
        own: list[Signal] = []
        if goal is None or is_step:
            arrived = await accept_messages(self._context, self._topic, self._setup.accept)
            own = [item for item in arrived if item.id not in known]
        shared = [] if goal is None else await goal.take_messages(self._context, known)
        form = _TO_THE_GOAL if is_step else "{text}"
        texts = [*map(read_text, own), *(form.format(text=read_text(item)) for item in shared)]
        return [*own, *shared], tuple(UserMessage(text=text) for text in texts)

    def _find_unreported(self, signals: Sequence[Signal]) -> list[Signal]:
        """Those of which no other agent of the goal has reported that they were received."""
        if (goal := self._setup.goal) is None:
            return list(signals)
        new = goal.note_messages([item.id for item in signals])
        return [item for item in signals if item.id in new]

    async def _ask_model(
        self, messages: Sequence[Message], *, final: bool
    ) -> tuple[FittedContext, ModelResponse]:
        """Ask with what fits; a request that the provider finds too long is made smaller once."""
        report = partial(self._emit, "compacted")
        fitted = await self._guard.fit(messages, report)
        try:
            return fitted, await self._stream(self._make_request(fitted, final=final))
        except ContextTooLong:
            self._guard.learn_refusal(fitted, report)
            smaller = await self._guard.fit(messages, report)
            smaller = structs.replace(smaller, usage=fitted.usage + smaller.usage)
            return smaller, await self._stream(self._make_request(smaller, final=final))

    def _make_request(self, fitted: FittedContext, *, final: bool) -> ModelRequest:
        setup = self._setup
        return ModelRequest(
            messages=fitted.messages,
            tools=setup.toolset.model_tools if setup.model.supports_tools else (),
            output_schema=self._find_schema(),
            settings=setup.settings,
            tool_choice="none" if final else "auto",
            is_continued=True,
        )

    def _find_schema(self) -> JsonSchema | None:
        """The schema to which the provider holds the answer; the model is told it in any case."""
        answer = self._setup.answer
        can_hold = self._setup.model.supports_schema and answer is not None and answer.is_specific
        return answer.schema if answer is not None and can_hold else None

    async def _stream(self, request: ModelRequest) -> ModelResponse:
        """Ask the model; without the schema of the answer where its provider refuses that."""
        try:
            return await self._stream_whole(request)
        except ContextTooLong:
            raise
        except InvalidRequest:
            if request.output_schema is None:
                raise
        return await self._stream_whole(structs.replace(request, output_schema=None))

    async def _stream_whole(self, request: ModelRequest) -> ModelResponse:
        """Ask the model; once more where its answer was cut off after it had begun."""
        text = _TextEvents(self)
        try:
            return await self._read_stream(request, text)
        except Unavailable:
            if not text.has_begun:
                raise
        self._emit("step", {})  # the text so far is void
        return await self._read_stream(request, _TextEvents(self))

    async def _read_stream(self, request: ModelRequest, text: "_TextEvents") -> ModelResponse:
        response: ModelResponse | None = None
        try:
            async for part in self._setup.model.stream(request):  # to its end, which closes it
                match part:
                    case TextDelta():
                        text.add("text_delta", part.text)
                    case ThinkingDelta():
                        text.add("thinking", part.text)
                    case ModelResponse():
                        response = part
        finally:  # also what came before the answer was stopped or cut off
            text.flush()
        if response is not None:
            return response
        raise Unavailable(f"The model '{self._setup.model.name}' ended without an answer.")

    def _emit(self, kind: str, data: Mapping[str, Any]) -> None:
        self._context.emit(kind, {"turn": self._number, **data})

    def emit_text(self, kind: str, text: str) -> None:
        """Report more of what the model says."""
        self._emit(kind, {"text": text})

    def monotonic(self) -> float:
        """Seconds."""
        return self._context.monotonic()


def read_turn(run: NodeRun) -> TurnRecord:
    """The record of a turn that completed."""
    return convert(run.output, TurnRecord)


class _TextEvents:
    """Reports what a model says, in events that are not too small."""

    def __init__(self, turn: ModelTurn) -> None:
        self._turn = turn
        self._kind = ""
        self._pieces: list[str] = []
        self._last = 0.0
        self.has_begun = False

    def add(self, kind: str, text: str) -> None:
        """Add a piece of text, and report what has gathered if the last time was long ago."""
        self.has_begun = True
        if kind != self._kind:
            self.flush()
            self._kind = kind
        self._pieces.append(text)
        if self._turn.monotonic() - self._last >= _PAUSE:
            self.flush()

    def flush(self) -> None:
        """Report what has gathered."""
        if text := "".join(self._pieces):
            self._turn.emit_text(self._kind, text)
            self._last = self._turn.monotonic()
        self._pieces.clear()
