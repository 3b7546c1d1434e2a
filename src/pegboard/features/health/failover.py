"""Which tool takes the place of others that are gone, where the board's policy lets it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Literal

from pegboard.access import Switches, decide
from pegboard.access.decide import UNAVAILABLE, refusals
from pegboard.core.decision import Action, Verdict
from pegboard.core.health import HealthStatus
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Status, ToolSpec
from pegboard.errors import SourceUnavailable, ToolNotFound
from pegboard.features.health.replacements import ReplacementProposals, Replacements
from pegboard.graphs.failover import Substitute
from pegboard.registry import ToolRegistry

Stopped = Literal["switched_off", "disabled"]
"""How a person stops a tool: by a kill switch for it or its source, or by its status."""

_USABLE = (HealthStatus.HEALTHY, HealthStatus.UNKNOWN)
_NOTHING_OFF = Switches()
_STOPPED: Mapping[str, Stopped] = MappingProxyType(
    {
        "switch.tool": "switched_off",
        "switch.source": "switched_off",
        f"status.{Status.DISABLED}": "disabled",
    }
)
"""By the rule that denies its calls. Where all writes are off, nothing stands in for any."""
_BROKEN = frozenset({UNAVAILABLE, f"status.{Status.FAILED}"})
"""Rules of what does not work, and was stopped by nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverPolicy:
    """Whether runs take a stand-in by themselves; by default they only name it.

    Attributes:
        applies: Whether they do.
        tools: Globs over the names of tools that others may stand in for.
        effects: Of these tools.
        even_if: How a person may have stopped a tool for which another stands in all the same.
    """

    applies: bool = False
    tools: tuple[str, ...] = ("*",)
    effects: frozenset[Effect] = field(default_factory=lambda: frozenset({Effect.READ}))
    even_if: frozenset[Stopped] = frozenset()

    def allows(self, spec: ToolSpec) -> bool:
        """Whether another tool may take the place of this one."""
        names = filter(None, (spec.name, spec.registered_name))
        is_named = any(fnmatchcase(name, glob) for name in names for glob in self.tools)
        return self.applies and spec.effect in self.effects and is_named


class FailoverSelector:
    """Says what stands in for tools of which none is there: a `Heal`.

    It has every capability that the tool had, takes all that it took, gives what it promised, does
    no more to the world, is well, and its caller may call it. Where a person was asked before the
    tool ran, a person is asked before the stand-in runs, or it does not. What a person has stopped
    stays undone, unless the policy says otherwise: they may have meant what it does.

    Args:
        registry: Whose tools.
        replacements: What could do their work.
        policy: What the board says now.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        replacements: Replacements,
        *,
        policy: Callable[[], FailoverPolicy],
    ) -> None:
        self._registry = registry
        self._replacements = replacements
        self._policy = policy

    def __call__(
        self, names: Sequence[str], principal: Principal, /, *, refused: Collection[str] = ()
    ) -> Substitute | None:
        """What stands in for these tools, of which the first matters most."""
        policy = self._policy()
        if not policy.applies:
            return None
        for name in names:
            if not self._may_replace(name, principal, policy, was_refused=name in refused):
                return None
        tried = {name.partition("@")[0] for name in names}
        for name in names:
            known = self._find_proposals(name.partition("@")[0], principal)
            if known is None or known.tool.output_schema is None or not policy.allows(known.tool):
                continue  # of what promises no output nobody knows whether others give the same
            for proposal, health in known.proposals:
                tool = proposal.tool
                is_same = proposal.is_certain and set(known.tool.capabilities) <= set(
                    tool.capabilities
                )
                if not is_same or health.status not in _USABLE or {tool.name, tool.id} & tried:
                    continue
                if self._may_take_over(known.tool, tool, principal):
                    return Substitute(tool=tool.name, instead_of=name, reasons=proposal.reasons)
        return None

    def _find_proposals(self, name: str, principal: Principal) -> ReplacementProposals | None:
        try:
            return self._replacements.find(name, principal=principal, switches=_NOTHING_OFF)
        except (ToolNotFound, SourceUnavailable):
            return None

    def _may_replace(
        self, name: str, principal: Principal, policy: FailoverPolicy, *, was_refused: bool
    ) -> bool:
        """Whether nobody has refused this caller the tool, or stopped it, also before it went."""
        spec, kit = self._replacements.find_known(name.partition("@")[0]), self._registry.kit
        if spec is None:
            return not was_refused
        if kit.policy.decide(spec).verdict is Verdict.DENY:
            return False
        own = refusals(principal, spec, _NOTHING_OFF)
        denials = [*kit.switches.every(spec), *(denial for _, denial in own if denial is not None)]
        if not denials:
            return not was_refused
        stops = [denial.rule for denial in denials if denial.rule not in _BROKEN]
        return all(_STOPPED.get(rule) in policy.even_if for rule in stops)  # each of them

    def _may_take_over(self, before: ToolSpec, after: ToolSpec, principal: Principal) -> bool:
        kit = self._registry.kit
        asks = decide(principal, after, Action.CALL, policy=kit.policy, switches=kit.switches)
        if kit.policy.decide(before).verdict is Verdict.ASK:
            return asks.verdict is Verdict.ASK
        return asks.verdict is not Verdict.DENY
