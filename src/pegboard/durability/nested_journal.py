"""A journal within a step of a stored run: what a run in memory has done outlives the process."""

from collections.abc import Mapping
from typing import Any, cast

from msgspec import json

from pegboard.core.ports.durability import RunStart
from pegboard.durability.memory.journal import JournalEntry, MemoryJournal, Step
from pegboard.durability.replay_state import ReplayState

_ENDED = "!"


class NestedJournal(MemoryJournal):
    """A `MemoryJournal` whose outcomes are recorded among the steps of a stored run.

    It holds one run, of which a later journal of the same name finds the recorded steps. The start
    of a step is not recorded: what its work was called for has an idempotency key, which tells a
    later attempt that the outcome is unknown. Signals are not recorded either.

    Args:
        state: Of the attempt at the stored run.
        name: Of the journal; the paths of its steps begin with it. Not the path of a step.
    """

    def __init__(self, state: ReplayState, name: str) -> None:
        super().__init__()
        self._state = state
        number = 0
        while f"{name}#{number}{_ENDED}" in state.steps:
            number += 1
        self._prefix = f"{name}#{number}"

    def make_entry(self, start: RunStart) -> JournalEntry:
        """A new run, with the steps that an earlier journal has recorded."""
        entry = super().make_entry(start)
        before = f"{self._prefix}/"
        for path, step in self._state.steps.items():
            if path.startswith(before) and step.finished_at is not None:
                value = json.encode(step.value)
                entry.steps[path.removeprefix(before)] = Step(
                    started_at=step.started_at, value=value
                )
        return entry

    async def write_step(self, entry: JournalEntry, path: str, step: Step, takes: str) -> None:
        """Record a step; its outcome in the stored run first."""
        if step.value is not None:
            value = json.decode(step.value)
            await self._state.record(f"{self._prefix}/{path}", step.started_at, value, takes="")
        await super().write_step(entry, path, step, takes)

    def list_approvals(self) -> list[str]:
        """The approvals that recorded calls have waited for."""
        before = f"{self._prefix}/"
        return [
            approval
            for path, step in self._state.steps.items()
            if path.startswith(before) and (approval := _find_approval(step.value))
        ]

    async def end(self) -> None:
        """Let later journals of this name begin anew."""
        await self._state.record(f"{self._prefix}{_ENDED}", self._state.now(), None, takes="")


def _find_approval(value: Any) -> str:
    record = cast("Mapping[str, Any]", value if isinstance(value, Mapping) else {})
    error = record.get("error")
    if record.get("state") != "waiting" or not isinstance(error, Mapping):
        return ""
    return str(cast("Mapping[str, Any]", error).get("approval_id", ""))
