"""Who may: policy, `decide` and `explain`, kill switches."""

from pegboard.access.call_rules import CallRule
from pegboard.access.decide import MAINTAINER_SCOPE, decide, may_know
from pegboard.access.explain import Explanation, explain
from pegboard.access.kill_switches import Switches
from pegboard.access.policy import Policy

__all__ = [
    "MAINTAINER_SCOPE",
    "CallRule",
    "Explanation",
    "Policy",
    "Switches",
    "decide",
    "explain",
    "may_know",
]
