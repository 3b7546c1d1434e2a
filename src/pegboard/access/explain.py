"""`explain`: the decision for a caller and a tool, with every check behind it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.access.decide import decide, refusals
from pegboard.access.kill_switches import Switches
from pegboard.access.policy import Policy
from pegboard.access.remedies import Remedy, RemedyStep, find_remedies
from pegboard.core.decision import Action, Decision, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The decision for one caller and one tool, hidden tools included.

    Attributes:
        visible: Whether the tool is listed for this caller.
        checks: In order: the check and its result.
        remedies: What would let the caller in; empty if it may call without an approval.
    """

    tool: str
    principal: str
    call: Decision
    visible: bool
    checks: tuple[tuple[str, str], ...]
    remedies: tuple[RemedyStep, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data."""
        return {
            "tool": self.tool,
            "principal": self.principal,
            "verdict": self.call.verdict.value,
            "reason": self.call.reason,
            "rule": self.call.rule,
            "visible": self.visible,
            "checks": [{"check": name, "result": result} for name, result in self.checks],
            "remedies": [step.to_dict() for step in self.remedies],
        }


def explain(
    principal: Principal,
    tool: ToolSpec,
    arguments: Mapping[str, Any] | None = None,
    *,
    policy: Policy,
    switches: Switches,
    quota: str = "",
) -> Explanation:
    """Explain the decision, check by check.

    Args:
        principal: The caller.
        tool: The tool.
        arguments: Those of a call, for rules that look at them; None for any call.
        policy: The rules of the board.
        switches: The active kill switches.
        quota: Why a quota refuses calls of the caller; empty if none does.
    """
    found = list(refusals(principal, tool, switches, policy))
    checks = [
        (name, "passed" if refusal is None else f"{refusal.verdict.value}: {refusal.reason}")
        for name, refusal in found
    ]
    standing = policy.decide(tool)
    checks.append(("policy", f"{standing.verdict.value}: {standing.reason}"))
    checks.extend(_explain_rules(principal, tool, arguments, policy))
    if principal.user and policy.holds_untrusted(tool):
        unless = ", unless the caller has named what the call acts on"
        named = unless if policy.traces_arguments else ""
        after = f"{policy.untrusted.value} once the run has read untrusted text{named}"
        checks.append(("untrusted text", after))
    call = decide(principal, tool, Action.CALL, arguments, policy=policy, switches=switches)
    seen = decide(principal, tool, Action.LIST, policy=policy, switches=switches)
    if policy.rules:
        standing = policy.decide_call(principal, tool, arguments, untrusted=False)
    refused = [name for name, refusal in found if refusal is not None]
    steps = [*find_remedies(principal, tool, refused, standing=standing, policy=policy)]
    if quota:
        checks.append(("quotas", f"deny: {quota}"))
        steps.append(_lift_quota(quota))
        if call.verdict is not Verdict.DENY:
            call = Decision(verdict=Verdict.DENY, reason=quota, rule="quotas")
    return Explanation(
        tool=tool.name,
        principal=principal.id,
        call=call,
        visible=seen.allowed,
        checks=tuple(checks),
        remedies=tuple(steps),
    )


def _lift_quota(quota: str) -> RemedyStep:
    until = quota.rpartition(". ")[2].rstrip(".")
    texts = (until[:1].lower() + until[1:], "an operator or administrator raises it")
    return RemedyStep(
        check="quotas", any_of=tuple(Remedy(kind="quota", text=text) for text in texts)
    )


def _explain_rules(
    principal: Principal, tool: ToolSpec, arguments: Mapping[str, Any] | None, policy: Policy
) -> Iterator[tuple[str, str]]:
    """The rules that hold for some calls of the tool, and what they say about this one."""
    for item in policy.find_call_rules(tool):
        found = policy.decide_by(item, principal, arguments)
        if found is not None:
            result = f"{found.verdict.value}: {found.reason}"
        elif arguments is None and item.rule.looks_at_call:
            result = f"{item.rule.verdict.value}, where '{item.rule.when}'"
        else:
            result = "does not hold"
        yield f"rules[{item.index}]", result
