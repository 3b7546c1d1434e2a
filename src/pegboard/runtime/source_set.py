"""The sources of a board: opened, listed, watched and closed, each without harm to the others."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Protocol

from pegboard.core.event import SourceChanged
from pegboard.core.health import Health, HealthStatus
from pegboard.core.offers import OffersMore, Prompt, Resource
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.execution.emitter import Emitter
from pegboard.runtime.patience import wait_for_sources
from pegboard.runtime.source_state import SourceState
from pegboard.tools.foreign_log import log_foreign

_LOG = logging.getLogger("pegboard.sources")
_FIRST_RETRY = 5.0
_LONGEST_RETRY = 120.0


class Listed(Protocol):
    """Told what a source has now; puts it on the board."""

    async def tools(self, state: SourceState, tools: Sequence[Tool]) -> str:
        """These are its tools; gives the state those that are on the board.

        Returns:
            Why some of them are not; empty when all are.
        """
        ...

    def offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        """These are its resources and prompts."""
        ...

    def updated(self, state: SourceState, uri: str) -> None:
        """The contents of the resource that the source knows as `uri` changed."""
        ...


class SourceSet:
    """Keeps each source of a board listed; a failed one is tried again, later and later.

    Args:
        services: What sources are opened with.
        timeout: Seconds for a source to open and list its tools, and again for what else it offers.
        patience: Seconds for which opening waits for remote ones; None waits until each has
            answered or run out of time.
        listed: Puts on the board what they list.
        emitter: Tells how they are doing.
        jitter: Spreads the retries.

    Attributes:
        states: The sources by name.
    """

    def __init__(
        self,
        services: Services,
        *,
        timeout: float,
        patience: float | None = None,
        listed: Listed,
        emitter: Emitter,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._services = services
        self._timeout = timeout
        self._patience = patience
        self._listed = listed
        self._emitter = emitter
        self._jitter = jitter
        self._work: dict[str, set[asyncio.Task[None]]] = {}
        self.states: dict[str, SourceState] = {}

    async def open(self, states: Sequence[SourceState]) -> None:
        """Open and list all at once; who has not answered in time is waited for no longer."""
        try:
            await self.follow(new=states)
        except asyncio.CancelledError:
            await self.close()
            raise

    async def follow(
        self,
        *,
        new: Sequence[SourceState],
        kept: Sequence[str] = (),
        gone: Sequence[str] = (),
    ) -> None:
        """Close what is gone, list again what is kept and open what is new, all at once."""
        await _all([asyncio.create_task(self.drop(name), name=f"drop {name}") for name in gone])
        listing = {
            self._begin(name, self._again(self.states[name]), "list"): self.states[name]
            for name in kept
        }
        for state in new:
            self.states[state.name] = state
            if state.opener is None:
                self._tell(state)
                continue
            state.asked(self._services.clock)
            first = self._begin(state.name, self._refresh(state), "list")
            self._begin(state.name, self._keep(state, first), "keep")
            listing[first] = state
        await wait_for_sources(listing, patience=self._patience)

    async def settled(self) -> None:
        """Wait until each has answered or run out of time."""
        for state in tuple(self.states.values()):
            await state.settled.wait()

    async def drop(self, name: str) -> None:
        """Close one source and forget it."""
        state = self.states.pop(name)
        await self._end(state)

    async def refresh(self, name: str) -> None:
        """List one source again, now."""
        await self._refresh(self.states[name])

    async def health(self, state: SourceState) -> Health:
        """How a source is doing, asked now, within a deadline; never raises."""
        if state.status == "pending":
            return Health(status=HealthStatus.UNKNOWN, reason="it has not answered yet")
        if state.source is None or state.status == "failed":
            return Health(status=HealthStatus.UNHEALTHY, reason=state.reason)
        try:
            async with asyncio.timeout(self._timeout):
                return await state.source.health()
        except TimeoutError:
            return Health(
                status=HealthStatus.UNHEALTHY, reason=f"no answer within {self._timeout:g} s"
            )
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            log_foreign(_LOG, f"the health check of {state.name} failed", error)
            reason = f"its health check failed ({type(error).__name__}); the log says why"
            return Health(status=HealthStatus.UNHEALTHY, reason=reason)

    async def close(self) -> None:
        """Close all, each within a deadline; safe to call twice."""
        await _all(
            [
                asyncio.create_task(self._end(state), name=f"close {state.name}")
                for state in self.states.values()
            ]
        )

    def _begin(self, name: str, work: Coroutine[Any, Any, None], what: str) -> "asyncio.Task[None]":
        """Work for a source that ends with it."""
        task = asyncio.create_task(work, name=f"{what} {name}")
        tasks = self._work.setdefault(name, set())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    async def _end(self, state: SourceState) -> None:
        """End what is done for a source, then close it; whoever waits for it goes on."""
        tasks = tuple(self._work.pop(state.name, ()))
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._timeout)
        state.answered()
        await self._close_one(state)

    async def _again(self, state: SourceState) -> None:
        """List what may have changed; who has not answered yet is not asked twice."""
        if state.status == "pending":
            await state.settled.wait()
        else:
            await self._refresh(state)

    async def _refresh(self, state: SourceState) -> None:
        # a reload and a retry may come together: only one of them opens
        async with state.turn:
            await self._list(state)
            state.answered()

    async def _list(self, state: SourceState) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                tools = tuple(await (await self._opened(state)).tools())
            reason = await self._listed.tools(state, tools)
            state.status, state.reason = "degraded" if reason else "ok", reason
        except TimeoutError:
            self._failed(state, f"no answer within {self._timeout:g} s")
        except PegboardError as error:
            self._failed(state, error.message)
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            log_foreign(_LOG, f"the source {state.name} failed", error)
            self._failed(state, f"it failed ({type(error).__name__}); the log says why")
        else:
            state.listed.set()
            await self._list_offers(state)
            self._tell(state)

    async def _list_offers(self, state: SourceState) -> None:
        """Resources and prompts come after the tools: where they fail, the tools are there."""
        source = state.source
        if not isinstance(source, OffersMore):
            return
        try:
            async with asyncio.timeout(self._timeout):
                resources, prompts = await source.resources(), await source.prompts()
            self._listed.offers(state, resources, prompts)
        except TimeoutError:
            state.status = "degraded"
            state.reason = f"its resources and prompts: no answer within {self._timeout:g} s"
        except PegboardError as error:
            state.status, state.reason = "degraded", f"its resources and prompts: {error.message}"
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            log_foreign(_LOG, f"the resources and prompts of {state.name} failed", error)
            state.status = "degraded"
            state.reason = f"its resources and prompts failed ({type(error).__name__})"

    async def _opened(self, state: SourceState) -> Source:
        if state.source is not None:
            return state.source
        if state.opener is None:
            raise SourceUnavailable(state.reason)
        opener = state.opener
        source = await opener.kind.open(state.name, opener.config, self._services)
        source.on_change(_notifier(asyncio.get_running_loop(), state.relist))
        if isinstance(source, OffersMore):
            source.on_update(partial(self._listed.updated, state))
        state.source = source
        return source

    def _failed(self, state: SourceState, reason: str) -> None:
        state.status = "degraded" if state.tools else "failed"
        state.reason = reason
        self._tell(state)

    def _tell(self, state: SourceState) -> None:
        self._emitter.emit(
            SourceChanged(
                source=state.name,
                status=state.status,
                tools=len(state.tools),
                reason=state.reason,
            )
        )

    async def _keep(self, state: SourceState, first: "asyncio.Task[None]") -> None:
        """Follow changes once it has answered, and try a failed source again."""
        await asyncio.wait((first,))
        delay = _FIRST_RETRY
        while True:
            wait = None if state.status == "ok" else delay * (0.5 + self._jitter() / 2)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await state.relist.wait()
            state.relist.clear()
            await self._refresh(state)
            delay = _FIRST_RETRY if state.status == "ok" else min(delay * 2, _LONGEST_RETRY)

    async def _close_one(self, state: SourceState) -> None:
        source, state.source = state.source, None
        if source is None:
            return
        try:
            async with asyncio.timeout(self._timeout):
                await source.close()
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            log_foreign(_LOG, f"the source {state.name} did not close", error)
            self._failed(state, f"did not close ({type(error).__name__})")


def _notifier(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> Callable[[], None]:
    def notify() -> None:
        loop.call_soon_threadsafe(event.set)

    return notify


async def _all(tasks: Sequence["asyncio.Task[None]"]) -> None:
    """Wait for all; a cancellation reaches them, and is waited for."""
    if not tasks:
        return
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        raise
    for task in tasks:
        task.result()
