"""Runs graphs: starts, pauses, resumes, cancels and answers runs."""

import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from msgspec import structs

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.context import ToolContext
from pegboard.core.elicitation import QuestionRules
from pegboard.core.graph import Graph, NodeState, is_large
from pegboard.core.ports.durability import CONTROL, Durability, RunStart, RunSteps, Signal
from pegboard.core.principal import Principal
from pegboard.core.run import PendingStep, RunResult
from pegboard.errors import AccessDenied, AlreadyAnswered, InvalidRequest, Unavailable
from pegboard.execution.wait_for_source import wait_for_graph_sources
from pegboard.graphs.call_questions import question_topic
from pegboard.graphs.checks.check import refuse_faults
from pegboard.graphs.checks.context import CheckContext, WasThere
from pegboard.graphs.documents.read import read_in_thread
from pegboard.graphs.documents.write import write_graph
from pegboard.graphs.engine.attempt import AttemptLimit, RunAttempt
from pegboard.graphs.engine.graph_execution import validate_params
from pegboard.graphs.engine.run_context import NameNow, approval_topic
from pegboard.graphs.engine.steps import EphemeralSteps
from pegboard.graphs.failover import SubstituteFinder, for_caller
from pegboard.graphs.kinds import KINDS, NodeKind
from pegboard.graphs.tool_host import ToolHost

ContextOf = Callable[[RunStart], ToolContext[Any]]
RulesOf = Callable[[RunStart], QuestionRules]
HostOf = Callable[[RunStart], ToolHost]
EnvOf = Callable[[Principal], Mapping[str, Any]]
"""What graphs of a principal read as `$.env`."""


def new_run_id() -> str:
    """A new, unique id of a run."""
    return f"r_{secrets.token_hex(12)}"


def answer_id(pending_id: str) -> str:
    """The id and topic of the signal that answers a question of a run; there is at most one."""
    return f"answer:{pending_id}"


async def run_graph(
    graph: Graph,
    params: Mapping[str, Any] | None = None,
    *,
    board: ToolHost,
    ctx: ToolContext[Any] | None = None,
    kinds: Mapping[str, NodeKind] = KINDS,
    env: Mapping[str, Any] | None = None,
    run_id: str = "",
) -> RunResult:
    """Run a graph to its end without storing anything.

    ```python
    result = await run_graph(graph, {"url": "https://example.com"}, board=registry)
    ```

    A run that waits for a person or an event ends as `waiting`; only a `GraphRunner` can resume a
    run.

    Args:
        graph: What to run; checked first.
        params: What its `params` schema asks for.
        board: The tools that there are; a `ToolRegistry`.
        ctx: For whom, and by when.
        kinds: Node kinds by name.
        env: What `$.env` may read.
        run_id: The run that records of its calls name; empty for a new id.

    Raises:
        GraphInvalid: The graph has faults, alone or with the board; all of them.
        InvalidRequest: The params do not match the graph's schema.
    """
    ctx = ctx or ToolContext()
    terms = CheckContext(board=board, principal=ctx.principal, kinds=kinds, env=env or {})
    await refuse_faults(graph, terms)
    validate_params(graph, params or {})
    start = RunStart(
        run_id=run_id or ctx.run_id or new_run_id(),
        graph={},
        params=params or {},
        principal=ctx.principal,
        created_at=board.environment.now(),
        parent_id=ctx.call_id or ctx.parent_id,
        env=env or {},
    )
    attempt = RunAttempt(graph, start, board=board, kinds=kinds, ctx=ctx)
    return await attempt.execute(EphemeralSteps(start))


