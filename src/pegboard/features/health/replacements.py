"""Which tools could do the work of one that is gone, failed or unhealthy: proposed, never done."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pegboard.access import Switches, decide, may_know
from pegboard.core.decision import Action
from pegboard.core.health import Health, HealthStatus
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import ToolSpec
from pegboard.errors import SourceUnavailable, ToolNotFound, VersionNotFound
from pegboard.registry import ToolRegistry
from pegboard.registry.replacements import Proposal, propose_replacements

_MAX_REMOVED = 1000
"""Of so many tools that went it is known what they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacementProposals:
    """A tool, and what could stand in for it.

    Attributes:
        tool: As it is, or as it was when it went.
        health: How it is doing.
        is_gone: Whether it is not on the board now.
        proposals: The best first, each with how it is doing.
    """

    tool: ToolSpec
    health: Health
    is_gone: bool
    proposals: tuple[tuple[Proposal, Health], ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data."""
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
    """Proposes tools with the same capability, a compatible schema and no known trouble.

    ```python
    board.tool_health.replacements.find("web_search").proposals
    ```

    Args:
        registry: Where to look.
        health: How a tool is doing, by id.
        seen: What a tool was that has been on the board before; None when nobody knows.
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
        """Take note of the tools that there are, so that it is known what one was once it went."""
        now = {tool.spec.id: tool.spec for tool in self._registry}
        went = {id_: spec for id_, spec in self._last.items() if id_ not in now}
        gone = {id_: spec for id_, spec in self._gone.items() if id_ not in now} | went
        self._gone = dict(list(gone.items())[-_MAX_REMOVED:])
        self._last = now
        self._ids = {spec.name: spec.id for spec in (*self._gone.values(), *now.values())}

    def find(
        self, name: str, *, principal: Principal = LOCAL, switches: Switches | None = None
    ) -> ReplacementProposals:
        """What could stand in for a tool, as far as this caller may see it.

        Args:
            name: Wire name or id, also of a tool that went since the board was opened, and at any
                time where a store keeps what it was.
            principal: Who asks.
            switches: Under which the tool itself is looked for; None for what is off now.

        Raises:
            ToolNotFound: There is none and was none, or it is hidden: the answer is the same.
            SourceUnavailable: Its source has never been there; says why.
        """
        spec = self.find_known(name)
        kit = self._registry.kit
        if spec is None and (reason := kit.why_absent(name)):
            raise SourceUnavailable(f"'{name}' is not there now: {reason}")
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
        """What the tool of a name or id is, or was, whoever may see it; None when nobody knows."""
        tool = self._registry.find(name)
        if tool is not None:
            return tool.spec
        for id_ in (name, self._ids.get(name, "")):
            if spec := self._gone.get(id_) or self._last.get(id_):
                return spec
        return self._find_registered(name) or self._seen(name)

    def find_best(self, name: str, principal: Principal = LOCAL) -> str:
        """The wire name of the tool that could best take its place; empty without one."""
        return next((tool.name for tool, _ in self._propose(name, principal)), "")

    def find_certain(self, name: str, *, principal: Principal = LOCAL) -> tuple[ToolSpec, ...]:
        """The tools that could take its place without a doubt, the best first; never raises."""
        return tuple(tool for tool, is_certain in self._propose(name, principal) if is_certain)

    def knows(self, name: str, principal: Principal) -> bool:
        """Whether there is or was such a tool, as far as this caller may know."""
        spec, kit = self.find_known(name), self._registry.kit
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
        """What a tool was that was registered, and removed perhaps before the board was opened."""
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
        kit = self._registry.kit
        asked = decide(principal, spec, Action.LIST, policy=kit.policy, switches=kit.switches)
        return asked.allowed

    def _missing_health(self, name: str) -> Health:
        reason = self._registry.kit.why_absent(name) or "there is no such tool"
        return Health(status=HealthStatus.UNHEALTHY, reason=reason)
