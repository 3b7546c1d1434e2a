"""`explain`: the decision for a caller and a tool, with every check behind it."""

from dataclasses import dataclass
from typing import Any

from pegboard.access.decide import decide, refusals
from pegboard.access.kill_switches import Switches
from pegboard.access.policy import Policy
from pegboard.core.decision import Action, Decision
from pegboard.core.principal import Principal
from pegboard.core.tool import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The decision for one caller and one tool, hidden tools included.

    Attributes:
        visible: Whether the tool is listed for this caller.
        checks: In order: the check and its result.
    """

    tool: str
    principal: str
    call: Decision
    visible: bool
    checks: tuple[tuple[str, str], ...]

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
        }


def explain(
    principal: Principal, tool: ToolSpec, *, policy: Policy, switches: Switches
) -> Explanation:
    """Explain the decision, check by check."""
    checks = [
        (name, "passed" if refusal is None else f"{refusal.verdict.value}: {refusal.reason}")
        for name, refusal in refusals(principal, tool, switches)
    ]
    standing = policy.decide(tool)
    checks.append(("policy", f"{standing.verdict.value}: {standing.reason}"))
    call = decide(principal, tool, Action.CALL, policy=policy, switches=switches)
    seen = decide(principal, tool, Action.LIST, policy=policy, switches=switches)
    return Explanation(
        tool=tool.name,
        principal=principal.id,
        call=call,
        visible=seen.allowed,
        checks=tuple(checks),
    )
