"""The `Runs` service: start, list, follow, control and answer runs of graphs."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, cast

from msgspec import structs

from pegboard.core.graph import Graph
from pegboard.core.ports.run_store import RunEvent, RunQuery, RunStore, StoredRun
from pegboard.core.principal import Principal
from pegboard.core.run import PendingStep
from pegboard.errors import RunNotFound
from pegboard.features.approvals import Approvals
from pegboard.features.key_limits import limit_keys
from pegboard.features.permissions import (
    RUNS_SCOPE,
    check_may_control_run,
    find_visible_owners,
    may_see_run,
)
from pegboard.features.plans import Plans
from pegboard.features.runs.answers import CANCELLED, RunAnswers
from pegboard.features.runs.assignees import FindNames, find_questions_to, show_questions
from pegboard.features.runs.control import RunControl
from pegboard.features.runs.event_feed import RunFeed, find_last_event, follow_events
from pegboard.features.runs.questions import RunQuestions
from pegboard.features.runs.start import RunStarter
from pegboard.features.runs.views import RunList, RunView, summarize, view_run
from pegboard.graphs import GraphRunner
from pegboard.registry import ToolRegistry

Follow = Callable[[], Awaitable[tuple[str, ...]]]
"""Resumes the runs of stopped servers, once and from then on; returns their ids."""


async def _no_names(_principal: Principal) -> tuple[str, ...]:
    return ()


_READS = (
    *("get", "find_stored", "find_questions", "wait"),
    *("list", "list_for_assignee", "events", "last_event"),
)
_STARTS = ("start_plan", "start_graph", "start_call")
"""Each step of the run is checked with the scopes of the key."""
_CONTROLS = ("pause", "resume", "cancel", "answer", "send")
"""They ask `check_may_control_run`, once the run is known."""


def _is_never(_run_id: str) -> bool:
    return False


@limit_keys("runs", reads=(*_READS, *_STARTS, *_CONTROLS), instead=RUNS_SCOPE)
class Runs:
    """Runs of plans and graphs, limited to those that the caller may see.

    ```python
    view = await board.runs.start_plan(plan_id, {"url": "https://example.com"}, principal=LOCAL)
    view = await board.runs.wait(view.id, principal=LOCAL)
    view.result.state, view.result.output
    ```

    Args:
        registry: The tools that runs call.
        store: Stores runs and their events.
        runner: Executes graphs.
        plans: Stored plans, for `start_plan`.
        feed: Stores events of runs and notifies watchers.
        follow: Resumes the runs of stopped servers, now and from now on.
        approvals: Where an answer to an approval is decided; None leaves it to the runner.
        names: The names by which a run may ask a caller.

    Attributes:
        is_elsewhere: Whether another server may execute the run of an id.
        questions: What tools ask while runs call them.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: RunStore,
        *,
        runner: GraphRunner,
        plans: Plans,
        feed: RunFeed,
        follow: Follow,
        approvals: Approvals | None = None,
        names: FindNames = _no_names,
    ) -> None:
        self._registry = registry
        self._store = store
        self._runner = runner
        self._plans = plans
        self._feed = feed
        self._follow = follow
        self._starter = RunStarter(registry, store, runner)
        self._answers = RunAnswers(registry, store, runner)
        self._control = RunControl(registry, store, runner)
        self.questions = RunQuestions(registry, store, runner)
        self._approvals = approvals
        self._names = names
        self.is_elsewhere: Callable[[str], bool] = _is_never

    async def start_plan(
        self,
        plan_id: str,
        params: Mapping[str, Any] | None = None,
        *,
        principal: Principal,
        key: str = "",
    ) -> RunView:
        """Start a run of a plan.

        Args:
            plan_id: The plan to run.
            params: Values of the plan's parameters; the rest take the plan's own defaults.
            principal: The caller, on whose behalf tools are called.
            key: An idempotency key: the same key returns the same run. Empty for a new run.

        Raises:
            PlanNotFound: The plan does not exist, or the caller may not see it.
            GraphInvalid: The plan cannot run on this board; lists every fault.
            InvalidRequest: The parameters do not match the plan.
            IdempotencyConflict: The key was used for another run.
        """
        plan = await self._plans.get(plan_id, principal=principal)
        given = params or {}
        return await self._start(plan.graph, given, principal, key=key, as_plan=True)

    async def start_graph(
        self,
        graph: Graph,
        params: Mapping[str, Any] | None = None,
        *,
        principal: Principal,
        key: str = "",
        as_plan: bool = False,
    ) -> RunView:
        """Start a run of a graph that comes with the request; errors as in `start_plan`.

        The run belongs to a stored plan if the graph has that plan's id and content. An id
        that no stored plan has becomes the run's `plan_id`.

        Args:
            graph: The graph to run.
            params: Values of its parameters.
            principal: The caller.
            key: An idempotency key; empty for none.
            as_plan: Whether the author wrote a plan: faults are then located in that plan.

        Raises:
            TypeError: `graph` is not a `Graph`.
        """
        if not isinstance(cast("object", graph), Graph):
            raise TypeError(
                f"start_graph takes a Graph, not a {type(graph).__name__}: read a document with "
                "read_graph(...) of pegboard.graphs"
            )
        named = await self._starter.resolve_plan(graph, principal=principal)
        given = params or {}
        return await self._start(named, given, principal, key=key, as_plan=as_plan)

    async def start_call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        principal: Principal,
        seconds: float | None = None,
        key: str = "",
        account: str = "",
    ) -> RunView:
        """Start a run that consists of one tool call; the output of the run is that of the call.

        Args:
            tool: Name or id of the tool.
            arguments: Passed as they are: no text in them is read as a path expression.
            principal: The caller.
            seconds: Time limit of the whole run; None for no limit.
            key: An idempotency key: the same key returns the same run.
            account: The name of the caller's credential to call with; empty for the default.

        Raises:
            ToolNotFound: The tool does not exist, or the caller may not see it.
            GraphInvalid: The arguments do not match, or the caller may not call the tool.
        """
        graph = await self._starter.prepare_call(
            tool, arguments, principal, seconds=seconds, account=account
        )
        return await self._start(graph, {}, principal, key=key)

    async def get(self, run_id: str, *, principal: Principal) -> RunView:
        """Return the current state of a run.

        Raises:
            RunNotFound: The run does not exist, or the caller may not see it.
        """
        return await self._view(await self._visible(run_id, principal))

    async def find_stored(self, run_id: str, *, principal: Principal) -> StoredRun | None:
        """A run as it is stored, without its events; None where the caller sees no such run."""
        run = await self._store.get(run_id) if run_id else None
        return run if run is not None and may_see_run(principal, run) else None

    async def find_questions(self, run_id: str, *, principal: Principal) -> RunView | None:
        """What a run of another caller asks this one, and nothing else of it; None for nothing."""
        run = await self._store.get(run_id)
        if run is None or may_see_run(principal, run):
            return None
        asked = await self._find_questions_to(run, principal)
        return show_questions(await self._view(run), asked) if asked else None

    async def list_for_assignee(
        self, query: RunQuery | None = None, *, principal: Principal
    ) -> RunList:
        """One page of the runs of others that ask this caller, newest first.

        Of each run only its questions to the caller are shown. A page may have fewer runs than its
        limit, and others after it.

        Raises:
            InvalidRequest: The cursor is unknown, or the limit is out of range.
        """
        query = query or RunQuery()
        names = await self._names(principal)
        if not names:
            return RunList(runs=())
        wanted = structs.replace(query, assignees=frozenset(names))
        page = await self._store.runs(wanted)
        views = [
            show_questions(summarize(run), asked)
            for run in page.runs
            if run.result is not None and not may_see_run(principal, run)
            if (asked := find_questions_to(run, run.result.pending, principal, names))
        ]
        return RunList(runs=tuple(views), next_cursor=page.next_cursor)

    async def wait(self, run_id: str, *, principal: Principal) -> RunView:
        """Wait until a run has ended or is suspended, and return its state.

        Raises:
            RunNotFound: The run does not exist, or the caller may not see it.
            Unavailable: The run cannot be executed here now; says why.
        """
        await self._answers.wait_until_settled(
            (await self._visible(run_id, principal)).start.run_id
        )
        return await self.get(run_id, principal=principal)

    async def list(self, query: RunQuery | None = None, *, principal: Principal) -> RunList:
        """Return one page of the runs that this caller may see, newest first.

        Raises:
            InvalidRequest: The cursor is unknown, or the limit is out of range.
        """
        query = query or RunQuery()
        owners = find_visible_owners(principal, RUNS_SCOPE, asked=query.principal)
        if owners is None:
            return RunList(runs=())
        wanted = RunQuery(
            state=query.state,
            plan_id=query.plan_id,
            principal=owners.principal,
            tenant=owners.tenant,
            limit=query.limit,
            cursor=query.cursor,
        )
        page = await self._store.runs(wanted)
        return RunList(runs=tuple(map(summarize, page.runs)), next_cursor=page.next_cursor)

    async def pause(self, run_id: str, *, principal: Principal) -> RunView:
        """Pause a run: no new step starts, and steps that are running finish.

        Raises:
            RunNotFound: The run does not exist, or the caller may not see it.
            AccessDenied: The key of the caller may not control it; as `resume` and `cancel`.
        """
        await self._control.pause(await self._controlled(run_id, principal), principal=principal)
        return await self.get(run_id, principal=principal)

    async def resume(self, run_id: str, *, principal: Principal) -> RunView:
        """Resume a paused run, or one whose process died, and deliver pending decisions to it."""
        await self._control.resume(await self._controlled(run_id, principal), principal=principal)
        view = await self.get(run_id, principal=principal)
        if self._approvals is not None:
            await self._approvals.catch_up()
        return view

    async def cancel(self, run_id: str, *, principal: Principal) -> RunView:
        """Cancel a run, its running steps and its pending approvals."""
        await self.end(await self._controlled(run_id, principal), by=principal)
        await self._control.wait_until_ended(run_id)
        return await self.get(run_id, principal=principal)

    async def end(self, run: StoredRun, *, by: Principal) -> None:
        """Cancel a run whose caller may not go on, without waiting for its end.

        Args:
            run: The run.
            by: Who has ended the account, or the caller.
        """
        # who sees the end of a call that waited, asks for its approval: it is withdrawn by then
        if self._approvals is not None:
            await self._approvals.withdraw(run.start.run_id, by=by.id, note=CANCELLED)
        await self._control.cancel(run, principal=by)

    async def answer(
        self, run_id: str, pending_id: str, answer: Any, *, principal: Principal
    ) -> RunView:
        """Answer a question of a run, or decide the approval that it waits for.

        Whom a run asks may answer, also where the run is another caller's.

        An approval is decided with the `answer` and the optional `note` beside it; this raises the
        errors of `Approvals.decide` too.

        Raises:
            RunNotFound: The run does not exist, or the caller may not see it.
            AccessDenied: The key of the caller may not control it.
            InvalidRequest: The run does not ask this, or the answer does not match.
            AlreadyAnswered: Another answer came first.
        """
        run = await self._store.get(run_id)
        if run is None or may_see_run(principal, run):
            run = await self._visible(run_id, principal)
            asked = None
        else:
            asked = await self._find_questions_to(run, principal)
            if pending_id not in {item.id for item in asked}:
                raise _not_found(run_id)
        check_may_control_run(principal, run)
        await self._answers.answer(
            run, pending_id, answer, approvals=self._approvals, principal=principal
        )
        if asked is None:
            return await self.get(run_id, principal=principal)
        left = [item for item in asked if item.id != pending_id]
        return show_questions(await self._view(run), left)

    async def send(
        self,
        run_id: str,
        event: str,
        message: Any = None,
        *,
        message_id: str = "",
        principal: Principal,
    ) -> RunView:
        """Send a named message to a run; a message id that was used before is ignored.

        Raises:
            RunNotFound: The run does not exist, or the caller may not see it.
            AccessDenied: The key of the caller may not control it.
        """
        check_may_control_run(principal, await self._visible(run_id, principal))
        await self._runner.send(run_id, event, message, id=message_id, by=principal.owner)
        return await self.get(run_id, principal=principal)

    async def events(
        self, run_id: str, *, after: int = 0, principal: Principal
    ) -> AsyncGenerator[RunEvent]:
        """Stream the events of a run until it has ended.

        Args:
            run_id: The run.
            after: Sequence number of the last event already received; 0 for all.
            principal: The caller.

        Raises:
            RunNotFound: The run does not exist, or the caller may not see it.
        """
        await self._visible(run_id, principal)
        coming = follow_events(
            self._store, self._feed, run_id, after=after, now=self._registry.environment.now
        )
        async for event in coming:
            yield event

    async def last_event(self, run_id: str, *, principal: Principal) -> int:
        """Return the sequence number of the latest event of a run, for `events(after=...)`.

        Raises:
            RunNotFound: The run does not exist, or the caller may not see it.
        """
        await self._visible(run_id, principal)
        return await find_last_event(self._store, run_id)

    async def follow(self) -> tuple[str, ...]:
        """Resume runs that no server executes, now and from now on; used by servers."""
        return await self._follow()

    async def _start(
        self,
        graph: Graph,
        params: Mapping[str, Any],
        principal: Principal,
        *,
        key: str,
        as_plan: bool = False,
    ) -> RunView:
        run = await self._starter.start(graph, params, principal, key=key, as_plan=as_plan)
        return await self._view(run)

    async def _visible(self, run_id: str, principal: Principal) -> StoredRun:
        run = await self.find_stored(run_id, principal=principal)
        if run is None:
            raise _not_found(run_id)
        return run

    async def _controlled(self, run_id: str, principal: Principal) -> StoredRun:
        run = await self._visible(run_id, principal)
        check_may_control_run(principal, run, instead=RUNS_SCOPE)
        return run

    async def _find_questions_to(
        self, run: StoredRun, principal: Principal
    ) -> tuple[PendingStep, ...]:
        if run.state.is_final:
            return ()
        seen = await self._runner.result(run.start.run_id, wait=False)
        return find_questions_to(run, seen.pending, principal, await self._names(principal))

    async def _view(self, run: StoredRun) -> RunView:
        return await view_run(self._store, run, now=self._registry.environment.now())


def _not_found(run_id: str) -> RunNotFound:
    return RunNotFound(f"There is no run '{run_id[:100]}'.")
