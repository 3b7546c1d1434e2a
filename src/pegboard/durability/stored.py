"""Runs kept in the board's own database, which outlive the process that plays them."""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from typing import Self

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import Attempt, RunStart, Signal
from pegboard.core.ports.run_store import LEASE, RunStore, StoredRun
from pegboard.core.run import RunResult
from pegboard.durability.crash_loops import CrashCounter
from pegboard.durability.suspension import ids_in, is_due, is_settled
from pegboard.durability.wakeups import Wakeups
from pegboard.durability.worker import StoredPlayer
from pegboard.errors import PegboardError, RunNotFound, Unavailable

_LOG = logging.getLogger("pegboard.durability")
_UNFINISHED = tuple(state for state in NodeState if not state.is_final)


class StoredDurability:
    """A `Durability` on a `RunStore`.

    Whoever plays a run has its lease and renews it; a run whose owner is gone is taken when the
    lease ends. A store that only one process uses needs not wait for that: there each process has
    the same owner, and takes up at once what the one before left.

    ```python
    async with open_storage("data") as storage, StoredDurability(storage.runs) as durability:
        runner = GraphRunner(registry, durability=durability)
    ```

    Args:
        store: Where runs are.
        owner: Whose leases these are; empty for one of its own, where several processes share.
        lease: Seconds after which a run is taken from an owner that does not renew its lease.
        every: Seconds between looks for what others left and sent.
        most: Runs that are taken up at the same time; those started here are played beyond it.
        again: Seconds after which a run is tried again whose play ended in an error; twice as long
            after each further one.
        deaths: So many processes in a row may die while they play a run, before it is paused.
        now: Unix seconds.
    """

    def __init__(
        self,
        store: RunStore,
        *,
        owner: str = "",
        lease: float = LEASE,
        every: float = 1.0,
        most: int = 200,
        again: float = 1.0,
        deaths: int = 20,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._is_shared = not owner
        self._owner = owner or f"o_{secrets.token_hex(8)}"
        self._lease = lease
        self._every = every
        self._most = most
        self._now = now
        self._play: Attempt | None = None
        self._players: dict[str, StoredPlayer] = {}
        self._alarms = Wakeups(self._again, first=again)
        self._deaths = CrashCounter(store, self._owner, most=deaths, now=now)
        self._tending: asyncio.Task[None] | None = None
        self._follows = False
        self._closed = False

    def attach(self, play: Attempt) -> None:
        self._play = play

    async def start(self, start: RunStart) -> bool:
        self._check_open()
        plan_id = str(start.graph.get("id", ""))
        if not await self._store.create(
            start, plan_id=plan_id, owner=self._owner, seconds=self._lease
        ):
            return False
        self._begin(start)
        return True

    async def signal(self, run_id: str, signal: Signal) -> bool:
        is_new = await self._store.signal(run_id, signal)
        if is_new is None:
            raise RunNotFound(f"There is no run '{run_id}'.")
        self._check_open()
        player = self._players.get(run_id)
        if player is not None:
            player.hear()
        else:
            await self._take_up(run_id)
        return is_new

    async def get_start(self, run_id: str) -> RunStart | None:
        run = await self._store.get(run_id)
        return None if run is None else run.start

    async def get_result(self, run_id: str) -> RunResult | None:
        return (await self._run(run_id)).result

    async def wait_until_settled(self, run_id: str) -> RunResult:
        while True:
            player = self._players.get(run_id)
            if player is None:
                run = await self._run(run_id)
                if run.result is not None and is_settled(run, now=self._now()):
                    return run.result
                self._check_open()
                if (error := self._alarms.error(run_id)) is not None:
                    raise error
                if is_due(run, now=self._now()):
                    player = await self._take_up(run_id)
            if player is None:  # it is played elsewhere, or it is not time yet
                await asyncio.sleep(self._every / 10)
                continue
            await player.rested.wait()
            if player.error is not None:
                raise player.error

    async def recover(self) -> tuple[str, ...]:
        self._check_open()
        ids = [
            run_id
            for state in _UNFINISHED
            for run_id in await ids_in(self._store, state)
            if run_id not in self._players
        ]
        return tuple([run_id for run_id in ids if await self._take_up(run_id) is not None])

    async def follow(self) -> tuple[str, ...]:
        """Take up what goes on and nobody plays, now and from now on; what was taken up now."""
        self._check_open()
        left = [
            run_id
            for state in (NodeState.PENDING, NodeState.IN_PROGRESS)
            for run_id in await ids_in(self._store, state)
            if run_id not in self._players
        ]
        taken = [run_id for run_id in left if await self._take_up(run_id) is not None]
        self._follows = True
        self._tend()
        return tuple(taken)

    async def close(self) -> None:
        self._closed = True
        await self._alarms.close()
        if self._tending is not None:
            self._tending.cancel()
            await asyncio.wait([self._tending])
        players = list(self._players.values())
        for player in players:
            await player.close()
        for run_id in [*(player.run_id for player in players), *self._alarms.setbacks]:
            await self._let_go(run_id)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # playing

    async def _take_up(self, run_id: str) -> StoredPlayer | None:
        """Play a run if its lease can be had; who plays it here."""
        run = await self._store.lease(run_id, self._owner, seconds=self._lease)
        if run is None or self._closed:
            self._alarms.settle(run_id)
            return None
        return await self._player_of(run)

    async def _player_of(self, run: StoredRun) -> StoredPlayer | None:
        """Who plays a run that is leased here; from now on, if nobody did."""
        if run.start.run_id not in self._players:
            await self._deaths.taken_up(run)
            if self._closed:
                await self._let_go(run.start.run_id)
                return None
        player = self._players.get(run.start.run_id)
        if player is None:
            return self._begin(run.start)
        player.hear()  # it may be leaving: then it is to come again
        return player

    def _begin(self, start: RunStart) -> StoredPlayer:
        if self._play is None:
            raise Unavailable("No runner is attached to this durability.", permanent=True)
        self._alarms.drop(start.run_id)
        self._deaths.played_here(start.run_id)
        if isinstance(self._alarms.error(start.run_id), Unavailable):
            self._alarms.settle(start.run_id)  # the store answers again
        player = StoredPlayer(
            self._store, start, self._owner, play=self._play, now=self._now, left=self._left
        )
        self._players[start.run_id] = player
        self._tend()
        return player

    def _left(self, player: StoredPlayer) -> None:
        run_id = player.run_id
        self._players.pop(run_id, None)
        if self._closed:
            return
        if player.error is not None:
            self._alarms.set_back(run_id, player.error)
            return
        self._alarms.settle(run_id)
        self._deaths.left(run_id)
        if player.was_called:
            self._alarms.set(run_id, after=0)
        elif player.wake_at is not None:
            self._alarms.set(run_id, after=player.wake_at - self._now())

    async def _again(self, run_id: str) -> None:
        try:
            await self._take_up(run_id)
        except PegboardError as error:
            _LOG.warning("the run %s could not be taken up: %s", run_id, error)
            self._alarms.set_back(run_id, error)

    # what happens elsewhere

    def _tend(self) -> None:
        if self._tending is None:
            self._tending = asyncio.get_running_loop().create_task(self._tended())

    async def _tended(self) -> None:
        renewed = self._now()
        while True:
            await asyncio.sleep(self._every)
            with log_and_continue(_LOG, "runs cannot be tended"):
                try:
                    if (now := self._now()) - renewed >= self._lease / 3:
                        await self._renew()
                        renewed = now
                    if self._is_shared:
                        for player in self._players.values():
                            player.hear()
                    if self._follows:
                        await self._take_what_is_due()
                except PegboardError as error:
                    _LOG.warning("the store of runs does not answer: %s", error)

    async def _renew(self) -> None:
        for run_id, player in list(self._players.items()):
            run = await self._store.lease(run_id, self._owner, seconds=self._lease)
            if run is None and self._players.get(run_id) is player:
                player.lose()
        for run_id in list(self._alarms.setbacks):
            if await self._store.lease(run_id, self._owner, seconds=self._lease) is None:
                self._alarms.drop(run_id)
                self._alarms.settle(run_id)
                self._deaths.left(run_id)

    async def _take_what_is_due(self) -> None:
        while len(self._players) < self._most:
            run = await self._store.take(self._owner, seconds=self._lease)
            if run is None:
                return
            await self._player_of(run)

    async def _let_go(self, run_id: str) -> None:
        try:
            await self._store.release(run_id, self._owner)
        except PegboardError as error:
            _LOG.warning("the run %s is free only when its lease ends: %s", run_id, error)

    # looking

    async def _run(self, run_id: str) -> StoredRun:
        run = await self._store.get(run_id)
        if run is None:
            raise RunNotFound(f"There is no run '{run_id}'.")
        return run

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The durability is closed.", nothing_done=True)
