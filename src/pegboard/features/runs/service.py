"""What the service does with runs: start, show, watch, steer them, and take answers."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any

from pegboard.core.graph import Graph
from pegboard.core.ports.run_store import RunEvent, RunQuery, RunStore, StoredRun
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import RunNotFound
from pegboard.features.approvals import Approvals
from pegboard.features.permissions import may_see_all_runs, may_see_run
from pegboard.features.plans import Plans
from pegboard.features.runs.answers import CANCELLED, RunAnswers
from pegboard.features.runs.control import RunControl
from pegboard.features.runs.event_feed import RunFeed, find_last_event, follow_events
from pegboard.features.runs.start import RunStarter
from pegboard.features.runs.views import RunList, RunView, summarize, view_run
from pegboard.graphs import GraphRunner
from pegboard.registry import ToolRegistry

Follow = Callable[[], Awaitable[tuple[str, ...]]]


class Runs:
    """Runs of plans and graphs, for callers who may see their own.

    ```python
    view = await board.runs.start_plan(plan_id, {"url": "https://example.com"})
    view = await board.runs.wait(view.id)
    view.result.state, view.result.output
    ```

    Args:
        registry: Whose tools.
        store: Where runs are kept.
        runner: Plays them.
        plans: Where plans come from.
        feed: Tells when something has happened.
        follow: Takes up what other processes have left, now and from now on.
        approvals: Where an answer to an approval is decided; None leaves it to the runner.
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
        self._approvals = approvals

    async def start_plan(
        self,
        plan_id: str,
        params: Mapping[str, Any] | None = None,
        *,
        principal: Principal = LOCAL,
        key: str = "",
    ) -> RunView:
        """Start a run of a plan.

        Args:
            plan_id: Which plan.
            params: What it is given; what is left out is what the plan was made with.
            principal: For whom.
            key: The same key gives the same run again; empty for a new one.

        Raises:
            PlanNotFound: There is no such plan for this caller.
            GraphInvalid: The plan cannot run on this board; every fault.
            InvalidRequest: The params do not fit.
            IdempotencyConflict: The key was used for something else.
        """
        plan = await self._plans.get(plan_id, principal=principal)
        given = params or {}
        return await self._start(plan.graph, given, principal, key=key, as_plan=True)

    async def start_graph(
        self,
        graph: Graph,
        params: Mapping[str, Any] | None = None,
        *,
        principal: Principal = LOCAL,
        key: str = "",
        as_plan: bool = False,
    ) -> RunView:
        """Start a run of a graph that comes along, perhaps written as a plan; the rest as above.

        Where it is a plan that is kept, the run is one of that plan; an id that no kept plan has is
        the run's `plan_id` as well.
        """
        named = await self._starter.resolve_plan(graph, principal=principal)
        given = params or {}
        return await self._start(named, given, principal, key=key, as_plan=as_plan)

    async def start_call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        principal: Principal = LOCAL,
        seconds: float | None = None,
        key: str = "",
    ) -> RunView:
        """Start a run that is one call of one tool; its output is the call's.

        Args:
            tool: Name or id.
            arguments: As they are: no text in them is taken for a path.
            principal: For whom.
            seconds: For the whole run; None for no limit.
            key: The same key gives the same run again.

        Raises:
            ToolNotFound: There is no such tool for this caller.
            GraphInvalid: The arguments do not fit, or the caller may not call it.
        """
        graph = await self._starter.prepare_call(tool, arguments, principal, seconds=seconds)
        return await self._start(graph, {}, principal, key=key)

    async def get(self, run_id: str, *, principal: Principal = LOCAL) -> RunView:
        """How a run is now.

        Raises:
            RunNotFound: There is none of this id for this caller.
        """
        return await self._view(await self._visible(run_id, principal))

    async def wait(self, run_id: str, *, principal: Principal = LOCAL) -> RunView:
        """How a run is once it has ended, or waits for what time alone does not bring.

        Raises:
            RunNotFound: There is none of this id for this caller.
            Unavailable: It cannot be played here and now; says why.
        """
        await self._answers.wait_until_settled(
            (await self._visible(run_id, principal)).start.run_id
        )
        return await self.get(run_id, principal=principal)

    async def list(self, query: RunQuery | None = None, *, principal: Principal = LOCAL) -> RunList:
        """One page of the runs that this caller may see; by default of all of them.

        Raises:
            InvalidRequest: The cursor is not one of ours, or the limit is out of range.
        """
        query = query or RunQuery()
        mine = "" if may_see_all_runs(principal) else principal.id
        if mine and query.principal not in {"", mine}:
            return RunList(runs=())
        wanted = RunQuery(
            state=query.state,
            plan_id=query.plan_id,
            principal=mine or query.principal,
            tenant=principal.tenant,
            limit=query.limit,
            cursor=query.cursor,
        )
        page = await self._store.runs(wanted)
        return RunList(runs=tuple(map(summarize, page.runs)), next_cursor=page.next_cursor)

    async def pause(self, run_id: str, *, principal: Principal = LOCAL) -> RunView:
        """Start nothing new in a run; what is being done goes on to its end."""
        await self._control.pause(await self._visible(run_id, principal), principal=principal)
        return await self.get(run_id, principal=principal)

    async def resume(self, run_id: str, *, principal: Principal = LOCAL) -> RunView:
        """Let a paused run go on, also one whose process died; it hears what was decided."""
        await self._control.resume(await self._visible(run_id, principal), principal=principal)
        view = await self.get(run_id, principal=principal)
        if self._approvals is not None:
            await self._approvals.catch_up()
        return view

    async def cancel(self, run_id: str, *, principal: Principal = LOCAL) -> RunView:
        """Start nothing new in a run, cancel what is being done, and ask for no approval more."""
        await self._control.cancel(await self._visible(run_id, principal), principal=principal)
        if self._approvals is not None:
            await self._approvals.withdraw(run_id, by=principal.id, note=CANCELLED)
        await self._control.wait_until_ended(run_id)
        return await self.get(run_id, principal=principal)

    async def answer(
        self, run_id: str, pending_id: str, answer: Any, *, principal: Principal = LOCAL
    ) -> RunView:
        """Answer what a run asks: a question, an approval, or what happened to a call.

        An approval is decided by it, with the `note` beside the `answer`; raises as that does.

        Raises:
            RunNotFound: There is none of this id for this caller.
            InvalidRequest: It does not ask this, or the answer does not fit.
            AlreadyAnswered: Somebody was first.
        """
        run = await self._visible(run_id, principal)
        await self._answers.answer(
            run, pending_id, answer, approvals=self._approvals, principal=principal
        )
        return await self.get(run_id, principal=principal)

    async def send(
        self,
        run_id: str,
        event: str,
        message: Any = None,
        *,
        message_id: str = "",
        principal: Principal = LOCAL,
    ) -> RunView:
        """Send a run a message by name; the same id again is the same message.

        Raises:
            RunNotFound: There is none of this id for this caller.
        """
        await self._visible(run_id, principal)
        await self._runner.send(run_id, event, message, id=message_id)
        return await self.get(run_id, principal=principal)

    async def events(
        self, run_id: str, *, after: int = 0, principal: Principal = LOCAL
    ) -> AsyncGenerator[RunEvent]:
        """What happens in a run, from an event on and until it has ended.

        Raises:
            RunNotFound: There is none of this id for this caller.
        """
        await self._visible(run_id, principal)
        coming = follow_events(
            self._store, self._feed, run_id, after=after, now=self._registry.kit.now
        )
        async for event in coming:
            yield event

    async def last_event(self, run_id: str, *, principal: Principal = LOCAL) -> int:
        """The number of the last event of a run so far: `events` after it tell only what is new.

        Raises:
            RunNotFound: There is none of this id for this caller.
        """
        await self._visible(run_id, principal)
        return await find_last_event(self._store, run_id)

    async def follow(self) -> tuple[str, ...]:
        """Take up the runs that nobody plays, now and from now on: for a server."""
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
        run = await self._store.get(run_id)
        if run is None or not may_see_run(principal, run):
            raise RunNotFound(f"There is no run '{run_id[:100]}'.")
        return run

    async def _view(self, run: StoredRun) -> RunView:
        return await view_run(self._store, run, now=self._registry.kit.now())
