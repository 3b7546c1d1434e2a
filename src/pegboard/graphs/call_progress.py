"""What a call says while it runs, as events of its run: its progress, and the tries that failed."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec import structs

from pegboard.core.context import CallRetry, Progress, ToolContext

Report = TypeVar("Report")

_MIN_PAUSE = 0.5
_PAUSE_SHARE = 0.02
"""Of the time that the call has taken: a long call reports less and less often."""
_MAX_MESSAGE = 200


class CallProgress:
    """Receives the progress of one call, and passes on as much as is worth storing.

    A tool may report thousands of times. Between two reports there is a pause that grows with the
    call, so that an hour makes some 300 events; tries are always reported.

    Args:
        emit: Stores the data of an event.
        monotonic: Seconds.
    """

    def __init__(
        self, emit: Callable[[Mapping[str, Any]], None], monotonic: Callable[[], float]
    ) -> None:
        self._emit = emit
        self._monotonic = monotonic
        self._started = monotonic()
        self._next = self._started
        self._is_over = False

    def follow(self, ctx: ToolContext[Any]) -> ToolContext[Any]:
        """The context of a call that reports here, and where it reported before."""
        return structs.replace(
            ctx,
            on_progress=_chain(self.on_progress, ctx.on_progress),
            on_retry=_chain(self.on_retry, ctx.on_retry),
        )

    def on_progress(self, progress: Progress) -> None:
        """Report progress, unless the last report was a moment ago or the call has ended."""
        now = self._monotonic()
        if self._is_over or now < self._next:
            return
        self._next = now + max(_MIN_PAUSE, _PAUSE_SHARE * (now - self._started))
        data: dict[str, Any] = {"done": progress.done}
        if progress.total is not None:
            data["total"] = progress.total
        if progress.message:
            data["text"] = progress.message[:_MAX_MESSAGE]
        self._emit(data)

    def on_retry(self, retry: CallRetry) -> None:
        """Report that a try failed, and when the next one begins."""
        if self._is_over:
            return
        self._emit(
            {
                "attempt": retry.attempt,
                "max_attempts": retry.max_attempts,
                "delay": round(retry.delay, 3),
                "error_code": retry.error_code,
            }
        )

    def close(self) -> None:
        """The call has ended: what comes late is left out."""
        self._is_over = True


def _chain(
    first: Callable[[Report], None], second: Callable[[Report], None] | None
) -> Callable[[Report], None]:
    if second is None:
        return first

    def report(value: Report) -> None:
        first(value)
        second(value)

    return report