class GraphRunner:
    """Runs graphs that outlive their caller and, with a durable back end, their process.

    ```python
    runner = GraphRunner(registry, durability=durability)
    result = await runner.run(graph, {"url": "https://example.com"})
    if result.state == "waiting":
        await runner.answer(result.run_id, result.pending[0].id, {"answer": "approve"})
        result = await runner.result(result.run_id)
    ```

    Args:
        board: The tools that there are.
        durability: Where runs are stored; the caller closes it.
        kinds: Node kinds by name.
        env: What `$.env` may read in runs of a principal; a run reads the values of its start.
        host: The tools of a run, asked at each attempt; None for `board`.
        context: Whose principal and workspace the calls of a run have, asked at each attempt; None
            for the principal that started it. What only the process that started it knows
            (dependencies, listeners of progress) is added there.
        heal: Finds a substitute for unavailable tools; None for none.
        was_there: Whether a missing tool existed before, so that its name is no mistake.
        name_now: Names the caller of a run with the rights of now, asked at each attempt and each
            step; None keeps those of the start.
        question_rules: Whether the tools of a run may ask a person; None leaves it to the context
            of its calls.
    """

    def __init__(  # noqa: PLR0913 - all that runs are made of
        self,
        board: ToolHost,
        *,
        durability: Durability,
        kinds: Mapping[str, NodeKind] = KINDS,
        env: EnvOf | None = None,
        host: HostOf | None = None,
        context: ContextOf | None = None,
        heal: SubstituteFinder | None = None,
        was_there: WasThere | None = None,
        name_now: NameNow | None = None,
        question_rules: RulesOf | None = None,
    ) -> None:
        self._name_now = name_now
        self._question_rules = question_rules
        self.durability = durability
        self._board = board
        self._kinds = kinds
        self._env: EnvOf = env or _no_env
        self._host = host
        self._context = context or _plain_context
        self._heal = heal
        self._was_there = was_there
        self._begun: dict[str, tuple[Graph, ToolContext[Any]]] = {}
        self._limit = AttemptLimit(board)
        durability.attach(self._attempt)

    async def start(
        self,
        graph: Graph,
        params: Mapping[str, Any] | None = None,
        *,
        ctx: ToolContext[Any] | None = None,
        run_id: str = "",
    ) -> str:
        """Start a run and return its id, after waiting for the sources of its tools.

        Args:
            graph: What to run; checked first.
            params: What its `params` schema asks for.
            ctx: For whom; its deadline is not the run's, which has its own.
            run_id: The same id again is the same run; empty for a new one.

        Raises:
            GraphInvalid: The graph has faults, alone or with the board; all of them.
            InvalidRequest: The params do not match the graph's schema.
        """
        ctx = ctx or ToolContext()
        await wait_for_graph_sources(self._board.environment, graph, find=self._board.find)
        terms = CheckContext(
            board=self._board,
            principal=ctx.principal,
            kinds=self._kinds,
            env=(env := self._env(ctx.principal)),
            heal=for_caller(self._heal, ctx.principal),
            was_there=self._was_there,
        )
        await refuse_faults(graph, terms)
        validate_params(graph, params or {})
        start = RunStart(
            run_id=run_id or new_run_id(),
            graph=await in_thread(partial(write_graph, graph), is_large=is_large(graph)),
            params=params or {},
            principal=ctx.principal,
            created_at=self._board.environment.now(),
            parent_id=ctx.call_id or ctx.parent_id or ctx.run_id,
            env=dict(env),
            root_id=ctx.root_id or ctx.run_id,
        )
        if await self.durability.start(start):
            # not before: of two starts of the same run at once, one succeeds
            self._begun[start.run_id] = (graph, structs.replace(ctx, deadline=None))
        return start.run_id

    async def run(
        self,
        graph: Graph,
        params: Mapping[str, Any] | None = None,
        *,
        ctx: ToolContext[Any] | None = None,
        run_id: str = "",
    ) -> RunResult:
        """Start a run, and wait until it has ended or waits for input. Raises as `start`."""
        return await self.result(await self.start(graph, params, ctx=ctx, run_id=run_id))

    async def result(self, run_id: str, *, wait: bool = True) -> RunResult:
        """The state of a run, at once or when it has ended or waits for input.

        Raises:
            RunNotFound: There is none.
        """
        if wait:
            return await self.durability.wait_until_settled(run_id)
        seen = await self.durability.get_result(run_id)
        if seen is not None:
            return seen
        begun = await self.durability.get_start(run_id)
        started_at = 0.0 if begun is None else begun.created_at
        return RunResult(run_id=run_id, state=NodeState.IN_PROGRESS, started_at=started_at)

    async def pause(self, run_id: str) -> None:
        """Pause a run: nothing new starts, calls in progress run to their end."""
        await self._tell(run_id, CONTROL, "pause")

    async def resume(self, run_id: str) -> None:
        """Resume a paused run."""
        await self._tell(run_id, CONTROL, "resume")

    async def cancel(self, run_id: str) -> None:
        """Cancel a run and its calls in progress."""
        await self._tell(run_id, CONTROL, "cancel")

    async def send(
        self,
        run_id: str,
        event: str,
        message: Any = None,
        *,
        id: str = "",  # noqa: A002 - a message is known by its id
        by: str = "",
    ) -> None:
        """Send a run an event; the same id again is the same event."""
        await self._tell(run_id, f"event:{event}", message, id=id, by=by)

    async def answer(self, run_id: str, pending_id: str, answer: Any, *, by: str = "") -> None:
        """Answer a question of a run, an approval, or what happened to a call.

        Args:
            run_id: The run.
            pending_id: The `id` of one of its `pending`.
            answer: For a question what its schema says; for others `{"answer": one of choices}`,
                where `happened` may come with the `output`.
            by: Who answers, as `Principal.owner`; empty for the board itself.

        Raises:
            RunNotFound: There is no such run.
            InvalidRequest: It does not ask this, or the answer does not fit.
            AlreadyAnswered: It was answered before.
        """
        seen = await self.result(run_id, wait=False)
        asked = next((item for item in seen.pending if item.id == pending_id), None)
        if asked is None:
            raise InvalidRequest(f"The run does not ask '{pending_id}' now.")
        _check_answer(asked, answer)
        id_ = answer_id(pending_id)
        if not await self._tell(run_id, id_, answer, id=id_, by=by):
            raise AlreadyAnswered(f"'{pending_id}' was answered already: the first answer holds.")

    async def answer_question(
        self, run_id: str, question: str, answer: Mapping[str, Any], *, by: str = ""
    ) -> None:
        """Answer what a tool asks while the run calls it.

        Args:
            run_id: The run.
            question: The id of the question.
            answer: Its `action`, and the `content` of one that accepts; checked by the caller.
            by: Who answers, as `Principal.owner`.

        Raises:
            RunNotFound: There is no such run.
            AlreadyAnswered: It was answered before, or its time was up.
        """
        topic = question_topic(question)
        if not await self._tell(run_id, topic, dict(answer), id=topic, by=by):
            raise AlreadyAnswered("The question was answered already, or its time was up.")

    async def notify_approval(self, run_id: str, approval_id: str) -> None:
        """Let the step that waits for an approval, or soon will, repeat its call.

        Raises:
            RunNotFound: There is no such run.
        """
        topic = approval_topic(approval_id)
        await self._tell(run_id, topic, {"answer": "approve"}, id=topic)

    async def recover(self) -> tuple[str, ...]:
        """Resume the runs that a crash interrupted; their ids."""
        return await self.durability.recover()

    async def _tell(
        self,
        run_id: str,
        topic: str,
        message: Any,
        *,
        id: str = "",  # noqa: A002 - as above
        by: str = "",
    ) -> bool:
        signal = Signal(id=id or secrets.token_hex(8), topic=topic, message=message, by=by)
        return await self.durability.signal(run_id, signal)

    async def _attempt(self, steps: RunSteps) -> RunResult:
        try:
            result = await self._execute(steps)
        except Unavailable:  # of the store: the run is not to blame
            raise
        except Exception as error:  # noqa: BLE001 - it is raised again, or becomes the end of the run
            last = await self.durability.get_result(steps.start.run_id)
            return self._limit.count_failure(steps.start, error, last=last)
        self._limit.reset(steps.start.run_id)
        return result

    async def _execute(self, steps: RunSteps) -> RunResult:
        start = steps.start
        if self._name_now is not None:
            try:
                principal = await self._name_now(start.principal)
            except AccessDenied as error:
                self._begun.pop(start.run_id, None)
                last = await self.durability.get_result(start.run_id)
                return self._limit.end(start, error, last=last, state=NodeState.CANCELLED)
            start = structs.replace(start, principal=principal)
        graph, ctx = self._begun.get(start.run_id) or (await read_in_thread(start.graph), None)
        board = self._board if self._host is None else self._host(start)
        now = self._context(start)
        if ctx is not None:
            place = now if ctx.workspace is None else ctx
            now = structs.replace(
                ctx,
                principal=now.principal,
                workspace=place.workspace,
                workspace_yields=place.workspace_yields,
            )
        attempt = RunAttempt(
            graph,
            steps.start,
            board=board,
            kinds=self._kinds,
            ctx=now,
            heal=self._heal,
            name_now=self._name_now,
            question_rules=None if self._question_rules is None else self._question_rules(start),
        )
        send = partial(self.durability.signal, start.run_id)
        result = await attempt.execute(steps, send=send)
        if result.state.is_final:
            self._begun.pop(start.run_id, None)
        return result


def _no_env(_principal: Principal) -> Mapping[str, Any]:
    return {}


def _plain_context(start: RunStart) -> ToolContext[Any]:
    return ToolContext(principal=start.principal)


def _check_answer(asked: PendingStep, answer: Any) -> None:
    if asked.choices:
        given = cast("dict[str, Any]", answer).get("answer") if isinstance(answer, dict) else answer
        if given not in asked.choices:
            choices = ", ".join(asked.choices)
            raise InvalidRequest(f"The answer is one of {choices}; found {given!r}.")
    elif asked.schema:
        from pegboard.schemas.validator import compile_schema, output_problem

        problem = output_problem(compile_schema("answer", asked.schema), answer)
        if problem:
            raise InvalidRequest(f"The answer does not fit: {problem}")
