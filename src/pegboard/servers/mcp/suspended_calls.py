"""Calls that wait for answers of a client that the server cannot call back.

From 2026-07-28 on a server returns `input_required` instead of asking, and the client sends the
request again with the answers. The call is started once and suspended here in between. Its state
is a random token that is valid for one answer, of the same caller to the same request.
"""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from pegboard.core.elicitation import Answer, Question, Sample, SampleRequest
from pegboard.errors import ToolFailed, Unavailable
from pegboard.servers.mcp.elicitation import (
    ClientAbilities,
    answer_of,
    elicitation,
    sample_of,
    sampling,
)
from pegboard.servers.mcp.progress import ProgressReporter, Request

WAIT_TIMEOUT = 600.0
"""Seconds that a suspended call waits for answers before it is cancelled."""

MAX_SUSPENDED = 1_000
_MAX_PER_CALLER = 100


@dataclass(eq=False, slots=True)
class _PendingQuestion:
    request: types.ElicitRequest | types.CreateMessageRequest
    read: Callable[[Any], Any]
    answer: "asyncio.Future[Any]"


@dataclass(eq=False, slots=True)
class SuspendedCall:
    """A call that can outlive its first request; the `Elicitor` of its tool.

    Attributes:
        owner: The caller and the request allowed to resume the call.
        reporter: Sends progress to the request that waits for the call.
        given: Answers that came with the first request, by name of the question.
    """

    owner: tuple[Hashable, ...]
    abilities: ClientAbilities
    reporter: ProgressReporter
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    pending: dict[str, _PendingQuestion] = field(default_factory=dict[str, _PendingQuestion])
    has_question: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[Any] | None" = None
    expiry: asyncio.TimerHandle | None = None
    count: int = 0

    @property
    def takes_questions(self) -> bool:
        """Whether a person can be asked."""
        return self.abilities.takes_questions

    @property
    def takes_samples(self) -> bool:
        """Whether the client's model can be asked."""
        return self.abilities.takes_samples

    async def ask(self, question: Question) -> Answer:
        """Ask the person, through the response to the request that waits."""
        self.abilities.check(question)
        return await self._put(
            question.name, elicitation(question), lambda found: _read_answer(question, found)
        )

    async def sample(self, request: SampleRequest) -> Sample:
        """Ask the client's model, in the same way."""
        return await self._put(request.name, sampling(request), _read_sample)

    async def _put(self, name: str, request: Any, read: Callable[[Any], Any]) -> Any:
        self.count += 1
        key = name if name and name not in self.pending else f"{name or 'question'}-{self.count}"
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        pending = self.pending[key] = _PendingQuestion(request, read, answer)
        _settle(pending, self.given.get(key))
        if not answer.done():
            self.has_question.set()
        try:
            return await answer
        finally:
            self.pending.pop(key, None)


class SuspendedCalls:
    """Holds suspended calls until they are resumed, cancelled or expire.

    Args:
        timeout: Seconds until a call that is not resumed is cancelled.
        max_calls: Suspended calls at once.
        max_per_caller: Suspended calls of one caller.
    """

    def __init__(
        self,
        *,
        timeout: float = WAIT_TIMEOUT,
        max_calls: int = MAX_SUSPENDED,
        max_per_caller: int = _MAX_PER_CALLER,
    ) -> None:
        self._timeout, self._max_calls, self._max_per_caller = timeout, max_calls, max_per_caller
        self._suspended: dict[str, SuspendedCall] = {}
        self._running: set[asyncio.Task[Any]] = set()

    async def start(self, call: SuspendedCall, work: Coroutine[Any, Any, Any]) -> Any:
        """Start a call; returns its outcome, or the `input_required` result."""
        call.task = asyncio.create_task(work)
        self._running.add(call.task)
        call.task.add_done_callback(self._running.discard)
        return await self._until_asked(call)

    async def resume(
        self,
        state: str,
        answers: Mapping[str, Any],
        *,
        owner: tuple[Hashable, ...],
        request: Request,
    ) -> Any:
        """Resume a call with answers; returns the same as `start`.

        Raises:
            MCPError: There is no such call, or it belongs to another caller or request.
        """
        call = self._suspended.get(state)
        if call is None or call.owner != owner:
            raise MCPError(
                types.INVALID_PARAMS, "requestState is unknown, was used before, or has expired"
            )
        del self._suspended[state]
        if call.expiry is not None:
            call.expiry.cancel()
        for key, pending in list(call.pending.items()):
            _settle(pending, answers.get(key))
        call.reporter.request = request
        if any(not pending.answer.done() for pending in call.pending.values()):
            return self._suspend(call)
        call.has_question.clear()
        return await self._until_asked(call)

    async def close(self) -> None:
        """Cancel all calls, and wait until they are recorded."""
        for call in self._suspended.values():
            if call.expiry is not None:
                call.expiry.cancel()
        self._suspended.clear()
        running = list(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=3.0)

    async def _until_asked(self, call: SuspendedCall) -> Any:
        task = call.task
        assert task is not None  # noqa: S101 - `start` set it
        asking = asyncio.create_task(call.has_question.wait())
        try:
            await asyncio.wait((task, asking), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await asyncio.sleep(0)  # questions asked at once go out together
        except asyncio.CancelledError:
            # the client cancelled by closing the stream of its response
            task.cancel()
            await asyncio.wait((task,), timeout=3.0)
            raise
        finally:
            asking.cancel()
        await call.reporter.flush()
        if task.cancelled():
            raise MCPError(types.INTERNAL_ERROR, "The call was cancelled")
        if task.done():
            return task.result()
        if self._is_full(call):
            for pending in call.pending.values():
                pending.answer.set_exception(Unavailable("Too many calls wait for an answer."))
            call.has_question.clear()
            return await self._until_asked(call)
        return self._suspend(call)

    def _is_full(self, call: SuspendedCall) -> bool:
        if len(self._suspended) >= self._max_calls:
            return True
        mine = sum(item.owner[0] == call.owner[0] for item in self._suspended.values())
        return mine >= self._max_per_caller

    def _suspend(self, call: SuspendedCall) -> types.InputRequiredResult:
        state = secrets.token_urlsafe(32)
        self._suspended[state] = call
        call.reporter.request = None
        call.expiry = asyncio.get_running_loop().call_later(self._timeout, self._expire, state)
        requests: types.InputRequests = {
            key: pending.request
            for key, pending in call.pending.items()
            if not pending.answer.done()
        }
        return types.InputRequiredResult(input_requests=requests, request_state=state)

    def _expire(self, state: str) -> None:
        call = self._suspended.pop(state, None)
        if call is not None and call.task is not None:
            call.task.cancel()


def _settle(pending: _PendingQuestion, found: Any) -> None:
    """Deliver an answer; a question with a missing or wrong answer is asked again."""
    if found is None or pending.answer.done():
        return
    try:
        value = pending.read(found)
    except (ToolFailed, TypeError):
        return
    pending.answer.set_result(value)


def _read_answer(question: Question, found: Any) -> Answer:
    if not isinstance(found, types.ElicitResult):
        raise TypeError("not an answer to a question")
    return answer_of(question, found)


def _read_sample(found: Any) -> Sample:
    if not isinstance(found, types.CreateMessageResult):
        raise TypeError("not an answer of a model")
    return sample_of(found)
