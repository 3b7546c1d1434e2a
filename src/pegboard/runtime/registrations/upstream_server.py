"""One server that registered tools name by address, listed once for all of them."""

import asyncio
import logging
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import ValidationError

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import ConfigError, PegboardError, SourceUnavailable
from pegboard.features.pins.definitions import upstream_of
from pegboard.runtime.config_fault import describe_fault
from pegboard.runtime.plugins import load_kind
from pegboard.schemas.tool_definition import definition_digest

NAME = "upstream"
"""The source name of such servers; part of the digests."""

_LIST_AGAIN_SECONDS = 5.0
"""The minimum time between two listings of a server."""
_OLD_SECONDS = 300.0
"""The age after which a listing is refreshed before a call uses it."""
LISTING_SECONDS = 30.0
"""How long a listing may take."""
REFUSED_SECONDS = 5.0
"""How long a failed server is not listed again."""
_SHOWN = 200

_LOG = logging.getLogger("pegboard.sources")


class UpstreamServer:
    """A server and its tools, by the server's own names.

    Concurrent callers share one listing, and for a while after a failed listing callers fail at
    once, so that a hung server delays no caller for longer than one listing.

    Args:
        kind: Of source.
        config: Of it.
        services: What it may use.
        within: Seconds that a listing may take.
        refused: Seconds after a failed listing during which it is not repeated.
    """

    def __init__(
        self,
        kind: str,
        config: Mapping[str, Any],
        services: Services,
        *,
        within: float = LISTING_SECONDS,
        refused: float = REFUSED_SECONDS,
    ) -> None:
        self._kind = kind
        self._config = config
        self._services = services
        self._within = within
        self._refused = refused
        self._source: Source | None = None
        self._tools: Mapping[str, Tool] = {}
        self._listed_at = self._failed_at = float("-inf")
        self._changes = self._seen = 0
        self._listing: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None
        self._calls = 0
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    async def tool(self, name: str, pin: str) -> Tool:
        """The tool of a name; lists the server again if its definition differs from the pin.

        Raises:
            SourceUnavailable: The server cannot be asked, or has no such tool.
        """
        found = self._tools.get(name)
        if found is None or self._is_stale or upstream_digest(found) != pin:
            await self._list()
            found = self._tools.get(name)
        if found is None:
            raise SourceUnavailable(f"Its server no longer has the tool '{name[:_SHOWN]}'.")
        return found

    @contextmanager
    def call_tool(self) -> Generator[None]:
        """Track a call of one of its tools, which delays `retire`."""
        self._calls += 1
        self._is_idle.clear()
        try:
            yield
        finally:
            self._calls -= 1
            if not self._calls:
                self._is_idle.set()

    async def retire(self) -> None:
        """Close once all calls have ended."""
        await self._is_idle.wait()
        await self.close()

    async def close(self) -> None:
        """Close now; safe to call twice."""
        if self._listing is not None:
            self._listing.cancel()
            await asyncio.wait([self._listing])
        source, self._source = self._source, None
        if source is not None:
            with log_and_continue(_LOG, "a registered tool's server could not be closed"):
                await source.close()

    @property
    def _is_stale(self) -> bool:
        return self._changes != self._seen or self._since(self._listed_at) > _OLD_SECONDS

    def _since(self, moment: float) -> float:
        return self._services.clock.monotonic() - moment

    async def _list(self) -> None:
        if self._since(self._listed_at) < _LIST_AGAIN_SECONDS and self._changes == self._seen:
            return
        if self._failure is not None and self._since(self._failed_at) < self._refused:
            raise self._failure.with_traceback(None)
        if self._listing is None:
            # a task of its own: who gives up takes it from none of the others
            self._listing = asyncio.create_task(self._list_now(), name="list a server of tools")
            self._listing.add_done_callback(self._on_listed)
        listing = self._listing
        await asyncio.wait([listing])
        if listing.cancelled():
            raise SourceUnavailable("Its server was closed while its tools were being listed.")
        listing.result()

    def _on_listed(self, listing: "asyncio.Task[None]") -> None:
        self._listing = None
        self._failure = None if listing.cancelled() else listing.exception()
        self._failed_at = self._services.clock.monotonic()

    async def _list_now(self) -> None:
        try:
            async with asyncio.timeout(self._within):
                if self._source is None:
                    self._source = await open_upstream(self._kind, self._config, self._services)
                    self._source.on_change(self._on_change)
                changes = self._changes
                self._tools = tools_by_action(await self._source.tools())
        except TimeoutError:
            raise SourceUnavailable(
                f"Its server did not list its tools within {self._within:g} s."
            ) from None
        self._seen = changes  # not before: a list that fails tells nothing of what has changed
        self._listed_at = self._services.clock.monotonic()

    def _on_change(self) -> None:
        self._changes += 1


def upstream_digest(tool: Tool) -> str:
    """The digest of a server's definition of a tool, for `pin`."""
    return definition_digest(upstream_of(tool) or tool.spec)


def upstream_action(spec: ToolSpec) -> str:
    """The server's own name of a tool."""
    return spec.action or spec.name


async def open_upstream(kind: str, config: Mapping[str, Any], services: Services) -> Source:
    """Open a source on a server given by address.

    Raises:
        SourceUnavailable: It cannot be opened; the message has the reason.
    """
    try:
        plug = load_kind(kind)
        return await plug.open(NAME, plug.config.model_validate(config), services)
    except ValidationError as error:
        raise SourceUnavailable(describe_fault(error), permanent=True) from None
    except (ConfigError, PegboardError) as error:
        raise SourceUnavailable(error.message) from error


def tools_by_action(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Tools by their server's own names; the first of a name wins."""
    found: dict[str, Tool] = {}
    for tool in tools:
        found.setdefault(upstream_action(upstream_of(tool) or tool.spec), tool)
    return found
