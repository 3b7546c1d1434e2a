"""`Decision`: the result of `decide`, with its reason."""

from enum import StrEnum

from msgspec import Struct


class Action(StrEnum):
    """What a caller wants to do with a tool."""

    LIST = "list"
    CALL = "call"


class Verdict(StrEnum):
    """The three verdicts; deny beats ask beats allow."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Decision(Struct, frozen=True, kw_only=True, gc=False):
    """A verdict with its reason and rule.

    Attributes:
        reason: A sentence for people, safe to show to the caller.
        rule: The deciding rule, as `policy.deny[0]` or `default.admin`.
        by: With *ask*, who may approve: `other` for anybody but those who asked; empty for each
            approver.
    """

    verdict: Verdict
    reason: str
    rule: str
    by: str = ""

    @property
    def allowed(self) -> bool:
        """Whether the verdict is *allow*."""
        return self.verdict is Verdict.ALLOW
