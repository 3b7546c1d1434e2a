"""Which tools have a capability, the best first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pegboard.access import decide
from pegboard.core.decision import Action, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Status, Tool, ToolSpec
from pegboard.execution import CallEnvironment
from pegboard.planning.tool_health import ToolHealth, ToolHealthSource

_HEALTH = {"healthy": 1.0, "unknown": 0.8, "degraded": 0.4, "unhealthy": 0.0}
_WEIGHTS = {"fit": 4.0, "health": 3.0, "reliability": 1.5, "latency": 1.0, "cost": 0.5}
_SLOW_MS = 2_000.0
_DEAR = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A tool that would do.

    Attributes:
        score: Higher is better; between 0 and 10.
        reason: What spoke for and against it, for people.
    """

    tool: Tool
    score: float
    reason: str

    @property
    def spec(self) -> ToolSpec:
        """The tool's."""
        return self.tool.spec


def usable(tools: Iterable[Tool], principal: Principal, kit: CallEnvironment) -> list[Tool]:
    """The tools that this caller may call, be it after an approval."""
    return [
        tool
        for tool in tools
        if decide(
            principal, tool.spec, Action.CALL, policy=kit.policy, switches=kit.switches
        ).verdict
        is not Verdict.DENY
    ]


def rank(
    tools: Sequence[Tool], knowledge: ToolHealthSource, fits: "dict[str, float]"
) -> list[Candidate]:
    """Rank tools as candidates, the best first; equal ones by name.

    Args:
        tools: All of which have what is wanted.
        knowledge: How they are doing.
        fits: By name, which share of its required inputs can be given, from 0 to 1.
    """
    candidates = [
        _score(tool, knowledge.health_of(tool.spec.name), fits.get(tool.spec.name, 0.0))
        for tool in tools
    ]
    return sorted(candidates, key=lambda item: (-item.score, item.spec.name))


def _score(tool: Tool, standing: ToolHealth, fit: float) -> Candidate:
    spec = tool.spec
    parts = {
        "fit": fit,
        "health": _HEALTH[standing.health],
        "reliability": 1.0 - (standing.failures or 0.0),
        "latency": _share(standing.latency_ms, _SLOW_MS),
        "cost": _share(standing.cost, _DEAR),
    }
    score = sum(_WEIGHTS[name] * value for name, value in parts.items())
    if spec.status is Status.DEPRECATED:
        score *= 0.5
    if spec.effect is not Effect.READ:
        score -= 0.01  # between equals the one that changes nothing
    return Candidate(tool=tool, score=round(max(score, 0.0), 4), reason=_why(spec, standing, fit))


def _share(value: float | None, bad: float) -> float:
    """1 for nothing, a half for `bad`, towards 0 beyond; a guess in between when unknown."""
    return 0.7 if value is None else bad / (bad + value)


def _why(spec: ToolSpec, standing: ToolHealth, fit: float) -> str:
    said = [f"{round(fit * 100)} % of its required inputs can be given"]
    if standing.health != "unknown":
        said.append(f"{standing.health}{f' ({standing.reason})' if standing.reason else ''}")
    if standing.failures:
        said.append(f"{round(standing.failures * 100)} % of its calls failed lately")
    if standing.latency_ms is not None:
        said.append(f"usually {standing.latency_ms:.0f} ms")
    if spec.status is Status.DEPRECATED:
        said.append("deprecated")
    return ", ".join(said)
