"""What `decide` answers: yes, no or ask, always with a reason."""

from enum import StrEnum

from msgspec import Struct


class Action(StrEnum):
    """What somebody wants to do with a tool."""

    LIST = "list"
    CALL = "call"


class Verdict(StrEnum):
    """The three answers; deny beats ask beats allow."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Decision(Struct, frozen=True, kw_only=True, gc=False):
    """An answer and where it comes from.

    Attributes:
        reason: A sentence for people, safe to show to the caller.
        rule: Which rule decided, as `policy.deny[0]` or `default.admin`.
    """

    verdict: Verdict
    reason: str
    rule: str

    @property
    def allowed(self) -> bool:
        """Whether the answer is *allow*."""
        return self.verdict is Verdict.ALLOW
