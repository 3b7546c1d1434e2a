"""Kill switches: a tool, a source or all writes can be turned off at once, at run time."""

from collections.abc import Callable

from pegboard.core.decision import Decision, Verdict
from pegboard.core.tool import Effect, ToolSpec


class Switches:
    """What is turned off; takes effect on the next call, and costs nothing while nothing is.

    Attributes:
        told: Hears of each change: `turned_off` or `turned_on`, what, and why; None for nobody.
    """

    def __init__(self) -> None:
        self.told: Callable[[str, str, str], None] | None = None
        self._tools: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        self._writes = ""
        self.any_off = False

    def turn_off(
        self, *, tool: str = "", source: str = "", writes: bool = False, reason: str = ""
    ) -> None:
        """Turn something off; `reason` is shown to whoever is refused."""
        why = reason or "turned off by the operator"
        if tool:
            self._tools[tool] = why
        if source:
            self._sources[source] = why
        if writes:
            self._writes = why
        self._refresh()
        self._tell("turned_off", why, tool=tool, source=source, writes=writes)

    def turn_on(self, *, tool: str = "", source: str = "", writes: bool = False) -> None:
        """Turn something on again; what was not off stays on."""
        self._tools.pop(tool, None)
        self._sources.pop(source, None)
        if writes:
            self._writes = ""
        self._refresh()
        self._tell("turned_on", "", tool=tool, source=source, writes=writes)

    def decision(self, tool: ToolSpec) -> Decision | None:
        """The denial of a tool that is turned off; None for one that is not."""
        for name in (tool.name, tool.registered_name):
            if name in self._tools:
                return _off(self._tools[name], "switch.tool")
        if tool.source in self._sources:
            return _off(self._sources[tool.source], "switch.source")
        if self._writes and tool.effect is not Effect.READ:
            return _off(self._writes, "switch.writes")
        return None

    def state(self) -> dict[str, object]:
        """What is off, and why."""
        return {
            "tools": dict(self._tools),
            "sources": dict(self._sources),
            "writes": self._writes or None,
        }

    def _tell(self, action: str, why: str, *, tool: str, source: str, writes: bool) -> None:
        if self.told is None:
            return
        named = {f"tool {tool}": tool, f"source {source}": source, "all writes": writes}
        for subject in (name for name, is_meant in named.items() if is_meant):
            self.told(action, subject, why)

    def _refresh(self) -> None:
        self.any_off = bool(self._tools or self._sources or self._writes)


def _off(reason: str, rule: str) -> Decision:
    return Decision(verdict=Verdict.DENY, reason=reason, rule=rule)
