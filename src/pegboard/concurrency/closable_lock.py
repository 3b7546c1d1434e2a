"""A lock that refuses to be acquired after it was closed."""

import threading
from types import TracebackType

from pegboard.errors import Unavailable


class ClosableLock:
    """A lock shared by all parts of a store; after `close`, acquiring it raises `Unavailable`."""

    def __init__(self) -> None:
        """Start open."""
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Refuse all later attempts to acquire the lock."""
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
    """The error of every access after `close`."""
    return Unavailable("The storage is closed.", nothing_done=True, permanent=True)
