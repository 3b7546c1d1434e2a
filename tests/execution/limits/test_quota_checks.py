"""What a quota tells its caller, and when its window ends."""

from datetime import UTC, datetime

import pytest

from pegboard.core.ports.accounts.quota_store import Quota
from pegboard.errors import QuotaExceeded
from pegboard.execution.limits.quota_checks import (
    QuotaCheck,
    QuotaCounter,
    describe_quota,
    read_window,
    refuse_used_up,
)

NOON = datetime(2026, 12, 31, 12, tzinfo=UTC).timestamp()
MIDNIGHT = datetime(2027, 1, 1, tzinfo=UTC).timestamp()


def test_a_day_and_a_month_end_together_with_the_year() -> None:
    assert read_window(NOON, "day") == ("2026-12-31", MIDNIGHT)
    assert read_window(NOON, "month") == ("2026-12", MIDNIGHT)
    assert read_window(MIDNIGHT, "day")[0] == "2027-01-01"


def test_a_refusal_says_what_was_used_and_when_the_quota_begins_anew() -> None:
    quota = Quota(measure="cost", window="day", limit=2.0, person="u1")
    counter = QuotaCounter("u1", MIDNIGHT)
    check = QuotaCheck(counter, 2.0, 2.0, quota, is_default=False)
    counter.stored, counter.waiting = 1.0, 0.5
    refuse_used_up((check,), NOON)
    counter.waiting = 1.25

    with pytest.raises(
        QuotaExceeded, match=r"is used up: \$2\.25 used.*2027-01-01 00:00"
    ) as caught:
        refuse_used_up((check,), NOON)

    assert (caught.value.limit, caught.value.used) == (2.0, 2.25)
    assert caught.value.retry_after == MIDNIGHT - NOON


def test_a_quota_names_whose_it_is() -> None:
    quota = Quota(measure="cost", window="month", limit=0.5, person="u_ada", organisation="acme")

    assert describe_quota(quota) == (
        "The quota of $0.50 of model cost a month of this account in 'acme'"
    )
