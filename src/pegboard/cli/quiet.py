"""What the log of sources may say to somebody at a terminal."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.runtime import Settings

_LOG = logging.getLogger("pegboard.sources")
_FOREIGN = ("mcp", "client")
"""Loggers of the MCP library; what they say of a server is the reason of its source as well."""


@contextmanager
def hide_source_tracebacks(chosen: "Settings") -> Generator[None]:
    """Print no stacks of foreign code: a command tells its reason where it tells of sources.

    Whoever wants to see them sets PEGBOARD_LOG, as `PEGBOARD_LOG=stderr pegboard sources`.
    """
    if chosen.log in {"stderr", "stdout"}:
        yield
        return
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(lambda record: not record.exc_info)
    silent = logging.NullHandler()
    _LOG.addHandler(handler)
    for name in _FOREIGN:
        logging.getLogger(name).addHandler(silent)
    try:
        yield
    finally:
        _LOG.removeHandler(handler)
        for name in _FOREIGN:
            logging.getLogger(name).removeHandler(silent)
