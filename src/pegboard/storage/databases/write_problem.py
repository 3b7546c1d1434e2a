"""Why the database refuses writes, for the log and for those who look after the server."""

import logging
import threading

from pegboard.core.ports.clock import Clock

_LOG = logging.getLogger("pegboard.storage")
FULL_DISK_RETRY_AFTER = 30.0
"""Seconds after which a caller may try again; an operator has to free space first."""

LASTS = 60.0
"""Seconds after a failed write for which it is reported; it is logged once in that time."""


class WriteProblem:
    """The last write that failed; forgotten when none has failed for a minute.

    A write that succeeds does not clear it: on a full disk, small writes often still fit.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._gate = threading.Lock()
        self._message = ""
        self._failed_at = self._logged_at = float("-inf")

    def __str__(self) -> str:
        """Why a write failed in the last minute; empty when none has."""
        with self._gate:
            is_recent = self._clock.monotonic() - self._failed_at < LASTS
            return self._message if is_recent else ""

    def report(self, error: Exception, cause: BaseException | None) -> None:
        """Remember a failed write, and log it unless a line was logged in the last minute."""
        now = self._clock.monotonic()
        with self._gate:
            self._message, self._failed_at = str(error), now
            if now - self._logged_at < LASTS:
                return
            self._logged_at = now
        _LOG.error("storage: a write failed: %s (%s)", error, cause or type(error).__name__)
