"""Runs agents that are tools: a run in memory over the tools of the board.

What an agent has done for a run of the board is recorded among the steps of that run, so that
the next try of its call goes on with it, also after a restart. For a call outside of a run it is
kept in memory as long as it waits for an approval.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from msgspec import convert, structs

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.model_messages import (
    AssistantMessage,
    Message,
    ModelUsage,
    SystemMessage,
    UserMessage,
    read_message,
)
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.ports.source_services.subagents import SubagentAnswer, SubagentTask, WatchedTool
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.core.run import RunResult
from pegboard.core.tool import is_for_models
from pegboard.durability import MemoryDurability, MemoryJournal, StoredDurability
from pegboard.durability.nested_journal import NestedJournal
from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    PegboardError,
    ToolArgumentError,
    Unavailable,
)
from pegboard.execution.deadline_pause import DeadlinePause
from pegboard.execution.emitter import Emitter
from pegboard.execution.errors_for_readers import make_failed_result
from pegboard.execution.wait_for_source import wait_for_source
from pegboard.registry import ToolRegistry
from pegboard.registry.toolset import Toolset
from pegboard.runtime.wiring.accounts.quotas import meter_model
from pegboard.runtime.wiring.models import BoardModels
from pegboard.tools.schema_arguments import SchemaArguments

if TYPE_CHECKING:
    from pegboard.execution import CallEnvironment

NameNow = Callable[[Principal], Awaitable[Principal]]
_MAX_CONVERSATIONS = 1_000
_MAX_WAITING = 1_000
"""Runs that wait for an approval; of more the oldest begins again with the next try of its call."""
_MAX_REMEMBERED = 40
"""Messages of one conversation."""
_AS_OBJECT = "Now give this result as a JSON object that fits the schema, and nothing else."


@dataclass(frozen=True, kw_only=True)
class _WaitingRun:
    """A run of an agent that waits for approvals."""

    journal: MemoryJournal = field(default_factory=MemoryJournal)
    approvals: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SubagentToolset(Toolset):
    """The tools of an agent that is a tool; its calls belong to the run of its caller.

    Attributes:
        outer: The context of the call of the agent.
        name_now: The caller with the rights of now.
    """

    outer: ToolContext[Any]
    name_now: NameNow

    @cached_property
    def _quiet(self) -> "CallEnvironment":
        return replace(self.registry.environment, emitter=Emitter())

    @property
    def environment(self) -> "CallEnvironment":
        """That of the registry, without listeners: the run of the agent is none of the board."""
        return self._quiet

    async def call(
        self, name: str, arguments: Arguments = None, ctx: ToolContext[Any] | None = None
    ) -> ToolResult:
        """Call a tool in the run, within the deadline, and with the rights of now of its caller."""
        ctx, outer = ctx or self.outer, self.outer
        deadlines = [ctx.deadline, outer.deadline]
        if isinstance(outer.elicitor, DeadlinePause) and outer.deadline is not None:
            deadlines[1] = outer.deadline + outer.elicitor.paused
        try:
            principal = await self.name_now(ctx.principal)
        except AccessDenied as error:
            return make_failed_result(error)
        inner = structs.replace(
            ctx,
            principal=principal,
            run_id=outer.run_id,
            parent_id=outer.call_id,
            deadline=min((it for it in deadlines if it is not None), default=None),
        )
        return await super().call(name, arguments, inner)


class BoardSubagents:
    """Implements `SubagentRunner` on a board.

    Args:
        registry: The board's tools.
    """

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        self._models: BoardModels | None = None
        self._loop = asyncio.get_running_loop()
        self._watched: WeakSet[WatchedTool] = WeakSet()
        self._is_due = False
        registry.changes.listen(self._on_change)
        self._known: OrderedDict[tuple[str, str, str], tuple[Message, ...]] = OrderedDict()
        self._waiting: OrderedDict[str, _WaitingRun] = OrderedDict()
        self._durability: StoredDurability | None = None
        self._name_now: NameNow = _name_same

    def use(self, models: BoardModels) -> None:
        """Use the models of the board, which are made later."""
        self._models = models

    def record_in(self, durability: StoredDurability, *, name_now: NameNow) -> None:
        """Record what agents do for runs, which are made later, among the steps of these.

        Args:
            durability: Records the steps.
            name_now: The caller of something that goes on, with the rights of now.
        """
        self._durability = durability
        self._name_now = name_now

    def watch(self, tool: WatchedTool) -> None:
        """Refresh a tool whenever the tools of the board change, for as long as it exists."""
        self._watched.add(tool)
        self._on_change("tools", "")

    def _on_change(self, kind: str, _uri: str) -> None:
        if kind == "tools" and self._watched and not self._is_due:
            with suppress(RuntimeError):  # the loop has ended, and the board with it
                self._loop.call_soon_threadsafe(self._refresh)
                self._is_due = True

    def _refresh(self) -> None:
        self._is_due = False
        for tool in list(self._watched):
            if self._registry.find(tool.spec.name) is tool and tool.refresh():
                self._registry.add(tool, replace=True)  # whose compiled paths have the old spec

    def find_unknown(self, tools: Sequence[str]) -> str:
        """Why tools of an agent's list cannot be its tools, by name; empty when all can."""
        environment = self._registry.environment
        reasons: list[str] = []
        for name in tools:
            tool = self._registry.find(name)
            if tool is None and environment.pending_source(name) is None:
                why = environment.why_missing(name)
                reasons.append(f"'{name}': {why}" if why else f"there is no tool '{name}'")
            elif tool is not None and not is_for_models(tool):
                reasons.append(f"'{name}' is an agent, which no agent may have as a tool")
        return "; ".join(reasons)

    async def run(self, task: SubagentTask, ctx: ToolContext[Any]) -> SubagentAnswer:
        """Let an agent work, with the run, the deadline and the dependencies of its caller."""
        if self._models is None:
            raise Unavailable("The board is not open yet.", retry_after=1.0, nothing_done=True)
        for name in task.tools:
            await wait_for_source(self._registry.environment, name, deadline=ctx.deadline)
        model = await self._models.get(task.model)
        model = meter_model(model, self._registry.environment.quotas, ctx.principal)
        key = (task.agent, ctx.principal.owner, task.conversation)
        earlier = self._known.get(key, ()) if task.conversation else ()
        ctx = structs.replace(ctx, root_id=ctx.root_id or ctx.run_id or _run_id_for(ctx))
        trust, memory = self._registry.environment.trust, " ".join(("agent", *key))
        if task.conversation:
            await trust.inherit(subject=memory, ctx=ctx)
        result = await self._execute(task, ctx, model, earlier)
        if task.conversation:
            await trust.bequeath(subject=memory, ctx=ctx)
        failure = _find_failure(task.agent, result)
        output: Mapping[str, Any] = (result.nodes[0].output if result.nodes else None) or {}
        usage = convert(output.get("usage") or {}, ModelUsage)
        text = str(output.get("text", ""))
        value: Mapping[str, Any] | None = None
        if task.output_schema is not None and not failure:
            value, more, failure = await _as_object(task, text, model)
            usage += more
        if task.conversation and not failure:
            new = [read_message(item) for item in output.get("messages") or ()]
            self._remember(key, (*earlier, UserMessage(text=task.message), *new))
        return SubagentAnswer(
            text=text,
            value=value,
            failure=failure,
            model=model.name,
            tokens=usage.input_tokens + usage.output_tokens,
            cached_tokens=usage.cached_tokens,
            cost=usage.cost,
        )

    async def _execute(
        self,
        task: SubagentTask,
        ctx: ToolContext[Any],
        model: ChatModel,
        earlier: tuple[Message, ...],
    ) -> RunResult:
        from pegboard.engines import AgentConfig, AgentLimits, AgentNode, AgentSetup
        from pegboard.graphs import GraphRunner

        found = [tool for name in task.tools if (tool := self._registry.find(name)) is not None]
        listed = [tool for tool in found if self._registry.may_see(tool, ctx.principal)]
        names = frozenset(tool.spec.name for tool in found)
        toolset = SubagentToolset(
            registry=self._registry,
            listed=tuple(listed),
            reaches=lambda tool: tool.spec.name in names,
            outer=ctx,
            name_now=self._name_now,
        )

        async def prepare(_config: AgentConfig, _principal: Any) -> AgentSetup:
            return AgentSetup(
                model=model,
                toolset=toolset,
                instructions=task.instructions,
                history=earlier,
                limits=AgentLimits(turns=task.turns),
            )

        node = Node(id="agent", kind="agent", input={"message": "$.params.message"})
        graph = Graph(
            nodes=(node,),
            name=task.agent,
            params={"type": "object", "properties": {"message": {"type": "string"}}},
            output="$.steps.agent.output",
        )
        run_id = _run_id_for(ctx)
        nested = self._open_nested(ctx)
        waiting = (
            self._waiting.pop(run_id, None) or _WaitingRun()
            if nested is None
            else _WaitingRun(journal=nested, approvals=tuple(nested.list_approvals()))
        )
        inner = ctx
        if isinstance(ctx.elicitor, DeadlinePause):
            # a person may be asked, for whom the deadline waits: the call ends the run at it
            inner = structs.replace(ctx, deadline=None)
        async with MemoryDurability(waiting.journal) as durability:
            runner = GraphRunner(
                toolset,
                durability=durability,
                kinds={"agent": AgentNode(prepare)},
                context=lambda _start: inner,
            )
            if run_id not in waiting.journal.runs:
                await runner.start(graph, {"message": task.message}, ctx=inner, run_id=run_id)
            for approval_id in waiting.approvals:
                await runner.notify_approval(run_id, approval_id)
            result = await runner.result(run_id)
        if nested is None and result.pending:
            self._keep(run_id, waiting.journal, result)
        elif nested is not None and result.state is NodeState.FAILED:
            await nested.end()
        return result

    def _open_nested(self, ctx: ToolContext[Any]) -> NestedJournal | None:
        """The journal among the steps of the run that calls; None outside of a stored run."""
        run_id, key = ctx.run_id, ctx.idempotency_key
        if self._durability is None or not run_id or not key:
            return None
        return self._durability.open_nested(run_id, f"agent:{key.removeprefix(f'{run_id}:')}")

    def _keep(self, run_id: str, journal: MemoryJournal, result: RunResult) -> None:
        """Keep a run until the next try of its call."""
        approvals = tuple(item.approval_id for item in result.pending if item.approval_id)
        self._waiting[run_id] = _WaitingRun(journal=journal, approvals=approvals)
        if len(self._waiting) > _MAX_WAITING:
            self._waiting.popitem(last=False)

    def _remember(self, key: tuple[str, str, str], messages: tuple[Message, ...]) -> None:
        """Remember the last exchanges of a conversation, each from its question on."""
        first = max(0, len(messages) - _MAX_REMEMBERED)
        while first and first < len(messages) and not isinstance(messages[first], UserMessage):
            first += 1
        self._known[key] = messages[first:]
        self._known.move_to_end(key)
        if len(self._known) > _MAX_CONVERSATIONS:
            self._known.popitem(last=False)


