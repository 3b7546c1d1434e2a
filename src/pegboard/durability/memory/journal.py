"""What a crash leaves of runs that are kept in memory."""

from collections.abc import Awaitable, Callable

from msgspec import Struct, json

from pegboard.core.ports.durability import Signal
from pegboard.core.run import RunResult
from pegboard.errors import RunNotFound


class Step(Struct, frozen=True, kw_only=True):
    """What is stored of a step: its start, and what came out once it has ended."""

    started_at: float
    value: bytes | None = None


class JournalEntry(Struct, kw_only=True):
    """What is stored of a run."""

    start: bytes
    steps: dict[str, Step] = {}
    signals: dict[str, Signal] = {}
    taken: set[str] = set()
    seen: bytes | None = None
    has_ended: bool = False

    @property
    def result(self) -> RunResult | None:
        """How the run was when it last parked or ended."""
        return None if self.seen is None else json.decode(self.seen, type=RunResult)


async def _at_once() -> None:
    """Storing in memory takes no time."""


class MemoryJournal:
    """What a crash leaves: runs, their steps and their signals.

    Attributes:
        runs: By id, the oldest first.
    """

    def __init__(self, *, pause: Callable[[], Awaitable[None]] = _at_once) -> None:
        """Start empty.

        Args:
            pause: Awaited before and after each write, as a database would make one wait.
        """
        self.runs: dict[str, JournalEntry] = {}
        self._pause = pause

    def copied(self) -> "MemoryJournal":
        """What a crash at this moment would leave."""
        copy = MemoryJournal(pause=self._pause)
        copy.runs = {
            run_id: JournalEntry(
                start=kept.start,
                steps=dict(kept.steps),
                signals=dict(kept.signals),
                taken=set(kept.taken),
                seen=kept.seen,
                has_ended=kept.has_ended,
            )
            for run_id, kept in self.runs.items()
        }
        return copy

    def run(self, run_id: str) -> JournalEntry:
        """What is stored of a run.

        Raises:
            RunNotFound: There is none.
        """
        try:
            return self.runs[run_id]
        except KeyError:
            raise RunNotFound(f"There is no run '{run_id}'.") from None

    async def write(self, change: Callable[[], object]) -> None:
        """Change what is stored, whole or not at all."""
        await self._pause()
        change()
        await self._pause()
