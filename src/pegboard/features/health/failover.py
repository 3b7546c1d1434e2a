"""Failover: selects the substitute of unavailable tools, where the board's policy allows it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Literal

from pegboard.access import Switches, decide
from pegboard.access.decide import UNAVAILABLE, refusals
from pegboard.access.visibility import find_owner
from pegboard.core.decision import Action, Verdict
from pegboard.core.health import HealthStatus
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Status, ToolSpec
from pegboard.errors import SourceUnavailable, ToolNotFound
from pegboard.features.health.replacements import ReplacementProposals, Replacements
from pegboard.graphs.failover import Substitute
from pegboard.registry import ToolRegistry

Stopped = Literal["switched_off", "disabled"]
"""How a tool was stopped: by a kill switch for it or its source, or by its status."""

_USABLE = (HealthStatus.HEALTHY, HealthStatus.UNKNOWN)
_NOTHING_OFF = Switches()
_STOPPED: Mapping[str, Stopped] = MappingProxyType(
    {
        "switch.tool": "switched_off",
        "switch.source": "switched_off",
        f"status.{Status.DISABLED}": "disabled",
    }
)
"""By the rule that denies its calls. While all writes are off, no write is replaced."""
_BROKEN = frozenset({UNAVAILABLE, f"status.{Status.FAILED}"})
"""Rules that deny tools which do not work, and were not stopped by a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailoverPolicy:
    """Whether runs call substitutes by themselves; by default they only name them.

    Attributes:
        applies: Whether they do.
        tools: Globs over the names of tools that may be replaced.
        effects: Effects of tools that may be replaced.
        even_if: Ways of stopping a tool that do not prevent its replacement.
    """

    applies: bool = False
    tools: tuple[str, ...] = ("*",)
    effects: frozenset[Effect] = field(default_factory=lambda: frozenset({Effect.READ}))
    even_if: frozenset[Stopped] = frozenset()

    def allows(self, spec: ToolSpec) -> bool:
        """Whether this tool may be replaced."""
        names = filter(None, (spec.name, spec.registered_name))
        is_named = any(fnmatchcase(name, glob) for name in names for glob in self.tools)
        return self.applies and spec.effect in self.effects and is_named


class FailoverSelector:
    """Selects a substitute for a step whose tools are all unavailable.

    A substitute has every capability of the tool, accepts its input, returns what it promised, has
    no greater effect, is healthy, and may be called by the caller. If the tool needs an approval,
    so must the substitute. A tool that was stopped by a person is not replaced unless the policy
    allows it, because its effect may be what they wanted to prevent.

    Args:
        registry: The tools of the board.
        replacements: Proposes replacements.
        policy: Returns the current policy.
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
        """Return the substitute for these tools, of which the first matters most."""
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
                continue  # without an output schema it is unknown whether others return the same
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
        """Whether no tool was refused to this caller or stopped, also before it was gone."""
        spec, kit = (
            self._replacements.find_known(name.partition("@")[0]),
            self._registry.environment,
        )
        if spec is None:
            return not was_refused
        if kit.policy.decide(spec).verdict is Verdict.DENY:
            return False
        own = refusals(principal, spec, _NOTHING_OFF, kit.policy)
        denials = [
            *kit.switches.denials(spec),
            *(denial for _, denial in own if denial is not None),
        ]
        if not denials:
            return not was_refused
        stops = [denial.rule for denial in denials if denial.rule not in _BROKEN]
        return all(_STOPPED.get(rule) in policy.even_if for rule in stops)  # each of them

    def _may_take_over(self, before: ToolSpec, after: ToolSpec, principal: Principal) -> bool:
        if find_owner(after.source) not in {"", find_owner(before.source)}:
            return False  # arguments for one person's system are not for another's
        kit = self._registry.environment
        asks = decide(principal, after, Action.CALL, policy=kit.policy, switches=kit.switches)
        if kit.policy.decide(before).verdict is Verdict.ASK:
            return asks.verdict is Verdict.ASK
        return asks.verdict is not Verdict.DENY
