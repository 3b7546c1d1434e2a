"""Kill switches: a tool, a source or all writes can be turned off at once, at run time."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType

from pegboard.core.decision import Decision, Verdict
from pegboard.core.ports.kill_switch_store import Switch, SwitchKind
from pegboard.core.tool import Effect, ToolSpec
from pegboard.core.wire_names import is_glob

Place = tuple[SwitchKind, str]
"""The target of a switch: its kind, and a name, a glob or nothing."""

DEFAULT_REASON = "turned off by the operator"
"""The reason when none is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Off:
    """Lookup tables of what is off: each name or glob with its reason."""

    tools: Mapping[str, str] = field(default_factory=dict[str, str])
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    writes: str = ""
    globs: tuple[tuple[str, str], ...] = ()


class Switches:
    """The active kill switches; changes take effect on the next call.

    `turn_off` and `turn_on` change the switches of this process. `set_stored` sets those of a store
    that servers share. A tool is off if either turns it off.

    Attributes:
        on_change: Receives each change of this process: `turned_off` or `turned_on`, the subject,
            and the reason.
    """

    def __init__(self) -> None:
        self.on_change: Callable[[str, str, str], None] | None = None
        self._own: dict[Place, str] = {}
        self._kept: dict[Place, str] = {}
        self._off = _Off()
        self.any_off = False

    def turn_off(
        self, *, tool: str = "", source: str = "", writes: bool = False, reason: str = ""
    ) -> None:
        """Turn something off in this process.

        Args:
            tool: A tool's name, or a glob over names.
            source: A source's name.
            writes: Every tool that may change something.
            reason: Shown to refused callers.
        """
        why = reason or DEFAULT_REASON
        for place in _places(tool, source, writes=writes):
            self._own[place] = why
            self._refresh()
            self._tell("turned_off", place, why)

    def turn_on(self, *, tool: str = "", source: str = "", writes: bool = False) -> None:
        """Turn something on again in this process."""
        for place in _places(tool, source, writes=writes):
            self._own.pop(place, None)
            self._refresh()
            self._tell("turned_on", place, "")

    def set_stored(self, kept: Iterable[Switch]) -> bool:
        """Set the switches of the store; returns whether they have changed."""
        new: dict[Place, str] = {
            (switch.kind, switch.name): switch.reason or DEFAULT_REASON for switch in kept
        }
        if new == self._kept:
            return False
        self._kept = new
        self._refresh()
        return True

    @property
    def own(self) -> Mapping[Place, str]:
        """The switches of this process, with their reasons."""
        return MappingProxyType(dict(self._own))

    def decision(self, tool: ToolSpec) -> Decision | None:
        """The denial of a tool that is turned off; None when it is on."""
        return next(self.denials(tool), None)

    def denials(self, tool: ToolSpec) -> Iterator[Decision]:
        """The denials by each switch that applies to a tool; the first is reported."""
        off, names = self._off, (tool.name, tool.registered_name, tool.alias, tool.id)
        for name in names:
            if name in off.tools:
                yield _denial(off.tools[name], "switch.tool")
        for glob, reason in off.globs:
            if any(fnmatchcase(name, glob) for name in names[:3] if name):
                yield _denial(reason, "switch.tool")
        if tool.source in off.sources:
            yield _denial(off.sources[tool.source], "switch.source")
        if off.writes and tool.effect is not Effect.READ:
            yield _denial(off.writes, "switch.writes")

    def why_source(self, name: str) -> str:
        """Why a whole source is off; empty when it is on."""
        return self._off.sources.get(name, "")

    def state(self) -> dict[str, object]:
        """Everything that is off, with the reasons, as JSON-compatible data."""
        off = self._off
        return {
            "tools": {**off.tools, **dict(off.globs)},
            "sources": dict(off.sources),
            "writes": off.writes or None,
        }

    def _tell(self, action: str, place: Place, why: str) -> None:
        if self.on_change is not None:
            self.on_change(action, subject_of(*place), why)

    def _refresh(self) -> None:
        every = {**self._kept, **self._own}
        tools = {name: why for (kind, name), why in every.items() if kind == "tool"}
        self._off = _Off(
            tools={name: why for name, why in tools.items() if not is_glob(name)},
            sources={name: why for (kind, name), why in every.items() if kind == "source"},
            writes=every.get(_WRITES, ""),
            globs=tuple((name, why) for name, why in tools.items() if is_glob(name)),
        )
        self.any_off = bool(every)


def subject_of(kind: SwitchKind, name: str) -> str:
    """The target of a switch as text: `tool shop__*`, `source shop`, `all writes`."""
    return "all writes" if kind == "writes" else f"{kind} {name}"


_WRITES: Place = ("writes", "")


def _places(tool: str, source: str, *, writes: bool) -> list[Place]:
    named: list[tuple[Place, object]] = [
        (("tool", tool), tool),
        (("source", source), source),
        (_WRITES, writes),
    ]
    return [place for place, is_meant in named if is_meant]


def _denial(reason: str, rule: str) -> Decision:
    return Decision(verdict=Verdict.DENY, reason=reason, rule=rule)
