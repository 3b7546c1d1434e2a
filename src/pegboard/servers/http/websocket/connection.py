"""One WebSocket connection: concurrent requests, each answered under its id."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from starlette.types import Receive, Send

from pegboard.core.context import Progress
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest, Overloaded, PegboardError
from pegboard.runtime import Pegboard
from pegboard.servers.http.execute_call import SuccessAnswer
from pegboard.servers.http.problem_details import (
    ProblemAnswer,
    error_answer,
    internal_error_answer,
    problem_answer,
    validation_answer,
)
from pegboard.servers.http.websocket.dispatch import dispatch
from pegboard.servers.http.websocket.messages import (
    READER,
    CancelMessage,
    Id,
    PingMessage,
    Work,
    faults_of,
    id_of,
    read_object,
    schema_for,
)
from pegboard.servers.http.websocket.send_queue import SendQueue
from pegboard.servers.http.websocket.subscriptions import BoardSubscriptions
from pegboard.servers.shutdown import cancel_and_wait

SLOW_READER = 4008
"""Close code for a client that does not read its messages."""

CANCELLED = 499


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Limits of one connection.

    Attributes:
        in_flight: Concurrent requests.
        send_timeout: Seconds that the client may leave a message unread.
    """

    in_flight: int = 64
    send_timeout: float = 20.0


class Connection:
    """Reads messages, and answers each in a task of its own.

    Args:
        receive: Receives messages; the connection is accepted.
        send: Sends messages.
        board: An open board.
        caller: Returns the caller who has connected, with the rights of now.
        subscriptions: Returns the subscriptions of the board.
        limits: Limits of the connection.
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        *,
        board: Pegboard,
        caller: Callable[[], Principal],
        subscriptions: Callable[[], BoardSubscriptions],
        limits: ConnectionLimits,
    ) -> None:
        self._receive = receive
        self._send = send
        self._board = board
        self._caller = caller
        self._subscriptions = subscriptions
        self._limits = limits
        self._queue = SendQueue(self._send_text, timeout=limits.send_timeout)
        self._tasks: dict[Id, asyncio.Task[None]] = {}
        self._ended = False

    async def serve(self) -> None:
        """Serve until one side closes the connection; running requests are cancelled then."""
        reading = asyncio.create_task(self._read())
        delivering = asyncio.create_task(self._queue.deliver())
        try:
            await asyncio.wait((reading, delivering), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._ended = True
            reading.cancel()
            delivering.cancel()
            await cancel_and_wait([reading, delivering, *self._tasks.values()])
        if not delivering.cancelled() and isinstance(delivering.exception(), TimeoutError):
            reason = f"not read within {self._limits.send_timeout:g} s"
            await self._send({"type": "websocket.close", "code": SLOW_READER, "reason": reason})
        for task in (reading, delivering):
            if not task.cancelled() and not isinstance(task.exception(), OSError):
                task.result()

    async def _send_text(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})

    async def _read(self) -> None:
        while True:
            received = await self._receive()
            if received["type"] == "websocket.disconnect":
                return
            text = received.get("text")
            if text is None:
                await self._send_answer(
                    None, problem_answer(415, "Messages must be text, not binary.")
                )
                continue
            await self._take(text)

    async def _take(self, text: str) -> None:
        """Start the request of a message; one that cannot be started is answered at once."""
        known: Id | None = None
        given: dict[str, Any] = {}
        try:
            most = self._board.settings.max_request_values
            given = read_object(text, max_values=most)
            known = id_of(given)
            message = READER.validate_python(given)
            match message:
                case PingMessage():
                    await self._queue.put({"id": message.id, "type": "pong"})
                case CancelMessage():
                    await self._send_answer(message.id, self._cancel(message.request))
                case _:
                    await self._begin(message)
        except ValidationError as error:
            await self._send_answer(
                known, validation_answer(faults_of(error), schema=schema_for(given))
            )
        except PegboardError as error:
            await self._send_answer(known, error_answer(error))

    async def _begin(self, message: Work) -> None:
        if message.id in self._tasks:
            detail = f"The id {message.id!r} is in use by a running request."
            await self._send_answer(None, problem_answer(409, detail, code=InvalidRequest.code))
            return
        if len(self._tasks) >= self._limits.in_flight:
            raise Overloaded(
                f"{self._limits.in_flight} requests are already running on this connection.",
                retry_after=1.0,
            )
        task = asyncio.create_task(self._answer(message))
        self._tasks[message.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(message.id, None))
        await asyncio.sleep(0)  # a task that is cancelled before it starts would send no answer

    def _cancel(self, request: Id) -> SuccessAnswer | ProblemAnswer:
        task = self._tasks.get(request)
        if task is None:
            return problem_answer(404, f"No request with the id {request!r} is running.")
        task.cancel()
        return SuccessAnswer(body={"request": request})

    async def _answer(self, message: Work) -> None:
        updates = _Updates(message.id, self._queue)
        try:
            if not self._board.is_open:
                answer = error_answer(_not_open())
            else:
                answer = await dispatch(
                    message, self._board, self._caller(), updates, subscriptions=self._subscriptions
                )
        except PegboardError as error:
            answer = error_answer(error)
        except asyncio.CancelledError:
            if self._ended:
                raise
            answer = problem_answer(CANCELLED, "The request was cancelled.", code="cancelled")
        except Exception as error:  # noqa: BLE001 - the last resort: logged, answered with its id
            answer = internal_error_answer(error, during=f"/ws {message.type}")
        updates.end()
        await self._send_answer(message.id, answer)

    async def _send_answer(self, known: Id | None, answer: SuccessAnswer | ProblemAnswer) -> None:
        if isinstance(answer, ProblemAnswer):
            message = {"id": known, "type": "error", "problem": answer.body}
        else:
            message = {"id": known, "type": "result", "status": answer.status, "body": answer.body}
        await self._queue.put(message)


class _Updates:
    """Sends the updates of one request before its answer."""

    def __init__(self, request: Id, queue: SendQueue) -> None:
        self._id = request
        self._queue = queue
        self._loop = asyncio.get_running_loop()
        self._ended = False

    async def event(self, event: Mapping[str, Any]) -> None:
        """Send an event."""
        await self._queue.put({"id": self._id, "type": "event", "event": event})

    def progress(self, progress: Progress) -> None:
        """Send progress; safe to call on any thread."""
        message = {
            "id": self._id,
            "type": "progress",
            "tool": progress.tool,
            "done": progress.done,
            "total": progress.total,
            "message": progress.message,
        }
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._put, message)

    def end(self) -> None:
        """Drop further updates: the answer follows."""
        self._ended = True

    def _put(self, message: Mapping[str, Any]) -> None:
        if not self._ended:
            self._queue.put_progress(message)


def _not_open() -> PegboardError:
    return Overloaded("The board is not open.", retry_after=1.0)
