"""Creates the listeners of a board beside the history."""

import sys
from collections.abc import Callable, Iterator
from typing import Protocol

from pegboard.core.ports.listener import Listener
from pegboard.runtime.settings import Settings


class ClosingListener(Listener, Protocol):
    """A listener with a thread or a file of its own."""

    @property
    def dropped(self) -> int:
        """Events that were lost because they could not be written in time."""
        ...

    def close(self) -> None:
        """Write what waits, and end; may block for seconds."""
        ...


def create_listeners(
    settings: Settings, redact: Callable[[str], str] | None
) -> Iterator[ClosingListener]:
    """Create the configured listeners one by one, so that each can be closed.

    Raises:
        ConfigError: A log file that cannot be written, or a missing extra.
    """
    if settings.log != "off":
        from pegboard.observability import JsonLog

        target = {"stdout": sys.stdout, "stderr": sys.stderr}.get(settings.log, settings.log)
        yield JsonLog(target, redact=redact, include_arguments=settings.store_arguments)
    if settings.traces:
        from pegboard.observability import Traces

        yield Traces(redact=redact)
