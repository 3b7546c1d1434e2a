"""Who may come in while a store is open."""

import threading
from types import TracebackType

from pegboard.errors import Unavailable


class ClosableLock:
    """One lock for all parts, which opens for nobody after the end."""

    def __init__(self) -> None:
        """Start open."""
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Let nobody in any more."""
        with self._lock:
            self._closed = True

    def __enter__(self) -> None:
        self._lock.acquire()
        if self._closed:
            self._lock.release()
            raise storage_closed_error()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()


def storage_closed_error() -> Unavailable:
    """What a caller hears after `close`."""
    return Unavailable("The storage is closed.", nothing_done=True, permanent=True)
