"""Dispatches messages to the services of the board, the same ones as the HTTP routes."""

from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Any, Protocol, assert_never

from pegboard.core.context import Progress
from pegboard.core.principal import Principal
from pegboard.features.approvals.schemas import approval_to_dict
from pegboard.features.runs import RunView
from pegboard.graphs.documents.read import is_plan, read_in_thread
from pegboard.runtime import Pegboard
from pegboard.servers.http.execute_call import SuccessAnswer, execute_call, to_accepted_answer
from pegboard.servers.http.problem_details import ProblemAnswer
from pegboard.servers.http.websocket.messages import (
    AnswerRunMessage,
    CallMessage,
    DecideMessage,
    FollowRunMessage,
    MessageRunMessage,
    ShowRunMessage,
    StartRunMessage,
    SteerRunMessage,
    SubscribeMessage,
    Work,
)
from pegboard.servers.http.websocket.subscriptions import BoardSubscriptions


class RequestUpdates(Protocol):
    """Sends updates of a request before its answer."""

    async def event(self, event: Mapping[str, Any]) -> None:
        """Send an event; waits while the client is slow."""
        ...

    def progress(self, progress: Progress) -> None:
        """Send progress; safe to call on any thread."""
        ...


async def dispatch(
    message: Work,
    board: Pegboard,
    caller: Principal,
    updates: RequestUpdates,
    *,
    subscriptions: Callable[[], BoardSubscriptions],
) -> SuccessAnswer | ProblemAnswer:
    """Handle the request of a message.

    Raises:
        PegboardError: The request fails.
    """
    match message:
        case CallMessage():
            return await execute_call(board, caller, message.body, on_progress=updates.progress)
        case FollowRunMessage():
            return await _follow(message, board, caller, updates)
        case SubscribeMessage():
            return await _subscribe(subscriptions(), caller, updates)
        case DecideMessage():
            return await _decide(message, board, caller)
        case StartRunMessage():
            return await _start(message, board, caller)
        case _:
            return SuccessAnswer(body=(await _of_a_run(message, board, caller)).to_dict())


async def _of_a_run(
    message: ShowRunMessage | SteerRunMessage | AnswerRunMessage | MessageRunMessage,
    board: Pegboard,
    caller: Principal,
) -> RunView:
    runs, run_id = board.runs, message.run_id
    match message:
        case ShowRunMessage():
            return await runs.get(run_id, principal=caller)
        case AnswerRunMessage():
            given = message.body
            return await runs.answer(run_id, given.pending_id, given.answer, principal=caller)
        case MessageRunMessage():
            sent = message.body
            return await runs.send(
                run_id, sent.event, sent.message, message_id=sent.id, principal=caller
            )
        case SteerRunMessage(type="cancel_run"):
            return await runs.cancel(run_id, principal=caller)
        case SteerRunMessage(type="pause_run"):
            return await runs.pause(run_id, principal=caller)
        case SteerRunMessage():
            return await runs.resume(run_id, principal=caller)
        case _:
            assert_never(message)


async def _start(message: StartRunMessage, board: Pegboard, caller: Principal) -> SuccessAnswer:
    wanted, key = message.body, message.key
    if wanted.plan_id:
        view = await board.runs.start_plan(wanted.plan_id, wanted.params, principal=caller, key=key)
    else:
        graph = await read_in_thread(wanted.graph)
        view = await board.runs.start_graph(
            graph, wanted.params, principal=caller, key=key, as_plan=is_plan(wanted.graph)
        )
    return to_accepted_answer(view)


async def _follow(
    message: FollowRunMessage, board: Pegboard, caller: Principal, updates: RequestUpdates
) -> SuccessAnswer:
    last = message.after
    following = board.runs.events(message.run_id, after=message.after, principal=caller)
    async with aclosing(following) as events:
        async for event in events:
            last = event.sequence
            data = {"sequence": last, "kind": event.kind, "at": event.at, **event.data}
            await updates.event(data)
    return SuccessAnswer(body={"run_id": message.run_id, "last": last})


async def _subscribe(
    subscriptions: BoardSubscriptions, caller: Principal, updates: RequestUpdates
) -> SuccessAnswer:
    with subscriptions.subscribe(caller) as coming:
        await updates.event({"kind": "subscribed"})
        async with aclosing(coming) as events:
            async for event in events:
                await updates.event(event)
    return SuccessAnswer(body={})


async def _decide(message: DecideMessage, board: Pegboard, caller: Principal) -> SuccessAnswer:
    wanted = message.body
    decided = await board.approvals.decide(
        message.approval_id,
        wanted.decision,
        note=wanted.note,
        arguments=wanted.arguments,
        principal=caller,
    )
    return SuccessAnswer(body=approval_to_dict(decided))
