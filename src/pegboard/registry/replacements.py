"""Propose replacements for a tool that is missing; nothing is replaced here."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pegboard.core.health import Health, HealthStatus
from pegboard.core.tool import Status, ToolSpec
from pegboard.schemas.compatibility import Fit, Fits, schema_fits
from pegboard.schemas.subschema import schema_at

_HEALTH = {
    HealthStatus.HEALTHY: 1.0,
    HealthStatus.UNKNOWN: 0.9,
    HealthStatus.DEGRADED: 0.6,
    HealthStatus.UNHEALTHY: 0.0,
}
_RENAMED, _UNKNOWN, _DROPPED, _DEPRECATED = 0.95, 0.7, 0.8, 0.8
_UNLIKE = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A tool that could replace another.

    Attributes:
        score: From 0 to 1: how well it matches.
        reasons: Merits and doubts, in sentences.
        input_mapping: For each of its arguments, the argument of the old tool to use.
        is_certain: Whether its schemas accept and return everything that the old ones did.
    """

    tool: ToolSpec
    score: float
    reasons: tuple[str, ...]
    input_mapping: Mapping[str, str] = field(default_factory=dict[str, str])
    is_certain: bool = False


@dataclass(slots=True)
class _Match:
    """A candidate under examination; a factor of 0 rules it out."""

    factor: float = 1.0
    merits: list[str] = field(default_factory=list[str])
    doubts: list[str] = field(default_factory=list[str])
    mapping: dict[str, str] = field(default_factory=dict[str, str])

    def doubt(self, factor: float, reason: str) -> None:
        self.factor *= factor
        self.doubts.append(reason)


def propose_replacements(
    tool: ToolSpec,
    candidates: Iterable[ToolSpec],
    *,
    health: Callable[[str], Health] | None = None,
    needed: Any = None,
) -> list[Proposal]:
    """Tools with a shared capability and matching schemas, the best first.

    A replacement accepts what callers give the tool and returns what they need. It never has a
    stronger effect: a tool that writes never replaces one that reads.

    Args:
        tool: The tool that is missing, failed or unhealthy.
        candidates: The tools to consider; the tool itself is ignored.
        health: The health of a tool by id; None when nothing is known.
        needed: JSON Schema of the output that dependants need; None for all that the tool promises.
    """
    wanted = tool.output_schema if needed is None else needed
    proposals: list[Proposal] = []
    for candidate in candidates:
        shared = [item for item in tool.capabilities if item in candidate.capabilities]
        if not shared or not _may_stand_in(tool, candidate):
            continue
        match = _Match(factor=0.5 + 0.5 * len(shared) / len(tool.capabilities))
        current = health(candidate.id) if health else None
        _judge_health(match, candidate, current)
        doubts = len(match.doubts)
        if match.factor:
            _judge_output(match, candidate, wanted)
        if match.factor:
            _judge_input(match, tool, candidate)
        if len(match.doubts) == doubts:
            match.merits.append("takes and gives all that this one does")
        if current is not None and current.status is HealthStatus.HEALTHY:
            match.merits.append("is healthy")
        if match.factor:
            proposals.append(_proposal(match, candidate, shared))
    return sorted(proposals, key=lambda item: (-item.score, item.tool.name))


def _may_stand_in(tool: ToolSpec, candidate: ToolSpec) -> bool:
    return (
        candidate.id != tool.id
        and candidate.status in {Status.ACTIVE, Status.DEPRECATED}
        and not candidate.unavailable
        and tool.id not in candidate.dependencies
        and candidate.effect.strength <= tool.effect.strength
    )


def _proposal(match: _Match, candidate: ToolSpec, shared: list[str]) -> Proposal:
    plural = "capabilities" if len(shared) > 1 else "capability"
    return Proposal(
        tool=candidate,
        score=round(match.factor, 3),
        reasons=(f"has the {plural} {', '.join(shared)}", *match.merits, *match.doubts),
        input_mapping=match.mapping,
        is_certain=not match.doubts,
    )


def _judge_health(match: _Match, candidate: ToolSpec, health: Health | None) -> None:
    if health is not None:
        match.factor *= _HEALTH[health.status]
        if health.status is HealthStatus.DEGRADED:
            match.doubts.append(f"is degraded: {health.reason}" if health.reason else "is degraded")
    if candidate.status is Status.DEPRECATED:
        match.doubt(_DEPRECATED, "is deprecated")


def _judge_output(match: _Match, candidate: ToolSpec, wanted: Any) -> None:
    if wanted is None:
        return
    if candidate.output_schema is None:
        match.doubt(_UNKNOWN, "promises nothing of its output")
        return
    _take_in(match, schema_fits(candidate.output_schema, wanted), "output")


def _judge_input(match: _Match, tool: ToolSpec, candidate: ToolSpec) -> None:
    old, new = _arguments(tool), _arguments(candidate)
    if schema_fits(tool.input_schema, candidate.input_schema, closed=True).is_certain:
        match.mapping.update({name: name for name in new if name in old})
        return
    partners = _partners(old, new)
    required = set(candidate.input_schema.get("required", ()))
    must = set(tool.input_schema.get("required", ()))
    for name in new:
        source = partners.get(name)
        if source is None:
            if name in required:
                match.doubt(0, f"needs '{name}', which callers do not pass")
            continue
        match.mapping[name] = source
        if source != name:
            match.doubt(_RENAMED, f"takes '{source}' as '{name}'")
        if name in required and source not in must:
            match.doubt(_UNKNOWN, f"needs '{name}', which callers may leave out")
        given, wanted = _argument(tool, source), _argument(candidate, name)
        _take_in(match, schema_fits(given, wanted), f"input '{name}'")
    for name in old:
        if name not in match.mapping.values():
            match.doubt(0 if name in must else _DROPPED, f"takes nothing like '{name}'")


def _take_in(match: _Match, fit: Fit, what: str) -> None:
    if fit.answer is Fits.NO:
        match.doubt(0, f"{what}: {fit}")
    elif fit.answer is Fits.UNKNOWN:
        match.doubt(_UNKNOWN, f"{what}: {fit.reasons[0]}")


def _arguments(spec: ToolSpec) -> dict[str, Any]:
    return cast("dict[str, Any]", spec.input_schema.get("properties", {}))


def _argument(spec: ToolSpec, name: str) -> Any:
    """The schema of an argument: `False` when it cannot be given, `{}` when nothing is known."""
    found = schema_at(spec.input_schema, [name])
    if found.problem:
        return False
    return {} if found.schema is None else found.schema


def _partners(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """The old argument for each new one: the same name, a similar one, or the only one left."""
    partners = {name: name for name in new if name in old}
    alike = {_plain(name): name for name in old if name not in partners}
    for name in new:
        if name not in partners and _plain(name) in alike:
            partners[name] = alike.pop(_plain(name))
    left = [name for name in old if name not in partners.values()]
    open_ones = [name for name in new if name not in partners]
    if len(left) == 1 and len(open_ones) == 1:
        partners[open_ones[0]] = left[0]
    return partners


def _plain(name: str) -> str:
    return _UNLIKE.sub("", name.lower())
