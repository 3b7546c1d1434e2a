"""Creates the listeners of a board beside the history."""

import logging
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TextIO

from pegboard.core.ports.listener import Listener
from pegboard.runtime.settings import Settings, environ

_SILENT = frozenset({"auto", "off"})


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
    if settings.log not in _SILENT:
        from pegboard.observability import JsonLog, LogRecords

        for handler in logging.getLogger().handlers:
            if isinstance(handler, LogRecords):
                handler.redact = redact
        yield JsonLog(
            _target(settings),
            redact=redact,
            include_arguments=settings.store_arguments,
            line_format=_line_format(settings),
        )
    if settings.traces:
        from pegboard.observability import Traces
        from pegboard.observability.otlp import create_otlp_provider

        provider = create_otlp_provider(environ())
        if provider is None:
            yield Traces(redact=redact)
        else:
            yield Traces(provider, redact=redact, shut_down=provider.shutdown)


@contextmanager
def write_log_records(settings: Settings) -> Generator[None]:
    """Write warnings of all libraries as log lines, for a process that only serves a board.

    Raises:
        ConfigError: A log file that cannot be written.
    """
    if settings.log in _SILENT:
        yield
        return
    from pegboard.observability import LogRecords

    handler = LogRecords(_target(settings), line_format=_line_format(settings))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()


def _target(settings: Settings) -> TextIO | str:
    streams = {"stdout": sys.stdout, "stderr": sys.stderr, "terminal": sys.stderr}
    return streams.get(settings.log, settings.log)


def _line_format(settings: Settings) -> Callable[[Mapping[str, Any]], str]:
    from pegboard.observability import ReadableLines
    from pegboard.observability.logs import format_json

    return ReadableLines() if settings.log == "terminal" else format_json
