"""Calls that ask something of a client which cannot be called back.

From 2026-07-28 on a server answers `input_required` instead of asking, and the client sends the
request again with the answers. The call itself is started once: it waits here meanwhile, under a
state that nobody can guess and that is good for one answer, of the same caller to the same request.
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
from pegboard.servers.mcp.elicitation import Abilities, answer_of, elicitation, sample_of, sampling
from pegboard.servers.mcp.progress import ProgressReporter, Request

LONGEST = 600.0
"""Seconds that a call waits for its answers before it is cancelled."""

MOST = 1_000
_MOST_EACH = 100


@dataclass(eq=False, slots=True)
class _Asked:
    request: types.ElicitRequest | types.CreateMessageRequest
    read: Callable[[Any], Any]
    answer: "asyncio.Future[Any]"


@dataclass(eq=False, slots=True)
class ParkedCall:
    """A call that can outlive the request that began it; asks as an `Asker`.

    Attributes:
        owner: Who may resume it, and by which request; the caller first.
        telling: Its way to the request that waits for it.
        given: Answers that came with the first request, by name of the question.
    """

    owner: tuple[Hashable, ...]
    abilities: Abilities
    telling: ProgressReporter
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    asked: dict[str, _Asked] = field(default_factory=dict[str, _Asked])
    has_asked: asyncio.Event = field(default_factory=asyncio.Event)
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
        """Ask the person, by way of the answer to the request that waits."""
        self.abilities.check(question)
        return await self._put(
            question.name, elicitation(question), lambda found: _elicited(question, found)
        )

    async def sample(self, request: SampleRequest) -> Sample:
        """Ask the client's model in the same way."""
        return await self._put(request.name, sampling(request), _sampled)

    async def _put(self, name: str, request: Any, read: Callable[[Any], Any]) -> Any:
        self.count += 1
        key = name if name and name not in self.asked else f"{name or 'question'}-{self.count}"
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        asked = self.asked[key] = _Asked(request, read, answer)
        _settle(asked, self.given.get(key))
        if not answer.done():
            self.has_asked.set()
        try:
            return await answer
        finally:
            self.asked.pop(key, None)


class SuspendedCalls:
    """Where such calls wait.

    Args:
        longest: Seconds until one that nobody resumes is cancelled.
        most: How many may wait at once.
        most_each: How many of one caller.
    """

    def __init__(
        self, *, longest: float = LONGEST, most: int = MOST, most_each: int = _MOST_EACH
    ) -> None:
        self._longest, self._most, self._most_each = longest, most, most_each
        self._parked: dict[str, ParkedCall] = {}
        self._running: set[asyncio.Task[Any]] = set()

    async def start(self, call: ParkedCall, work: Coroutine[Any, Any, Any]) -> Any:
        """Begin; the outcome of the work, or the `input_required` result."""
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
        """Go on with the answers; the same outcomes.

        Raises:
            MCPError: There is no such call, or it is not the caller's, or not of this request.
        """
        call = self._parked.get(state)
        if call is None or call.owner != owner:
            raise MCPError(
                types.INVALID_PARAMS, "requestState is unknown, was used before, or has expired"
            )
        del self._parked[state]
        if call.expiry is not None:
            call.expiry.cancel()
        for key, asked in list(call.asked.items()):
            _settle(asked, answers.get(key))
        call.telling.request = request
        if any(not asked.answer.done() for asked in call.asked.values()):
            return self._park(call)
        call.has_asked.clear()
        return await self._until_asked(call)

    async def close(self) -> None:
        """Cancel whatever waits or runs, and return once it is recorded."""
        for call in self._parked.values():
            if call.expiry is not None:
                call.expiry.cancel()
        self._parked.clear()
        running = list(self._running)
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running, timeout=3.0)

    async def _until_asked(self, call: ParkedCall) -> Any:
        task = call.task
        assert task is not None  # noqa: S101 - `start` set it
        asking = asyncio.create_task(call.has_asked.wait())
        try:
            await asyncio.wait((task, asking), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                await asyncio.sleep(0)  # what is asked at once is asked together
        except asyncio.CancelledError:
            # the client closed the stream of its answer, which is how it cancels
            task.cancel()
            await asyncio.wait((task,), timeout=3.0)
            raise
        finally:
            asking.cancel()
        await call.telling.sent()
        if task.cancelled():
            raise MCPError(types.INTERNAL_ERROR, "The call was cancelled")
        if task.done():
            return task.result()
        if self._is_full(call):
            for asked in call.asked.values():
                asked.answer.set_exception(Unavailable("Too many calls wait for an answer."))
            call.has_asked.clear()
            return await self._until_asked(call)
        return self._park(call)

    def _is_full(self, call: ParkedCall) -> bool:
        if len(self._parked) >= self._most:
            return True
        mine = sum(item.owner[0] == call.owner[0] for item in self._parked.values())
        return mine >= self._most_each

    def _park(self, call: ParkedCall) -> types.InputRequiredResult:
        state = secrets.token_urlsafe(32)
        self._parked[state] = call
        call.telling.request = None
        call.expiry = asyncio.get_running_loop().call_later(self._longest, self._expire, state)
        requests: types.InputRequests = {
            key: asked.request for key, asked in call.asked.items() if not asked.answer.done()
        }
        return types.InputRequiredResult(input_requests=requests, request_state=state)

    def _expire(self, state: str) -> None:
        call = self._parked.pop(state, None)
        if call is not None and call.task is not None:
            call.task.cancel()


def _settle(asked: _Asked, found: Any) -> None:
    """Hand over an answer; one that is missing or of another kind is asked for again."""
    if found is None or asked.answer.done():
        return
    try:
        value = asked.read(found)
    except (ToolFailed, TypeError):
        return
    asked.answer.set_result(value)


def _elicited(question: Question, found: Any) -> Answer:
    if not isinstance(found, types.ElicitResult):
        raise TypeError("not an answer to a question")
    return answer_of(question, found)


def _sampled(found: Any) -> Sample:
    if not isinstance(found, types.CreateMessageResult):
        raise TypeError("not an answer of a model")
    return sample_of(found)
