"""Opens, lists and checks one source, and records the outcome in its state."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from traceback import format_exception
from typing import Protocol, TypeVar

from pegboard.concurrency.log_once import log_once
from pegboard.core.event import SourceChanged
from pegboard.core.health import Health, HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.resources_and_prompts import Prompt, Resource, ResourceProvider
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.execution.emitter import Emitter
from pegboard.runtime.sources.state import SourceState

T = TypeVar("T")

_LOG = logging.getLogger("pegboard.sources")


class SourcePublisher(Protocol):
    """Receives the listings of sources and puts them on the board."""

    async def publish_tools(self, state: SourceState, tools: Sequence[Tool]) -> str:
        """Publish the tools of a source.

        Returns:
            Why some of them are not; empty when all are.
        """
        ...

    def publish_offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        """Publish the resources and prompts of a source."""
        ...

    def notify_updated(self, state: SourceState, uri: str) -> None:
        """Report that the contents of a resource have changed."""
        ...


class SourceRefresher:
    """Opens, lists and closes one source at a time, each within a deadline; it never raises.

    Args:
        services: What sources are opened with.
        timeout: Seconds for a source to open and list its tools, and again for what else it offers.
        listed: Puts on the board what they list.
        emitter: Receives a `SourceChanged` for each change of a source's status.

    Attributes:
        clock: The clock of the services.
        timeout: As given.
    """

    def __init__(
        self, services: Services, *, timeout: float, listed: SourcePublisher, emitter: Emitter
    ) -> None:
        self._services = services
        self.timeout = timeout
        self.clock = services.clock
        self._listed = listed
        self._emitter = emitter

    async def refresh(self, state: SourceState) -> None:
        """List a source, opening it first if needed."""
        # a reload and a retry may come together: only one of them opens
        async with state.turn:
            try:
                await self._list(state)
            finally:
                state.mark_answered()

    async def health(self, state: SourceState) -> Health:
        """Check the health of a source now."""
        if state.status == "pending":
            return Health(status=HealthStatus.UNKNOWN, reason="it has not answered yet")
        if state.source is None or state.status == "failed":
            return Health(status=HealthStatus.UNHEALTHY, reason=state.reason)
        try:
            async with asyncio.timeout(self.timeout):
                return await state.source.health()
        except TimeoutError:
            return Health(
                status=HealthStatus.UNHEALTHY, reason=f"no answer within {self.timeout:g} s"
            )
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            log_once(_LOG, f"source '{state.name}': the health check failed", error)
            reason = f"its health check failed ({type(error).__name__}); the log says why"
            return Health(status=HealthStatus.UNHEALTHY, reason=reason)

    async def close(self, state: SourceState) -> None:
        """Close a source if it is open."""
        source, state.source = state.source, None
        if source is None:
            return
        try:
            async with asyncio.timeout(self.timeout):
                await source.close()
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            log_once(_LOG, f"source '{state.name}': closing failed", error)
            self._fail(state, f"did not close ({type(error).__name__})", error=error)

    def emit_status(self, state: SourceState, *, error: BaseException | None = None) -> None:
        """Emit the status of a source.

        Args:
            state: The source.
            error: The exception of foreign code, for the log.
        """
        self._emitter.emit(
            SourceChanged(
                source=state.name,
                status=state.status,
                tools=len(state.tools),
                reason=state.reason,
                stack="".join(format_exception(error)) if error else "",
            )
        )

    async def _list(self, state: SourceState) -> None:
        try:
            async with asyncio.timeout(self.timeout):
                tools = tuple(await (await self._open(state)).tools())
            reason = await self._listed.publish_tools(state, tools)
            state.status, state.reason = "degraded" if reason else "ok", reason
            state.is_logged, state.refreshed_at = False, self.clock.time()
        except TimeoutError:
            self._fail(state, f"no answer within {self.timeout:g} s")
        except PegboardError as error:
            is_logged = isinstance(error, SourceUnavailable) and error.is_logged
            cause = error.__cause__ if is_logged else None
            self._fail(state, error.message, error=cause, is_logged=is_logged)
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            log_once(_LOG, f"source '{state.name}': listing failed", error)
            reason = f"it failed ({type(error).__name__}); the log says why"
            self._fail(state, reason, error=error, is_logged=True)
        else:
            state.listed.set()
            await self._list_offers(state)
            self.emit_status(state)

    async def _list_offers(self, state: SourceState) -> None:
        """List resources and prompts after the tools; each may fail alone."""
        source = state.source
        if not isinstance(source, ResourceProvider):
            return
        faults: list[str] = []
        async with asyncio.TaskGroup() as group:
            resources = group.create_task(
                self._list_one(source.name, "resources", source.resources, state.resources, faults)
            )
            prompts = group.create_task(
                self._list_one(source.name, "prompts", source.prompts, state.prompts, faults)
            )
        state.resources, state.prompts = resources.result(), prompts.result()
        self._listed.publish_offers(state, state.resources, state.prompts)
        if faults:
            state.status, state.reason = "degraded", "; ".join(faults)

    async def _list_one(
        self,
        name: str,
        what: str,
        ask: Callable[[], Awaitable[Sequence[T]]],
        known: Sequence[T],
        faults: list[str],
    ) -> Sequence[T]:
        """Fetch one list; on failure return the last known one and add a fault."""
        try:
            async with asyncio.timeout(self.timeout):
                return tuple(await ask())
        except TimeoutError:
            faults.append(f"its {what}: no answer within {self.timeout:g} s")
        except PegboardError as error:
            faults.append(f"its {what}: {error.message}")
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            log_once(_LOG, f"source '{name}': listing its {what} failed", error)
            faults.append(f"its {what} failed ({type(error).__name__})")
        return known

    async def _open(self, state: SourceState) -> Source:
        if state.source is not None:
            return state.source
        if state.opener is None:
            raise SourceUnavailable(state.reason)
        opener = state.opener
        source = await opener.kind.open(state.name, opener.config, self._services)
        source.on_change(_notifier(asyncio.get_running_loop(), state.relist))
        if isinstance(source, ResourceProvider):
            source.on_update(partial(self._listed.notify_updated, state))
        state.source = source
        return source

    def _fail(
        self,
        state: SourceState,
        reason: str,
        *,
        error: BaseException | None = None,
        is_logged: bool = False,
    ) -> None:
        state.status = "degraded" if state.tools else "failed"
        state.reason, state.is_logged = reason, is_logged
        self.emit_status(state, error=error)


def _notifier(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> Callable[[], None]:
    def notify() -> None:
        loop.call_soon_threadsafe(event.set)

    return notify
