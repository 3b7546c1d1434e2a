"""Proposes tools that can replace one that is gone, failed or unhealthy."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pegboard.access import Switches, decide, may_know
from pegboard.core.decision import Action
from pegboard.core.health import Health, HealthStatus
from pegboard.core.principal import Principal
from pegboard.core.tool import ToolSpec
from pegboard.errors import SourceUnavailable, ToolNotFound, VersionNotFound
from pegboard.registry import ToolRegistry
from pegboard.registry.replacements import Proposal, propose_replacements

_MAX_REMOVED = 1000
"""Number of removed tools whose specs are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacementProposals:
    """A tool, and the tools that could replace it.

    Attributes:
        tool: The tool as it is, or was.
        health: Its health.
        is_gone: Whether it is not on the board now.
        proposals: Each with its health, best first.
    """

    tool: ToolSpec
    health: Health
    is_gone: bool
    proposals: tuple[tuple[Proposal, Health], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data."""
        return {
            "tool_id": self.tool.id,
            "name": self.tool.name,
            "is_gone": self.is_gone,
            "status": self.health.status.value,
            "reason": self.health.reason,
            "capabilities": list(self.tool.capabilities),
            "proposals": [
                {
                    "tool_id": proposal.tool.id,
                    "name": proposal.tool.name,
                    "score": proposal.score,
                    "is_certain": proposal.is_certain,
                    "reasons": list(proposal.reasons),
                    "input_mapping": dict(proposal.input_mapping),
                    "status": health.status.value,
                }
                for proposal, health in self.proposals
            ],
        }


class Replacements:
    """Proposes tools with the same capability and a compatible schema.

    ```python
    board.tool_health.replacements.find("web_search").proposals
    ```

    Args:
        registry: The tools of the board.
        health: Returns the health of a tool, by id.
        seen: Returns the last known spec of a tool that is gone; None if unknown.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        health: Callable[[str], Health],
        seen: Callable[[str], ToolSpec | None] = lambda _: None,
    ) -> None:
        self._registry = registry
        self._health = health
        self._seen = seen
        self._last: dict[str, ToolSpec] = {}
        self._gone: dict[str, ToolSpec] = {}
        self._ids: dict[str, str] = {}

    def refresh(self) -> None:
        """Remember the current tools, so that their specs are known once they are gone."""
        now = {tool.spec.id: tool.spec for tool in self._registry}
        went = {id_: spec for id_, spec in self._last.items() if id_ not in now}
        gone = {id_: spec for id_, spec in self._gone.items() if id_ not in now} | went
        self._gone = dict(list(gone.items())[-_MAX_REMOVED:])
        self._last = now
        self._ids = {spec.name: spec.id for spec in (*self._gone.values(), *now.values())}

    def find(
        self, name: str, *, principal: Principal, switches: Switches | None = None
    ) -> ReplacementProposals:
        """Propose replacements for a tool, as far as this caller may see them.

        Args:
            name: Wire name or id; also of a removed tool whose spec is still known.
            principal: The caller.
            switches: Kill switches that apply to the tool itself; None for the current ones.

        Raises:
            ToolNotFound: The tool was never known, or the caller may not see it.
            SourceUnavailable: Its source has never been available; says why.
        """
        spec = self.find_known(name)
        kit = self._registry.environment
        if spec is None and (reason := kit.why_missing(name)):
            raise SourceUnavailable(f"'{name}' is unavailable: {reason}")
        off = kit.switches if switches is None else switches
        if spec is None or not may_know(principal, spec, policy=kit.policy, switches=off):
            raise ToolNotFound(name, self._registry.nearest(name, principal))
        wanted = set(spec.capabilities)
        candidates = [
            tool.spec
            for tool in self._registry
            if not wanted.isdisjoint(tool.spec.capabilities) and self._may_see(principal, tool.spec)
        ]
        found = propose_replacements(spec, candidates, health=self._health)
        is_gone = self._registry.find(name) is None
        return ReplacementProposals(
            tool=spec,
            health=self._missing_health(name) if is_gone else self._health(spec.id),
            is_gone=is_gone,
            proposals=tuple((item, self._health(item.tool.id)) for item in found),
        )

    def find_known(self, name: str) -> ToolSpec | None:
        """Return the current or last known spec of a tool, without any check of visibility."""
        tool = self._registry.find(name)
        if tool is not None:
            return tool.spec
        for id_ in (name, self._ids.get(name, "")):
            if spec := self._gone.get(id_) or self._last.get(id_):
                return spec
        return self._find_registered(name) or self._seen(name)

    def find_best(self, name: str, principal: Principal) -> str:
        """Return the wire name of the best replacement; empty for none."""
        return next((tool.name for tool, _ in self._propose(name, principal)), "")

    def find_certain(self, name: str, *, principal: Principal) -> tuple[ToolSpec, ...]:
        """Return the certain replacements, best first; never raises."""
        return tuple(tool for tool, is_certain in self._propose(name, principal) if is_certain)

    def knows(self, name: str, principal: Principal) -> bool:
        """Whether the tool exists or existed, as far as this caller may know."""
        spec, kit = self.find_known(name), self._registry.environment
        return spec is not None and may_know(
            principal, spec, policy=kit.policy, switches=kit.switches
        )

    def _propose(self, name: str, principal: Principal) -> list[tuple[ToolSpec, bool]]:
        try:
            found = self.find(name, principal=principal)
        except (ToolNotFound, SourceUnavailable):
            return []
        return [(proposal.tool, proposal.is_certain) for proposal, _ in found.proposals]

    def _find_registered(self, name: str) -> ToolSpec | None:
        """The last version of a tool that was registered by API and removed."""
        plain, _, major = name.rpartition("_v")
        for wanted in (name, plain if major.isdecimal() else ""):
            with suppress(VersionNotFound):
                versions = self._registry.versions
                known = [versions.current(wanted), *reversed(versions.history(wanted))]
                specs = (item.tool.spec for item in known)
                found = (spec for spec in specs if name in (spec.name, spec.id))
                return next(found, None)
        return None

    def _may_see(self, principal: Principal, spec: ToolSpec) -> bool:
        kit = self._registry.environment
        asked = decide(principal, spec, Action.LIST, policy=kit.policy, switches=kit.switches)
        return asked.allowed

    def _missing_health(self, name: str) -> Health:
        reason = self._registry.environment.why_missing(name) or "there is no such tool"
        return Health(status=HealthStatus.UNHEALTHY, reason=reason)
