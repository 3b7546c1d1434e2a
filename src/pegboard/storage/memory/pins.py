"""Approved and held definitions in memory."""

from collections.abc import Sequence

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.catalogue_stores import HeldDefinition, Pin, PinDecision
from pegboard.storage.json_text import copy_json, dump, load

_Place = tuple[str, str]


class MemoryPins:
    """A `PinStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._pins: dict[_Place, str] = {}  # as text, which takes a sixth of the memory
        self._held: dict[_Place, HeldDefinition] = {}

    async def approve(self, pins: Sequence[Pin]) -> None:
        new = {(pin.source, pin.name): dump(pin) for pin in pins}
        with self._gate:
            self._pins.update(new)
            for pin in pins:
                held = self._held.get((pin.source, pin.name))
                if held is not None and held.digest == pin.digest:
                    del self._held[pin.source, pin.name]

    async def hold(self, held: Sequence[HeldDefinition]) -> None:
        new = {(item.source, item.name): copy_json(item) for item in held}
        with self._gate:
            self._held.update(new)

    async def decide(self, decisions: Sequence[PinDecision]) -> Sequence[PinDecision]:
        new = [
            (decision, copy_json(decision.seen), copy_json(decision.then)) for decision in decisions
        ]
        kept: list[PinDecision] = []
        with self._gate:
            for decision, seen, then in new:
                place = (seen.source, seen.name)
                held = self._held.get(place)
                if held is None or (held.digest, held.diff) != (seen.digest, seen.diff):
                    continue
                if isinstance(then, Pin):
                    self._pins[place] = dump(then)
                    del self._held[place]
                else:
                    self._held[place] = then
                kept.append(decision)
        return kept

    async def drop(self, source: str, *, name: str = "", pins: bool = False) -> int:
        def is_meant(place: _Place) -> bool:
            return place[0] == source and name in {"", place[1]}

        with self._gate:
            held = [place for place in self._held if is_meant(place)]
            for place in held:
                del self._held[place]
            for place in [place for place in self._pins if pins and is_meant(place)]:
                del self._pins[place]
            return len(held)

    async def pins(self, source: str = "") -> Sequence[Pin]:
        with self._gate:
            return [
                load(text, Pin)
                for place, text in sorted(self._pins.items(), key=lambda item: item[0])
                if source in {"", place[0]}
            ]

    async def list_held(self, source: str = "") -> Sequence[HeldDefinition]:
        with self._gate:
            return [
                copy_json(item)
                for place, item in sorted(self._held.items(), key=lambda item: item[0])
                if source in {"", place[0]}
            ]
