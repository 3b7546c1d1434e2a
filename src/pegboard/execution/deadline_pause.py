"""A call whose time does not pass while a person or a model is asked."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from pegboard.core.elicitation import Answer, Question, Sample, SampleRequest, TimedElicitor

_NEVER = float("inf")


class DeadlineEntry(Protocol):
    """The deadline of an attempt, as its timer sees it."""

    when: float


class TimedCall(Protocol):
    """The deadlines of a call and of its attempt; None for no limit."""

    deadline: float | None
    attempt_deadline: float | None


class DeadlinePause:
    """The elicitor of one attempt of a call: the call's time stands still while it asks.

    Args:
        elicitor: Asks, and limits how long it waits.
        call: The call.
        entry: The deadline of its attempt.
    """

    def __init__(self, elicitor: TimedElicitor, call: TimedCall, entry: DeadlineEntry) -> None:
        self._elicitor = elicitor
        self._call = call
        self._entry = entry
        self._asking = 0
        self._began = 0.0
        self._left = entry.when
        self._paused = 0.0

    @property
    def paused(self) -> float:
        """Seconds for which the call's time has stood still."""
        now = time.monotonic() - self._began if self._asking else 0.0
        return self._paused + now

    @property
    def takes_questions(self) -> bool:
        return self._elicitor.takes_questions

    @property
    def takes_samples(self) -> bool:
        return self._elicitor.takes_samples

    @property
    def deadline(self) -> float | None:
        return self._elicitor.deadline

    async def ask(self, question: Question) -> Answer:
        """Ask the person, with the call's time standing still."""
        with self._pause():
            return await self._elicitor.ask(question)

    async def sample(self, request: SampleRequest) -> Sample:
        """Ask the model, which a person may have to allow, with the call's time standing still."""
        with self._pause():
            return await self._elicitor.sample(request)

    @contextmanager
    def _pause(self) -> Generator[None]:
        """Stop the clock of the call; of several questions at once, from the first to the last."""
        self._asking += 1
        if self._asking == 1:
            self._began, self._left = time.monotonic(), self._entry.when
            self._entry.when = _NEVER
        try:
            yield
        finally:
            self._asking -= 1
            if not self._asking:
                self._resume(time.monotonic() - self._began)

    def _resume(self, seconds: float) -> None:
        call = self._call
        self._paused += seconds
        self._entry.when = self._left + seconds
        if call.deadline is not None:
            call.deadline += seconds
        if call.attempt_deadline is not None:
            call.attempt_deadline += seconds
