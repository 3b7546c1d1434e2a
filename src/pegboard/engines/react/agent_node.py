"""The node kind `agent`: a model that calls tools until it can answer."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from msgspec import convert, json, structs, to_builtins

from pegboard.assembly import ModelToolList, find_untrusted_description, unwrap_call
from pegboard.core.graph import Node, NodeState
from pegboard.core.model_messages import (
    AssistantMessage,
    Finish,
    Message,
    ModelResponse,
    ModelUsage,
    SystemMessage,
    ToolCall,
    UserMessage,
    read_message,
)
from pegboard.core.ports.taint_store import Taint, TaintKind
from pegboard.core.principal import Principal
from pegboard.core.result import error_to_dict
from pegboard.core.run import NodeRun
from pegboard.core.tool import Effect, JsonSchema
from pegboard.engines.agent import AgentConfig, AgentSetup, Prepare, configure, read_config
from pegboard.engines.agent_limits import AgentLimits, check_limits, limit_reached
from pegboard.engines.agent_output import OUTPUT_SCHEMA, end_run
from pegboard.engines.answer_schema import MAX_REPAIRS, AnswerSchema, format_problems
from pegboard.engines.react.completion_check import describe_gap, find_gap
from pegboard.engines.react.model_turn import ModelTurn, TurnRecord, read_turn
from pegboard.engines.react.skills_in_force import SkillsInForce
from pegboard.engines.react.tool_calls import Repetition, as_message, refuse_call, run_calls
from pegboard.engines.shared_goal import AgentUsage, SharedGoal
from pegboard.engines.tool_order import IN_ORDER_OF_SEARCH, RERANK, rank_tools
from pegboard.errors import InvalidRequest, LimitReached, ToolArgumentError, Unavailable
from pegboard.graphs.engine.stop_signal import Stopped
from pegboard.graphs.node_kind import NodeContext, SchemaOf
from pegboard.graphs.tool_host import find_tool
from pegboard.registry.prepared_search import BY_WORDS_ONLY
from pegboard.registry.toolset import Toolset


class AgentNode:
    """An agent answers a message.

    Its input is `message` (text), and `messages` (an earlier conversation, as from `to_dict`). Its
    output is `text`, the answer; `messages`, what this run adds to the conversation behind the
    message; `usage`, `calls` and `turns`; `received`, the ids of messages that reached it while it
    worked; `artifacts`, the large results that it stored; `finish`, why the answer ended where the
    model did not end it (as `length`); `context` and `tools`, the `ContextState` and the
    `ModelToolList` with which the conversation goes on. A run that failed or was cancelled has what
    there was so far.

    Args:
        prepare: Makes the setup of an agent, at each attempt.
    """

    name = "agent"
    fields = frozenset({"config"})

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare

    def share(self, goal: SharedGoal) -> "AgentNode":
        """The kind for the steps of a goal."""

        async def prepare(config: AgentConfig, principal: Principal) -> AgentSetup:
            return replace(await self._prepare(config, principal), goal=goal)

        return AgentNode(prepare)

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        try:
            config = read_config(node.config)
            if config.output_schema is not None:
                AnswerSchema(config.output_schema)
        except InvalidRequest as error:
            yield "config", "config_invalid", str(error)
        if "message" not in node.input:
            yield "input", "message_missing", "An agent needs a 'message' to answer."

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:  # noqa: ARG002 - always the same
        return OUTPUT_SCHEMA

    async def run(self, context: NodeContext) -> NodeRun:
        config = read_config(context.node.config)
        setup = configure(await self._prepare(config, context.principal), config)
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
    form = "" if setup.answer is None else setup.answer.describe()
    texts = (setup.instructions, setup.toolset.instructions, form)
    system = [SystemMessage(text=text) for text in texts if text]
    return [*system, *setup.history, *earlier, UserMessage(text=str(given["message"]))]


async def select_tools(context: NodeContext, setup: AgentSetup) -> AgentSetup:
    """Choose the tools that the model is shown for the message, once over all attempts."""
    if setup.foreign_author:
        name = read_config(context.node.config).agent
        await _taint_run(context, "author", f"agent {name}", name)
    selector = setup.selector
    if selector is None:
        await _taint_by_descriptions(context, setup.toolset)
        return setup
    question, missing = str(context.arguments()["message"]), dict(setup.toolset.missing)
    await selector.prepare(question)
    order = await rank_tools(context, setup, question)

    def select() -> Any:
        shown = selector.select(question, order.names)
        skipped = (*shown.skipped, *([RERANK] if order.has_failed else []))
        if shown.skipped:
            missing["search"] = BY_WORDS_ONLY
        if order.has_failed:
            missing["selection"] = IN_ORDER_OF_SEARCH
        if missing:
            context.emit("tools_missing", {"missing": missing})
        return to_builtins(structs.replace(shown, skipped=skipped, usage=order.usage))

    made = await context.compute_once("tools", select)
    shown = convert(made, ModelToolList)
    toolset = selector.assemble(shown)
    await _taint_by_descriptions(context, toolset)
    return replace(setup, selector=None, toolset=toolset, shown=shown)


async def _taint_by_descriptions(context: NodeContext, toolset: Toolset) -> None:
    """Taint the run where its model is shown how another person describes a skill or an agent."""
    if described := find_untrusted_description(toolset, context.principal):
        kind, name = described
        await _taint_run(context, kind, f"{kind} {name}", name)


async def _taint_run(context: NodeContext, kind: TaintKind, tool: str, name: str) -> None:
    """Note that the run reads text of another person, before its model does."""
    taint = Taint(call_id=context.address, tool=tool, source=name, kind=kind, at=context.now())
    await context.board.environment.trust.add(context.call_context(""), taint)


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
        self._usage = setup.shown.usage
        self._calls = 0
        self._turns = 0
        self._repairs = 0
        self._has_sent_on = False
        self._repetition = Repetition()
        self._skills = SkillsInForce()
        self._artifacts: list[dict[str, Any]] = []
        self._guard = setup.guard(context.principal, question=len(messages) - 1)

    async def run(self) -> NodeRun:
        """Take turns until the model answers, or a limit is reached."""
        try:
            return await self._take_turns()
        except Stopped as stop:
            return self._end(NodeState.CANCELLED, reason=str(stop))
        except (LimitReached, Unavailable) as error:
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
                place=self._begin_turn(number),
            )
            is_stuck = self._is_stuck()
            run = await turn.run([*self._before, *self._new], final=is_last or is_stuck)
            if run.state is not NodeState.COMPLETED:
                return self._end(run.state, error=run.error, reason=run.reason)
            record = read_turn(run)
            self._add_turn(record)
            message = record.response.message
            if not message.calls:
                if (ended := await self._accept(record.response)) is not None:
                    return ended
                continue
            if is_stuck or is_last:
                self._new += map(refuse_call, message.calls)
            if is_stuck:
                raise LimitReached("The model repeats the same calls and gives no answer.")
            if is_last:
                break
            await self._make_calls(message, number)
        raise limit_reached(self._setup.limits.turns, "turns")

    async def _accept(self, response: ModelResponse) -> NodeRun | None:
        """The end of the run; None where the model has to go on, or to answer in its form."""
        checked = check_answer(self._setup, response, self._repairs)
        if isinstance(checked, UserMessage):
            self._repairs += 1
            self._new.append(checked)
            return None
        self._new[-1] = checked
        if gap := await self._find_gap(response):
            self._has_sent_on = True
            self._new.append(UserMessage(text=describe_gap(gap), is_note=True))
            return None
        return self._end(NodeState.COMPLETED, text=checked.text, finish=response.finish)

    async def _find_gap(self, response: ModelResponse) -> str:
        """Why the model is sent on, once in a run, while it has turns left; recorded as a step."""
        setup = self._setup
        is_checked = setup.completion_check and setup.answer is None and not self._has_sent_on
        if not is_checked or self._turns + 1 >= setup.limits.turns:
            return ""
        gap = find_gap(response, self._new, self._find_action)
        if not gap or self._has_reached_limit():
            return ""

        async def report(_key: str) -> NodeRun:
            self._context.emit("phase", {"phase": "complete", "turn": self._turns, "reason": gap})
            return NodeRun(id=self._context.step, state=NodeState.COMPLETED, output={"reason": gap})

        await self._context.run_once(report, label="complete", acts=False)
        return gap

    def _find_action(self, call: ToolCall) -> str:
        """The name of the tool that a call would change something by; empty if it only reads."""
        try:
            name = unwrap_call(call).name
        except InvalidRequest:
            return ""
        tool = find_tool(self._setup.toolset, name)[0]
        return "" if tool is None or tool.spec.effect is Effect.READ else name

    def _has_reached_limit(self) -> bool:
        """Whether another turn would fail the run, which has an answer."""
        elapsed = self._context.now() - self._started
        try:
            check_limits(self._setup.limits, self._usage, self._calls, elapsed=elapsed)
        except LimitReached:
            return True
        return False

    def _add_turn(self, record: TurnRecord) -> None:
        self._taken |= frozenset(record.signals)
        self._new += [*record.messages, record.response.message]
        self._usage += record.response.usage + record.usage
        counted = record.response.usage.input_tokens
        self._guard.restore(record.context, units=record.units, counted=counted)
        if (goal := self._setup.goal) is not None:
            goal.note(self._context.step, self._measure_usage())
            goal.note_messages(record.signals)

    def _begin_turn(self, number: int) -> int:
        """The number of a turn among those of all agents of the goal."""
        self._turns = number
        goal = self._setup.goal
        return 0 if goal is None else goal.begin_turn(self._context.step, self._measure_usage())

    def _measure_usage(self) -> AgentUsage:
        return AgentUsage(turns=self._turns, calls=self._calls, usage=self._usage)

    async def _make_calls(self, message: AssistantMessage, turn: int) -> None:
        calls = message.calls
        self._calls += len(calls)
        if (goal := self._setup.goal) is not None:
            goal.note(self._context.step, self._measure_usage())
        most = self._guard.limit_results([*self._before, *self._new], len(calls))
        runs = await run_calls(
            self._context,
            self._setup,
            calls,
            turn=turn,
            max_result_bytes=most,
            refuse=self._skills.refuse,
        )
        for call, run in zip(calls, runs, strict=True):
            self._skills.note(run, self._setup.toolset)
            self._note_output(run)
            told = as_message(call, run)
            note = self._repetition.note(call, told.text)
            self._new.append(structs.replace(told, text=f"{told.text}{note}"))

    def _note_output(self, run: NodeRun) -> None:
        """Note the results that a call has stored, and what models have used within it."""
        output: Mapping[str, Any] = run.output or {}
        if "handle" in output:
            stored = {"handle": output["handle"], "total_bytes": output["total_bytes"]}
            self._artifacts.append({"tool": run.tool, **stored})
        self._artifacts += output.get("artifacts") or ()
        if "sampled" in output:
            self._usage += convert(output["sampled"], ModelUsage)
        if "usage" in output and self._setup.goal is None:  # a goal knows of all its agents
            self._usage += convert(output["usage"], ModelUsage)

    def _is_stuck(self) -> bool:
        last = next((m for m in reversed(self._new) if isinstance(m, AssistantMessage)), None)
        return last is not None and self._repetition.is_stuck(last.calls)

    def _end(
        self, state: NodeState, *, text: str = "", finish: Finish = "stop", **known: Any
    ) -> NodeRun:
        return end_run(
            self._context.step,
            state,
            text=text,
            finish=finish,
            messages=self._new,
            usage=self._usage,
            calls=self._calls,
            received=self._taken,
            context=self._guard.state,
            shown=self._setup.shown,
            more={
                "turns": self._turns,
                **({"artifacts": self._artifacts} if self._artifacts else {}),
            },
            **known,
        )


def check_answer(
    setup: AgentSetup, response: ModelResponse, repairs: int
) -> AssistantMessage | UserMessage:
    """The answer in its form, or what the model is told to answer again.

    Args:
        setup: Says in which form.
        response: The answer as the model gave it.
        repairs: How often it has answered again already.

    Raises:
        Unavailable: It has answered again too often.
    """
    if setup.answer is None:
        return response.message
    try:
        value = setup.answer.read(response)
    except ToolArgumentError as error:
        if repairs < MAX_REPAIRS:
            return UserMessage(text=setup.answer.describe_faults(error), is_note=True)
        raise Unavailable(
            f"The model '{setup.model.name}' gave no answer in the requested form, "
            f"{MAX_REPAIRS + 1} times; last:\n{format_problems(error)}"
        ) from error
    return structs.replace(response.message, text=json.encode(value).decode())
