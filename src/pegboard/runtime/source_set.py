"""The sources of a board: opened, listed, watched and closed, each without harm to the others."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from pegboard.core.event import SourceChanged
from pegboard.core.health import Health, HealthStatus
from pegboard.core.names import is_source_name
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source, SourceKind
from pegboard.core.tool import Tool
from pegboard.errors import ConfigError, PegboardError, SourceUnavailable
from pegboard.execution.emitter import Emitter
from pegboard.runtime.board import SourceEntry
from pegboard.runtime.board_file import LoadedBoard, faults_of
from pegboard.runtime.kinds import load_kind

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


Listed = Callable[[SourceState, Sequence[Tool]], None]
"""Told the tools that a source has now; it puts them on the board."""


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
        tasks: list[asyncio.Task[None]] = []
        for state in states:
            self.states[state.name] = state
            if state.opener is not None:
                tasks.append(asyncio.create_task(self._refresh(state), name=f"open {state.name}"))
            else:
                self._tell(state)
        if tasks:
            await _all(tasks)
        for state in states:
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

    async def health(self, name: str) -> Health:
        """How a source is doing, asked now, within a deadline."""
        state = self.states[name]
        if state.source is None or state.status == "failed":
            return Health(status=HealthStatus.UNHEALTHY, reason=state.reason)
        try:
            async with asyncio.timeout(self._timeout):
                return await state.source.health()
        except TimeoutError:
            return Health(
                status=HealthStatus.UNHEALTHY, reason=f"no answer within {self._timeout:g} s"
            )

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
        if closing:
            await _all(closing)

    async def _refresh(self, state: SourceState) -> None:
        assert state.opener is not None  # noqa: S101 - callers look
        try:
            async with asyncio.timeout(self._timeout):
                if state.source is None:
                    opener = state.opener
                    state.source = await opener.kind.open(state.name, opener.config, self._services)
                    state.source.on_change(_notifier(asyncio.get_running_loop(), state.relist))
                tools = tuple(await state.source.tools())
        except TimeoutError:
            self._failed(state, f"no answer within {self._timeout:g} s")
        except PegboardError as error:
            self._failed(state, error.message)
        except Exception as error:  # noqa: BLE001 - foreign code: recorded as the source's reason
            _LOG.exception("the source %s failed", state.name)
            self._failed(state, f"it failed ({type(error).__name__}); the log says why")
        else:
            state.status, state.reason, state.tools = "ok", "", tools
            self._listed(state, tools)
            self._tell(state)

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


def checked(loaded: LoadedBoard) -> list[SourceState]:
    """The sources that a board names, their configurations checked.

    A kind whose plug cannot be loaded makes a failed source; what the file says wrongly is an
    error.

    Raises:
        ConfigError: One line a mistake.
    """
    states: dict[str, SourceState] = {}
    faults: list[str] = []
    for index, entry in enumerate(loaded.board.sources):
        name = entry.name or entry.kind
        where = loaded.where(("sources", index))
        if not is_source_name(name):
            faults.append(
                f"{where}: '{name}' is not a source name: at most 30 letters, digits, single '_' "
                "and '-'"
            )
        elif name in states:
            faults.append(f"{where}: the name '{name}' is taken; give this source another 'name'")
        elif entry.enabled:
            try:
                states[name] = _state(name, entry, index, loaded)
            except ConfigError as error:
                faults.append(error.message)
    if faults:
        raise ConfigError("\n".join(faults))
    return list(states.values())


def _state(name: str, entry: SourceEntry, index: int, loaded: LoadedBoard) -> SourceState:
    try:
        kind = load_kind(entry.kind)
    except ConfigError as error:
        raise ConfigError(f"{loaded.where(('sources', index, 'kind'))}: {error.message}") from error
    except SourceUnavailable as error:
        return SourceState(name=name, kind=entry.kind, status="failed", reason=error.message)
    try:
        config = kind.config.model_validate(entry.config)
    except ValidationError as error:
        file = loaded.path.name if loaded.path else "board"
        place = ("sources", index, "config")
        # what pydantic says may quote a secret, so its error is not kept as the cause
        raise loaded.masked(faults_of(error, kind.config, loaded.located, file, place)) from None
    opener = Opener(kind=kind, config=config)
    return SourceState(name=name, kind=entry.kind, title=kind.title, opener=opener)


def _notifier(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> Callable[[], None]:
    def notify() -> None:
        loop.call_soon_threadsafe(event.set)

    return notify


async def _all(tasks: Sequence["asyncio.Task[None]"]) -> None:
    """Wait for all; a cancellation reaches them, and is waited for."""
    try:
        await asyncio.wait(tasks)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        raise
    for task in tasks:
        task.result()
