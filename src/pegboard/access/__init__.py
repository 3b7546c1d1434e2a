"""Who may: policy, `decide` and `explain`, kill switches."""

from pegboard.access.decide import decide
from pegboard.access.explain import Explanation, explain
from pegboard.access.kill_switches import Switches
from pegboard.access.known import LOOKS_AFTER, may_know
from pegboard.access.policy import Policy

__all__ = ["LOOKS_AFTER", "Explanation", "Policy", "Switches", "decide", "explain", "may_know"]
