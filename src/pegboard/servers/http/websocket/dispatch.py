"""What each message asks of the board; the same services as behind the HTTP paths."""

from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import Any, Protocol, assert_never

from pegboard.core.context import Progress
from pegboard.core.principal import Principal
from pegboard.features.approvals.schemas import approval_to_dict
from pegboard.features.runs import RunView
from pegboard.graphs.documents.read import is_plan, read_apart
from pegboard.runtime import Pegboard
from pegboard.servers.http.execute_call import Answer, execute_call, to_accepted_response
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


class Teller(Protocol):
    """Says what comes before the answer of a request."""

    async def event(self, event: Mapping[str, Any]) -> None:
        """Something has happened; waits while the client is behind."""
        ...

    def progress(self, progress: Progress) -> None:
        """How far it is; called on any thread."""
        ...


async def answered(
    message: Work,
    board: Pegboard,
    caller: Principal,
    teller: Teller,
    *,
    news: Callable[[], BoardSubscriptions],
) -> Answer | ProblemAnswer:
    """Do what a message asks for.

    Raises:
        PegboardError: It cannot be done.
    """
    match message:
        case CallMessage():
            return await execute_call(board, caller, message.body, on_progress=teller.progress)
        case FollowRunMessage():
            return await _followed(message, board, caller, teller)
        case SubscribeMessage():
            return await _subscribed(news(), caller, teller)
        case DecideMessage():
            return await _decided(message, board, caller)
        case StartRunMessage():
            return await _started(message, board, caller)
        case _:
            return Answer(body=(await _of_a_run(message, board, caller)).to_dict())


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


async def _started(message: StartRunMessage, board: Pegboard, caller: Principal) -> Answer:
    wanted, key = message.body, message.key
    if wanted.plan_id:
        view = await board.runs.start_plan(wanted.plan_id, wanted.params, principal=caller, key=key)
    else:
        graph = await read_apart(wanted.graph)
        view = await board.runs.start_graph(
            graph, wanted.params, principal=caller, key=key, as_plan=is_plan(wanted.graph)
        )
    return to_accepted_response(view)


async def _followed(
    message: FollowRunMessage, board: Pegboard, caller: Principal, teller: Teller
) -> Answer:
    last = message.after
    following = board.runs.events(message.run_id, after=message.after, principal=caller)
    async with aclosing(following) as events:
        async for event in events:
            last = event.sequence
            told = {"sequence": last, "kind": event.kind, "at": event.at, **event.data}
            await teller.event(told)
    return Answer(body={"run_id": message.run_id, "last": last})


async def _subscribed(news: BoardSubscriptions, caller: Principal, teller: Teller) -> Answer:
    with news.subscribed(caller) as coming:
        await teller.event({"kind": "subscribed"})
        async with aclosing(coming) as events:
            async for event in events:
                await teller.event(event)
    return Answer(body={})


async def _decided(message: DecideMessage, board: Pegboard, caller: Principal) -> Answer:
    wanted = message.body
    decided = await board.approvals.decide(
        message.approval_id,
        wanted.decision,
        note=wanted.note,
        arguments=wanted.arguments,
        principal=caller,
    )
    return Answer(body=approval_to_dict(decided))
