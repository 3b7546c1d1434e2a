"""Who may: policy, `decide` and `explain`, kill switches."""

from pegboard.access.decide import LOOKS_AFTER, decide, may_know
from pegboard.access.explain import Explanation, explain
from pegboard.access.kill_switches import Switches
from pegboard.access.policy import Policy

__all__ = ["LOOKS_AFTER", "Explanation", "Policy", "Switches", "decide", "explain", "may_know"]
