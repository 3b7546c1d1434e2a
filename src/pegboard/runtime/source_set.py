"""The sources of a board: opened, listed, watched and closed, each without harm to the others."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from pegboard.core.event import SourceChanged
from pegboard.core.health import Health, HealthStatus
from pegboard.core.offers import OffersMore, Prompt, Resource
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source, SourceKind
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.execution.emitter import Emitter

_LOG = logging.getLogger("pegboard.sources")
_FIRST_RETRY = 5.0
_LONGEST_RETRY = 120.0


@dataclass(slots=True, kw_only=True)
class SourceState:
    """One source of a board and how it is doing.

    Attributes:
        status: `pending`, `ok`, `degraded` (listing fails, the last known tools stay) or `failed`.
        reason: What is wrong and what to do; empty when all is well.
    """

    name: str
    kind: str
    title: str = ""
    status: str = "pending"
    reason: str = ""
    tools: tuple[Tool, ...] = ()
    source: Source | None = None
    opener: "Opener | None" = None
    relist: asyncio.Event = field(default_factory=asyncio.Event)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data."""
        return {
            "name": self.name,
            "kind": self.kind,
            "title": self.title,
            "status": self.status,
            "reason": self.reason,
            "tools": len(self.tools),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Opener:
    """A checked entry: its kind and its configuration."""

    kind: SourceKind
    config: Any


class Listed(Protocol):
    """Told what a source has now; puts it on the board."""

    def tools(self, state: SourceState, tools: Sequence[Tool]) -> None:
        """These are its tools."""
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
    """Keeps each source of a board listed; a failed one is tried again, later and later."""

    def __init__(
        self,
        services: Services,
        *,
        timeout: float,
        listed: Listed,
        emitter: Emitter,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._services = services
        self._timeout = timeout
        self._listed = listed
        self._emitter = emitter
        self._jitter = jitter
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self.states: dict[str, SourceState] = {}

    async def open(self, states: Sequence[SourceState]) -> None:
        """Open and list all at once; returns when each has answered or run out of time."""
        await self.follow(new=states)

    async def follow(
        self,
        *,
        new: Sequence[SourceState],
        kept: Sequence[str] = (),
        gone: Sequence[str] = (),
    ) -> None:
        """Close what is gone, list again what is kept and open what is new, all at once."""
        for name in gone:
            await self.drop(name)
        listed = [self.states[name] for name in kept]
        for state in new:
            self.states[state.name] = state
            if state.opener is not None:
                listed.append(state)
            else:
                self._tell(state)
        await _all(
            [
                asyncio.create_task(self._refresh(state), name=f"list {state.name}")
                for state in listed
            ]
        )
        for state in new:
            if state.opener is not None:
                keeper = asyncio.create_task(self._keep(state), name=f"keep {state.name}")
                self._keepers[state.name] = keeper

    async def drop(self, name: str) -> None:
        """Close one source and forget it."""
        state = self.states.pop(name)
        keeper = self._keepers.pop(name, None)
        if keeper is not None:
            keeper.cancel()
            await asyncio.wait([keeper])
        await self._close_one(state)

    async def refresh(self, name: str) -> None:
        """List one source again, now."""
        await self._refresh(self.states[name])

    async def health(self, state: SourceState) -> Health:
        """How a source is doing, asked now, within a deadline; never raises."""
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
            _LOG.exception("the health check of %s failed", state.name)
            reason = f"its health check failed ({type(error).__name__}); the log says why"
            return Health(status=HealthStatus.UNHEALTHY, reason=reason)

    async def close(self) -> None:
        """Close all, each within a deadline; safe to call twice."""
        keepers = list(self._keepers.values())
        self._keepers.clear()
        for keeper in keepers:
            keeper.cancel()
        if keepers:
            await asyncio.wait(keepers)
        closing = [
            asyncio.create_task(self._close_one(state), name=f"close {state.name}")
            for state in self.states.values()
            if state.source is not None
        ]
        await _all(closing)

    async def _refresh(self, state: SourceState) -> None:
        # a reload and a retry may come together: only one of them opens
        async with state.turn:
            await self._list(state)

    async def _list(self, state: SourceState) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                tools = tuple(await (await self._opened(state)).tools())
        except TimeoutError:
            self._failed(state, f"no answer within {self._timeout:g} s")
        except PegboardError as error:
            self._failed(state, error.message)
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            _LOG.exception("the source %s failed", state.name)
            self._failed(state, f"it failed ({type(error).__name__}); the log says why")
        else:
            state.status, state.reason, state.tools = "ok", "", tools
            self._listed.tools(state, tools)
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
        except TimeoutError:
            state.status = "degraded"
            state.reason = f"its resources and prompts: no answer within {self._timeout:g} s"
        except PegboardError as error:
            state.status, state.reason = "degraded", f"its resources and prompts: {error.message}"
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            _LOG.exception("the resources and prompts of %s failed", state.name)
            state.status = "degraded"
            state.reason = f"its resources and prompts failed ({type(error).__name__})"
        else:
            self._listed.offers(state, resources, prompts)

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

    async def _keep(self, state: SourceState) -> None:
        """Follow changes, and try a failed source again."""
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
            _LOG.exception("the source %s did not close", state.name)
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