async def _name_same(principal: Principal) -> Principal:
    return principal


def _run_id_for(ctx: ToolContext[Any]) -> str:
    """The same for each try of a call, so that calls of the agent have the same keys."""
    basis = f"{ctx.run_id} {ctx.idempotency_key or ctx.call_id}"
    return f"r_{sha256(basis.encode()).hexdigest()[:24]}"


def _find_failure(agent: str, result: RunResult) -> str:
    """Why an agent has not answered; empty when it has.

    Raises:
        ApprovalRequired: It waits for an approval.
        Unavailable: A later try may help.
    """
    if result.state is NodeState.COMPLETED:
        return ""
    if result.pending:
        pending = result.pending[0]
        raise ApprovalRequired(agent, pending.message, approval_id=pending.approval_id)
    error = result.error or {"message": "it was cancelled"}
    message = f"The agent '{agent}' failed: {error['message']}"
    if error.get("retryable"):
        raise Unavailable(message, retry_after=error.get("retry_after"))
    return message


async def _as_object(
    task: SubagentTask, text: str, model: ChatModel
) -> tuple[Mapping[str, Any] | None, ModelUsage, str]:
    """The answer as an object, what that has used, and why there is none.

    The model is asked once more where it is none yet.
    """
    from pegboard.engines import structured_llm_call

    schema = task.output_schema or {}
    try:
        return SchemaArguments(task.agent, schema)(text), ModelUsage(), ""
    except ToolArgumentError:
        messages = [
            SystemMessage(text=task.instructions),
            UserMessage(text=task.message),
            AssistantMessage(text=text),
            UserMessage(text=_AS_OBJECT),
        ]
    used: list[ModelUsage] = []
    try:
        answer = await structured_llm_call(model, messages, schema, report=used.append)
    except PegboardError as error:
        failure = f"The agent '{task.agent}' gave no result: {error.message}"
        return None, sum(used, ModelUsage()), failure
    return answer.value, answer.usage, ""
