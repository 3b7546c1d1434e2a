"""How tools and sources are doing by what is seen of them: checks, and how calls end."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.ports.clock import Clock
from pegboard.registry.health import UNKNOWN, worse

_LAST = 20
_KEPT = 50
_IN_A_ROW = 3
_FRESH_SECONDS = 900.0


class _Call(NamedTuple):
    at: float
    failure: str
    took_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What the latest calls of a tool were like.

    Attributes:
        calls: How many were looked at; fifty at the most.
        failures: The share of them that failed; None without a call.
        latency_ms: The median of those that did not; None when there is none.
    """

    calls: int = 0
    failures: float | None = None
    latency_ms: float | None = None


class HealthStats:
    """Observed calls and checks of tools and sources, and the health that follows from them.

    Three failures in a row make a tool unhealthy; some failures among its last twenty calls make it
    degraded, and one success after them makes it degraded at worst. Observations expire after a
    quarter of an hour. Only failures of the tool count, not calls that were refused for their
    arguments.

    Args:
        clock: For the age of observations.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._calls: dict[str, deque[_Call]] = {}
        self._tools: dict[str, tuple[float, Health]] = {}
        self._sources: dict[str, tuple[float, Health]] = {}

    def record_call(self, tool: str, *, failure: str = "", took_ms: float = 0.0) -> None:
        """Record a finished call of a tool.

        Args:
            tool: Its id.
            failure: Why it failed, safe to show; empty when it succeeded.
            took_ms: Its duration.
        """
        calls = self._calls.get(tool)
        if calls is None:
            calls = self._calls[tool] = deque(maxlen=_KEPT)
        calls.append(_Call(self._clock.monotonic(), failure, took_ms))

    def record_check(self, tool: str, health: Health) -> None:
        """Record the result of a check of a tool."""
        self._tools[tool] = (self._clock.monotonic(), health)

    def record_source_check(self, source: str, health: Health) -> None:
        """Record the result of a check of a source."""
        self._sources[source] = (self._clock.monotonic(), health)

    def record_source_recovery(self, source: str) -> None:
        """Forget what was wrong with a source, which may have recovered."""
        if source in self._sources and self._sources[source][1].status is not HealthStatus.HEALTHY:
            self.forget_source(source)

    def forget(self, tool: str) -> None:
        """Forget a tool that was removed or has changed."""
        self._calls.pop(tool, None)
        self._tools.pop(tool, None)

    def forget_source(self, source: str) -> None:
        """Forget a source that was closed or opened again."""
        self._sources.pop(source, None)

    def retain(self, is_there: Callable[[str], bool]) -> None:
        """Forget all tools but these, by id."""
        for tool in [*self._calls, *self._tools]:
            if not is_there(tool):
                self.forget(tool)

    def figures(self, tool: str) -> Figures:
        """Figures of the latest calls of a tool, of any age."""
        calls = list(self._calls.get(tool, ()))
        if not calls:
            return Figures()
        went_well = sorted(call.took_ms for call in calls if not call.failure)
        return Figures(
            calls=len(calls),
            failures=round(1 - len(went_well) / len(calls), 3),
            latency_ms=went_well[len(went_well) // 2] if went_well else None,
        )

    def source(
        self,
        name: str,
        *,
        tools: Iterable[str] = (),
        may_tell: Callable[[str], bool] = lambda _: True,
    ) -> Health:
        """The health of a source: by its last check, otherwise by its tools.

        Args:
            name: The source.
            tools: The ids of its tools.
            may_tell: Whether the reason may tell of a tool, by its id; of others it says neither
                how many there are nor what has failed.
        """
        checked = self._still(self._sources.get(name))
        if checked is not UNKNOWN:
            return checked
        seen = {tool: self._by_itself(tool) for tool in tools}
        seen = {tool: health for tool, health in seen.items() if health is not UNKNOWN}
        bad = {tool: it for tool, it in seen.items() if it.status is not HealthStatus.HEALTHY}
        if not seen:
            return UNKNOWN
        if not bad:
            return HEALTHY
        is_whole = len(bad) == len(seen)
        is_down = is_whole and all(it.status is HealthStatus.UNHEALTHY for it in bad.values())
        which = "all its tools" if is_down else f"{len(bad)} of {len(seen)} tools called lately"
        if not all(map(may_tell, seen)):
            which = "some of its tools fail"
        told = [it.reason for tool, it in bad.items() if may_tell(tool)]
        return Health(
            status=HealthStatus.UNHEALTHY if is_down else HealthStatus.DEGRADED,
            reason=f"{which}: {told[0]}" if told else which,
        )

    def tool(self, tool: str, *, source: str = "") -> Health:
        """The health of a tool: its own observations and the last check of its source."""
        mine = self._by_itself(tool)
        theirs = self._still(self._sources.get(source))
        if theirs.status in {HealthStatus.UNHEALTHY, HealthStatus.DEGRADED}:
            cause = f": {theirs.reason}" if theirs.reason else ""
            of_source = Health(
                status=theirs.status, reason=f"source '{source}' is {theirs.status.value}{cause}"
            )
            return worse(of_source, mine)
        return mine if mine is not UNKNOWN else theirs

    def _by_itself(self, tool: str) -> Health:
        checked, called = self._still(self._tools.get(tool)), self._by_calls(tool)
        if UNKNOWN in (checked, called):
            return called if checked is UNKNOWN else checked
        return worse(checked, called)

    def _by_calls(self, tool: str) -> Health:
        since = self._clock.monotonic() - _FRESH_SECONDS
        calls = list(self._calls.get(tool, ()))[-_LAST:]
        failures = [call.failure for call in calls if call.at >= since]
        if not failures:
            return UNKNOWN
        bad = [failure for failure in failures if failure]
        if not bad:
            return HEALTHY
        if len(failures) >= _IN_A_ROW and all(failures[-_IN_A_ROW:]):
            return Health(status=HealthStatus.UNHEALTHY, reason=bad[-1])
        failed = (
            f"{len(bad)} of its last {len(failures)} calls"
            if len(failures) > 1
            else "its last call"
        )
        reason = f"{failed} failed: {bad[-1]}"
        return Health(status=HealthStatus.DEGRADED, reason=reason)

    def _still(self, seen: tuple[float, Health] | None) -> Health:
        if seen is None or seen[0] < self._clock.monotonic() - _FRESH_SECONDS:
            return UNKNOWN
        return seen[1]
