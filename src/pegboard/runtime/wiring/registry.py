"""The registry of a board, whose search knows the usage of tools: stored calls, and new ones."""

import logging
from typing import TYPE_CHECKING

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.registry import ToolRegistry

if TYPE_CHECKING:
    from pegboard.execution import CallEnvironment
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.search")
_LATEST = 500
"""Calls of an earlier process that count."""


async def open_registry(environment: "CallEnvironment", storage: "Storage") -> ToolRegistry:
    """A registry whose search prefers what was called before, where tools match nearly as well.

    Args:
        environment: Its emitter reports the calls from now on.
        storage: Has the history.
    """
    registry = ToolRegistry(environment=environment)
    with log_and_continue(_LOG, "search: the usage of tools is not known"):
        page = await storage.history.calls(HistoryQuery(status="completed", limit=_LATEST))
        registry.usage.load(page.calls)
    environment.emitter.add(registry.usage)
    return registry
