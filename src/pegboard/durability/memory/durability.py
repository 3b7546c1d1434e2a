"""Runs kept in memory: for tests, for programs that need no more, and as the model of a back end.

What would survive a crash is in a `MemoryJournal`, as bytes; everything else is gone with the
`MemoryDurability` that plays. A second one on the same journal goes on where the first stopped.
"""

import time
from collections.abc import Callable
from typing import Self

from msgspec import json

from pegboard.core.ports.durability import Attempt, RunStart, Signal
from pegboard.core.run import RunResult
from pegboard.durability.memory.journal import JournalEntry, MemoryJournal
from pegboard.durability.memory.worker import Player
from pegboard.errors import Unavailable


class MemoryDurability:
    """A `Durability` in memory, for one event loop.

    ```python
    durability = MemoryDurability()
    runner = GraphRunner(registry, durability=durability)
    ...
    await durability.close()
    ```

    Args:
        journal: What earlier ones have stored; None for a new one.
        most: Ended runs that are remembered; the oldest are forgotten first.
        now: Unix seconds.
    """

    def __init__(
        self,
        journal: MemoryJournal | None = None,
        *,
        most: int = 1_000,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.journal = journal or MemoryJournal()
        self._most = most
        self._now = now
        self._play: Attempt | None = None
        self._players: dict[str, Player] = {}
        self._closed = False

    def attach(self, play: Attempt) -> None:
        self._play = play

    async def start(self, start: RunStart) -> bool:
        self._check_open()
        if start.run_id in self.journal.runs:
            return False
        kept = JournalEntry(start=json.encode(start))
        await self.journal.write(lambda: self._add(start.run_id, kept))
        self._player(start.run_id).play()
        return True

    async def signal(self, run_id: str, signal: Signal) -> bool:
        kept = self.journal.run(run_id)
        await self.journal.write(lambda: kept.signals.setdefault(signal.id, signal))
        self._check_open()
        if not kept.has_ended:
            self._player(run_id).hear()
        return kept.signals[signal.id] is signal

    async def get_start(self, run_id: str) -> RunStart | None:
        kept = self.journal.runs.get(run_id)
        return None if kept is None else json.decode(kept.start, type=RunStart)

    async def get_result(self, run_id: str) -> RunResult | None:
        return self.journal.run(run_id).result

    async def wait_until_settled(self, run_id: str) -> RunResult:
        kept = self.journal.run(run_id)
        while True:
            player = self._players.get(run_id)
            if player is None:
                if (result := kept.result) is not None:
                    return result
                self._check_open()
                self._player(run_id).play()
            elif (result := await player.settled()) is not None:
                return result

    async def recover(self) -> tuple[str, ...]:
        self._check_open()
        waiting = [
            run_id
            for run_id, kept in self.journal.runs.items()
            if not kept.has_ended and run_id not in self._players
        ]
        for run_id in waiting:
            self._player(run_id).play()
        return tuple(waiting)

    async def close(self) -> None:
        self._closed = True
        players = list(self._players.values())
        self._players.clear()
        for player in players:
            await player.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _add(self, run_id: str, kept: JournalEntry) -> None:
        ended = [key for key, item in self.journal.runs.items() if item.has_ended]
        for key in ended[: max(0, len(ended) - self._most + 1)]:
            del self.journal.runs[key]
        self.journal.runs[run_id] = kept

    def _player(self, run_id: str) -> Player:
        player = self._players.get(run_id)
        if player is None:
            if self._play is None:
                raise Unavailable("No runner is attached to this durability.", permanent=True)
            player = Player(self.journal, run_id, self._play, self._now, self._left)
            self._players[run_id] = player
        return player

    def _left(self, run_id: str) -> None:
        self._players.pop(run_id, None)

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("The durability is closed.", nothing_done=True)
