"""A quota with its counter, its window, and what a caller is told once it is used up."""

from datetime import UTC, datetime, timedelta

from msgspec import Struct

from pegboard.core.ports.accounts.quota_store import Quota, Window
from pegboard.errors import QuotaExceeded


class QuotaCounter:
    """What was used in one window: what is stored of it, and what is not yet."""

    __slots__ = ("ends_at", "id", "stored", "touched", "waiting")

    def __init__(self, id_: str, ends_at: float) -> None:
        """Nothing was used yet."""
        self.id = id_
        self.ends_at = ends_at
        self.stored = 0.0
        self.waiting = 0.0
        self.touched = True

    @property
    def used(self) -> float:
        """All that was used, also what is not stored yet."""
        return self.stored + self.waiting


class QuotaCheck(Struct, frozen=True):
    """A counter of a caller, and the strictest quota of it.

    Attributes:
        near: From here on a call needs more than counting in memory.
    """

    counter: QuotaCounter
    limit: float
    near: float
    quota: Quota
    is_default: bool


def refuse_used_up(checks: tuple[QuotaCheck, ...], now: float) -> None:
    """Refuse where nothing is left of a quota.

    Raises:
        QuotaExceeded: Of the first such one.
    """
    for check in checks:
        if check.counter.used >= check.limit:
            raise build_refusal(check, now)


def build_refusal(check: QuotaCheck, now: float) -> QuotaExceeded:
    """The refusal by a quota, with what was used of it and when it begins anew."""
    used, ends_at = check.counter.used, check.counter.ends_at
    unit = "%.0f" if check.quota.measure == "calls" else "$%.2f"
    until = f"{datetime.fromtimestamp(ends_at, UTC):%Y-%m-%d %H:%M} UTC"
    message = (
        f"{describe_quota(check.quota)} is used up: {unit % used} used. It begins anew at {until}."
    )
    error = QuotaExceeded(message, limit=check.limit, used=used, resets_at=ends_at)
    error.retry_after = max(0.0, ends_at - now)
    return error


def describe_quota(quota: Quota) -> str:
    """A quota as the subject of a sentence for its caller."""
    whose = "this account" if quota.person else f"the organisation '{quota.organisation}'"
    if quota.person and quota.organisation:
        whose = f"{whose} in '{quota.organisation}'"
    limit = quota.limit or 0.0
    amount = f"{limit:.0f} calls" if quota.measure == "calls" else f"${limit:.2f} of model cost"
    return f"The quota of {amount} a {quota.window} of {whose}"


def read_window(now: float, window: Window) -> tuple[str, float]:
    """The name of the window that holds at a time, and when it ends."""
    day = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if window == "day":
        return f"{day:%Y-%m-%d}", (day + timedelta(days=1)).timestamp()
    after = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    return f"{day:%Y-%m}", after.timestamp()
