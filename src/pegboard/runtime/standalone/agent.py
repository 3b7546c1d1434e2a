"""`Agent`: a model that answers with tools, for use without a board."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from typing import Any, Literal, cast, get_args

from msgspec import to_builtins

from pegboard.access import Policy
from pegboard.assembly import SelectionLimits, ToolSelector
from pegboard.core.context import ToolContext
from pegboard.core.event import Event, NodeChanged, NodeReported
from pegboard.core.graph import Graph, Node
from pegboard.core.model_messages import Message, UserMessage, read_message
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.principal import LOCAL, Principal
from pegboard.durability import MemoryDurability, MemoryJournal
from pegboard.engines import (
    AgentConfig,
    AgentLimits,
    AgentNode,
    AgentSetup,
    Engine,
    GoalNode,
    place_event,
)
from pegboard.engines.agent import INSTRUCTIONS
from pegboard.errors import ConfigError, InvalidRequest
from pegboard.features.approvals import Approvals
from pegboard.graphs import GraphRunner
from pegboard.graphs.runner import new_run_id
from pegboard.registry.sync_bridge import LOOP_THREAD
from pegboard.registry.toolset import Toolset
from pegboard.runtime.agent_result import AgentEvent, AgentResult, PendingCall, read_result
from pegboard.runtime.standalone.agent_tools import MOST_LISTED, AgentTools
from pegboard.runtime.standalone.named_model import open_model

Decision = Literal["approve", "deny"]
Tools = Any
"""Functions, tools and sources, or one `Toolset` or `ToolRegistry`."""
_DECISIONS = get_args(Decision)
_ENGINES = get_args(Engine)
_PARAMS = {"type": "object", "properties": {"message": {"type": "string"}}}


class Agent:
    """A language model that calls tools until it can answer.

    ```python
    agent = Agent("openai:gpt-5.2", tools=[find_order], instructions="You work for a shop.")
    result = await agent.run("What was the total of order 7?")
    print(result.unwrap())
    result = await agent.run("And of order 8?", messages=result.messages)
    ```

    Calls go through the pipeline of every call: policy, approvals, validation, limits. Runs at the
    same time share nothing but the tools.

    Args:
        model: A `ChatModel`, or `provider:name`; empty for the model of the settings.
        tools: Functions, tools, and sources (also those with `as_tools()`); of two with the same
            name the later one is used. Or one `Toolset` or `ToolRegistry`, with its own policy. Of
            more than 128, the model is shown the few that fit the message, and finds the others.
        instructions: The system prompt.
        engine: `react`: one agent; `dag`: a plan whose steps run at the same time; `auto`: one of
            them, by the message.
        policy: Who may call what; None for the defaults of a library.
        limits: When a run stops; None for those of `AgentLimits`.
        concurrent_tool_calls: Whether the calls of a turn are made at once.
        completion_check: Whether the model is sent on, at most once a run, when it has used tools
            and its answer is empty, only announces a step, or leaves out that a change failed.

    Raises:
        ConfigError: There is no such engine, the model is none, or the policy belongs to the tools.
        ToolSignatureError: Something cannot become a tool.
    """

    def __init__(
        self,
        model: ChatModel | str = "",
        *,
        tools: Tools = (),
        instructions: str = INSTRUCTIONS,
        engine: Engine = "react",
        policy: Policy | None = None,
        limits: AgentLimits | None = None,
        concurrent_tool_calls: bool = True,
        completion_check: bool = True,
    ) -> None:
        if engine not in _ENGINES:
            raise ConfigError(f"There is no engine '{engine}'; known are {', '.join(_ENGINES)}.")
        if not isinstance(model, str) and not callable(getattr(model, "stream", None)):
            raise ConfigError(
                f"The model of an agent is a ChatModel or 'provider:name'; found {model!r}."
            )
        self._model = model
        self._policy = policy
        self._engine: Engine = engine
        self._tools = AgentTools(tools, policy=policy)
        self._instructions = instructions
        self._limits = limits or AgentLimits()
        self._concurrent = concurrent_tool_calls
        self._completion_check = completion_check

    async def run(
        self,
        text: str,
        *,
        tools: Tools = None,
        messages: Iterable[Message | Mapping[str, Any]] | None = None,
        ctx: ToolContext[Any] | None = None,
    ) -> AgentResult:
        """Answer a message. A failure is a result too; only cancellation is raised.

        Args:
            text: The message.
            tools: In place of those of the agent, for this run; None for its own, `[]` for none.
            messages: The conversation so far, as `AgentResult.messages` of an earlier run.
            ctx: The caller, the dependencies of tools, and the deadline of the run.

        Raises:
            InvalidRequest: The messages are none.
            ToolSignatureError: Something cannot become a tool.
            SourceUnavailable: A source among the tools cannot be listed.
        """
        run = await self._prepare(text, tools, messages, ctx)
        return await run.execute()

    def run_sync(
        self,
        text: str,
        *,
        tools: Tools = None,
        messages: Iterable[Message | Mapping[str, Any]] | None = None,
        ctx: ToolContext[Any] | None = None,
    ) -> AgentResult:
        """`run` from code without an event loop, or from a notebook; async tools work too."""
        return LOOP_THREAD.run(self.run(text, tools=tools, messages=messages, ctx=ctx))

    async def stream(
        self,
        text: str,
        *,
        tools: Tools = None,
        messages: Iterable[Message | Mapping[str, Any]] | None = None,
        ctx: ToolContext[Any] | None = None,
    ) -> AsyncGenerator[AgentEvent]:
        """Answer a message, and report what happens; the last event has the result.

        The run is cancelled when the caller stops early. Raises as `run`.
        """
        run = await self._prepare(text, tools, messages, ctx)
        async with aclosing(run.stream()) as events:
            async for event in events:
                yield event

    async def resume(
        self,
        result: AgentResult,
        decision: Decision,
        *,
        note: str = "",
    ) -> AgentResult:
        """Decide the approvals that a run waits for, and let it go on where it stopped.

        Args:
            result: Of a run that is `waiting`.
            decision: For all calls in `pending`.
            note: Shown to the model.

        Raises:
            InvalidRequest: It does not wait, or is not of this process; or there is no such
                decision.
            ApprovalDecided: It was decided already.
        """
        if decision not in _DECISIONS:
            raise InvalidRequest(f"A decision is 'approve' or 'deny'; found {decision!r}.")
        handle = result.handle
        if not isinstance(handle, _AgentRun) or not result.pending:
            raise InvalidRequest("Only a run that waits, of this process, can be resumed.")
        await handle.decide(result.pending, decision, note)
        return await handle.execute()

    def resume_sync(
        self, result: AgentResult, decision: Decision, *, note: str = ""
    ) -> AgentResult:
        """`resume` from code without an event loop, or from a notebook."""
        return LOOP_THREAD.run(self.resume(result, decision, note=note))

    async def _prepare(
        self,
        text: str,
        tools: Tools,
        messages: Iterable[Message | Mapping[str, Any]] | None,
        ctx: ToolContext[Any] | None,
    ) -> "_AgentRun":
        ctx = ctx or ToolContext()
        chosen = self._tools
        if tools is not None:  # rules about the tools of other runs are no mistake
            chosen = AgentTools(tools, policy=self._policy, warns=False)
        toolset = await chosen.assemble(ctx.principal)
        before = _read_messages(messages)
        is_large = len(toolset) > MOST_LISTED
        selects = is_large or (toolset.rendered is None and bool(toolset.meta_tools))

        def setup(model: ChatModel) -> AgentSetup:
            return AgentSetup(
                model=model,
                toolset=toolset,
                selector=_select_from(toolset, ctx.principal, model) if selects else None,
                instructions=self._instructions,
                history=before,
                limits=self._limits,
                concurrent_tool_calls=self._concurrent,
                completion_check=self._completion_check,
                engine=self._engine,
            )

        return _AgentRun(
            text, model=self._model, setup=setup, toolset=toolset, ctx=ctx, before=before
        )


def _read_messages(messages: object) -> tuple[Message, ...]:
    """The conversation so far.

    Raises:
        InvalidRequest: It is none.
    """
    if messages is None:
        return ()
    found = type(messages).__name__
    if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):
        raise InvalidRequest(
            "messages is a list of messages, as AgentResult.messages of an earlier run; "
            f"found {found}."
        )
    items = cast("Iterable[object]", messages)
    return tuple(item if isinstance(item, Message) else read_message(item) for item in items)


def _select_from(toolset: Toolset, principal: Principal, model: ChatModel) -> ToolSelector:
    """Shows a model all tools, of too many those that fit the message; and the meta-tools."""
    limits = SelectionLimits(window=model.context_window)
    if len(toolset) <= MOST_LISTED:
        limits = replace(limits, list_all=MOST_LISTED)
    return ToolSelector(
        toolset.replace(listed=(), reaches=toolset.is_reachable),
        principal=principal,
        limits=limits,
    )


class _AgentRun:
    """One run of an agent, over all approvals that it waits for."""

    def __init__(
        self,
        text: str,
        *,
        model: ChatModel | str,
        setup: Callable[[ChatModel], AgentSetup],
        toolset: Toolset,
        ctx: ToolContext[Any],
        before: Sequence[Message],
    ) -> None:
        self._text = text
        self._model = model
        self._setup = setup
        self._toolset = toolset
        self._ctx = ctx
        self._before = before
        self._approvals = Approvals(toolset.registry)
        self._id = new_run_id()
        self._journal = MemoryJournal()
        self._decided: list[str] = []

    async def execute(self) -> AgentResult:
        """Run until it has ended or waits for an approval."""
        async with AsyncExitStack() as stack:
            durability = await stack.enter_async_context(MemoryDurability(self._journal))
            runner = self._runner(durability, stack)
            if self._id not in self._journal.runs:
                params = {"message": self._text}
                await runner.start(self._graph(), params, ctx=self._ctx, run_id=self._id)
            while self._decided:
                await runner.notify_approval(self._id, self._decided.pop())
            result = await runner.result(self._id)
        before = [*self._before, UserMessage(text=self._text)]
        ids = [item.approval_id for item in result.pending if item.approval_id]
        approvals = [await self._approvals.get(item, principal=LOCAL) for item in ids]
        return read_result(result, before, approvals=approvals, handle=self)

    async def stream(self) -> AsyncGenerator[AgentEvent]:
        """Run, and report what happens."""
        events: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        listener = _RunListener(self._id, events)
        emitter = self._toolset.environment.emitter
        emitter.add(listener)
        work = asyncio.create_task(self.execute())
        work.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            yield _make_end(await work)
        finally:
            emitter.remove(listener)
            if not work.done():
                work.cancel()
                await asyncio.wait([work])

    async def decide(self, pending: Sequence[PendingCall], decision: Decision, note: str) -> None:
        """Decide the approvals that the run waits for."""
        for item in pending:
            await self._approvals.decide(item.approval_id, decision, note=note, principal=LOCAL)
            self._decided.append(item.approval_id)

    def _graph(self) -> Graph:
        seconds = self._ctx.remaining()
        node = Node(
            id="agent",
            kind="goal",
            input={"message": "$.params.message"},
            config={"engine": "own"},
        )
        return Graph(
            nodes=(node,),
            name="agent",
            params=_PARAMS,
            output="$.steps.agent.output",
            timeout=seconds,
        )

    def _runner(self, durability: MemoryDurability, stack: AsyncExitStack) -> GraphRunner:
        async def prepare(_config: AgentConfig, _principal: Principal) -> AgentSetup:
            return self._setup(await stack.enter_async_context(open_model(self._model)))

        agent = AgentNode(prepare)
        return GraphRunner(
            self._toolset,
            durability=durability,
            kinds={"agent": agent, "goal": GoalNode(prepare, agent)},
            context=lambda _start: self._ctx,
        )


class _RunListener:
    """Passes on what one run reports."""

    def __init__(self, run_id: str, events: "asyncio.Queue[AgentEvent | None]") -> None:
        self._run_id = run_id
        self._events = events

    def on_event(self, event: Event) -> None:
        """Pass on an event of the run."""
        if not isinstance(event, NodeReported | NodeChanged) or event.run_id != self._run_id:
            return
        is_report = isinstance(event, NodeReported)
        kind = event.kind if is_report else "node_changed"
        data = event.data if is_report else {"state": event.state, "reason": event.reason}
        if (placed := place_event(event.node, kind, data)) is not None:
            self._events.put_nowait(AgentEvent(event=placed[0], data=placed[1]))


def _make_end(result: AgentResult) -> AgentEvent:
    data: dict[str, Any] = {
        "state": result.state.value,
        "text": result.output,
        "usage": to_builtins(result.usage),
    }
    if result.error is not None:
        data["error"] = dict(result.error)
    return AgentEvent(event="done", data=data, result=result)
