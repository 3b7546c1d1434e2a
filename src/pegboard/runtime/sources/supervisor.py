"""Opens, lists, watches and closes the sources of a board, each independently."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.health import Health
from pegboard.runtime.sources.refresher import SourceRefresher
from pegboard.runtime.sources.state import SourceState

_LOG = logging.getLogger("pegboard.sources")
MAX_RETRY_SECONDS = 120.0
LOCAL_WAIT_FACTOR = 3
"""How many times longer opening a board waits for sources that run in this process."""


class SourceSupervisor:
    """Keeps each source of a board listed, and retries failed ones with backoff.

    Args:
        refresher: Opens, lists and closes each source.
        states: Filled with the sources by name; None makes a mapping.
        patience: Seconds for which opening waits for remote sources; None waits until each source
            has answered or run out of time.
        on_demand: Whether a source is opened only when a caller waits for it.
        retry: Seconds after which a failed source is tried again; doubled after each further
            failure, up to two minutes.
        jitter: Spreads the retries.

    Attributes:
        states: The sources by name.
    """

    def __init__(
        self,
        refresher: SourceRefresher,
        *,
        states: dict[str, SourceState] | None = None,
        patience: float | None = None,
        on_demand: bool = False,
        retry: float = 5.0,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._refresher = refresher
        self._patience = patience
        self._on_demand = on_demand
        self._retry = retry
        self._jitter = jitter
        self._work: dict[SourceState, set[asyncio.Task[None]]] = {}
        self.states: dict[str, SourceState] = {} if states is None else states

    async def open(self, states: Sequence[SourceState]) -> None:
        """Open and list all sources concurrently; slow ones go on in the background."""
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
        """Close removed sources, list kept ones again and open new ones, concurrently."""
        await _wait_for_all(
            [asyncio.create_task(self.drop(name), name=f"drop {name}") for name in gone]
        )
        listing = {
            self._start_task(
                self.states[name], self._list_again(self.states[name]), "list"
            ): self.states[name]
            for name in kept
        }
        for state in new:
            self.states[state.name] = state
            if state.opener is None:
                self._refresher.emit_status(state)
                continue
            first = self._start_task(state, self._list_first(state), "list")
            self._start_task(state, self._supervise(state, first), "keep")
            if not self._on_demand:
                listing[first] = state
        await wait_for_sources(listing, patience=self._patience)

    async def wait_until_settled(self) -> None:
        """Wait until each source has answered or timed out."""
        states = tuple(self.states.values())
        for state in states:
            state.wanted.set()
        for state in states:
            await state.settled.wait()

    async def drop(self, name: str) -> None:
        """Close one source and forget it."""
        await self.stop(self.states.pop(name))

    async def stop(self, state: SourceState) -> None:
        """Cancel the tasks of a source, then close it."""
        tasks = tuple(self._work.pop(state, ()))
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._refresher.timeout)
        state.mark_answered()
        await self._refresher.close(state)

    async def refresh(self, name: str) -> None:
        """List one source again, now."""
        await self._refresher.refresh(self.states[name])

    async def health(self, state: SourceState) -> Health:
        """Check the health of a source within a deadline; never raises."""
        return await self._refresher.health(state)

    async def healths(self) -> dict[str, Health]:
        """Check the health of all sources concurrently."""
        states = list(self.states.values())
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(self.health(state)) for state in states]
        return {state.name: task.result() for state, task in zip(states, asked, strict=True)}

    async def close(self) -> None:
        """Close all, each within a deadline; safe to call twice."""
        await _wait_for_all(
            [
                asyncio.create_task(self.stop(state), name=f"close {state.name}")
                for state in self.states.values()
            ]
        )

    def _start_task(
        self, state: SourceState, work: Coroutine[Any, Any, None], what: str
    ) -> "asyncio.Task[None]":
        """Start a task that is cancelled when the source is stopped."""
        task = asyncio.create_task(work, name=f"{what} {state.name}")
        tasks = self._work.setdefault(state, set())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    async def _list_first(self, state: SourceState) -> None:
        """Open and list a source for the first time, on demand where configured."""
        if self._on_demand:
            await state.wanted.wait()
        state.mark_asked(self._refresher.clock)
        with log_and_continue(_LOG, f"source '{state.name}': listing failed"):
            await self._refresher.refresh(state)

    async def _list_again(self, state: SourceState) -> None:
        """List a source again, unless its first listing is still running."""
        if state.status == "pending":
            if state.wanted.is_set() or not self._on_demand:
                await state.settled.wait()
        else:
            await self._refresher.refresh(state)

    async def _supervise(self, state: SourceState, first: "asyncio.Task[None]") -> None:
        """List a source again when it changes, and retry it while it fails."""
        await asyncio.wait((first,))
        delay = self._retry
        while True:
            wait = None if state.status == "ok" else delay * (0.5 + self._jitter() / 2)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await state.relist.wait()
            state.relist.clear()
            with log_and_continue(_LOG, f"source '{state.name}': following its changes failed"):
                await self._refresher.refresh(state)
            delay = self._retry if state.status == "ok" else min(delay * 2, MAX_RETRY_SECONDS)


async def wait_for_sources(
    listing: "Mapping[asyncio.Task[None], SourceState]", *, patience: float | None
) -> None:
    """Wait for listings up to a limit; slower ones go on in the background.

    Local sources get more time: they rarely hang, but a busy machine loads them slowly.

    Args:
        listing: The running listings and their sources.
        patience: Seconds for the remote ones; None waits for all.
    """
    if not listing:
        return
    _, slow = await asyncio.wait(listing, timeout=patience)
    own = [task for task in slow if not _is_remote(listing[task])]
    if own and patience:
        await asyncio.wait(own, timeout=patience * (LOCAL_WAIT_FACTOR - 1))


def _is_remote(state: SourceState) -> bool:
    return state.opener is not None and state.opener.kind.remote


async def _wait_for_all(tasks: Sequence["asyncio.Task[None]"]) -> None:
    """Wait for all tasks; a cancellation is passed on and awaited."""
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
