"""The machine's clocks keep the promises of the port."""

import time
from datetime import UTC, timedelta, timezone

from pegboard.core.ports.clock import SystemClock


def test_the_wall_clock_is_aware_and_agrees_with_unix_time() -> None:
    clock = SystemClock()

    before, now, after = clock.time(), clock.now(), clock.time()

    assert now.tzinfo is UTC
    assert before - 0.001 <= now.timestamp() <= after + 0.001


def test_the_wall_clock_is_given_in_the_zone_that_was_asked_for() -> None:
    zone = timezone(timedelta(hours=-5))

    assert SystemClock().now(zone).utcoffset() == timedelta(hours=-5)


def test_the_monotonic_clock_is_the_one_that_deadlines_are_in() -> None:
    before = time.monotonic()

    assert before <= SystemClock().monotonic() <= time.monotonic()
