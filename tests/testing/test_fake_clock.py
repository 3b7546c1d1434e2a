from datetime import UTC, datetime, timedelta, timezone

import pytest

from pegboard.core.ports.clock import Clock
from pegboard.testing import FakeClock


def test_a_fake_clock_is_a_clock(clock: FakeClock) -> None:
    port: Clock = clock

    assert port.now().tzinfo is UTC


def test_time_stands_still_until_it_is_advanced(clock: FakeClock) -> None:
    before = (clock.time(), clock.monotonic())

    assert (clock.time(), clock.monotonic()) == before


def test_advancing_moves_both_clocks_by_the_same_amount(clock: FakeClock) -> None:
    before = (clock.time(), clock.monotonic())

    clock.advance(90)

    assert (clock.time() - before[0], clock.monotonic() - before[1]) == (90, 90)


def test_time_does_not_pass_backwards(clock: FakeClock) -> None:
    with pytest.raises(ValueError, match="jump"):
        clock.advance(-1)


def test_a_jump_moves_only_the_wall_clock(clock: FakeClock) -> None:
    before = (clock.time(), clock.monotonic())

    clock.jump(-3600)

    assert (clock.time() - before[0], clock.monotonic() - before[1]) == (-3600, 0)


def test_now_is_given_in_the_zone_that_was_asked_for() -> None:
    clock = FakeClock(start=0)

    now = clock.now(timezone(timedelta(hours=2)))

    assert now.isoformat() == "1970-01-01T02:00:00+02:00"
    assert now == datetime(1970, 1, 1, tzinfo=UTC)
