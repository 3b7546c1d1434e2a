"""The limits of a run of an agent, or of a goal."""

from dataclasses import dataclass

from pegboard.core.model_messages import ModelUsage
from pegboard.errors import LimitReached


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentLimits:
    """Limits of one run of an agent, or of all agents of a goal together; None for no limit.

    Attributes:
        turns: Turns of the model.
        calls: Calls of tools.
        tokens: Of input and output together.
        cost: In US dollars; counted where prices are known.
        seconds: From the start of the run on, waits included; looked at before each turn.
    """

    turns: int = 50
    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None


def check_limits(
    limits: AgentLimits, usage: ModelUsage, calls: int, *, elapsed: float, who: str = "agent"
) -> None:
    """Check that a run may go on.

    Args:
        limits: What it may use.
        usage: What its models have used.
        calls: How many tools it has called.
        elapsed: Seconds since it began.
        who: Has the limits, for the message.

    Raises:
        LimitReached: It has used what it may use.
    """
    used = {
        "calls": (calls, limits.calls),
        "tokens": (usage.input_tokens + usage.output_tokens, limits.tokens),
        "cost": (usage.cost or 0.0, limits.cost),
        "seconds": (elapsed, limits.seconds),
    }
    for name, (count, most) in used.items():
        if most is not None and count >= most:
            raise limit_reached(most, name, who=who)


def limit_reached(most: float, what: str, *, who: str = "agent") -> LimitReached:
    """The error of a limit that is reached."""
    return LimitReached(f"The {who} has reached its limit of {most} {what}.")
