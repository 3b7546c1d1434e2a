"""A breaker: closed, open, half open with one probe, and never stuck in between."""

import threading

import pytest

from pegboard.errors import BreakerOpen
from pegboard.execution.limits.breakers import Breaker, Breakers
from pegboard.testing import FakeClock


@pytest.fixture
def breaker(clock: FakeClock) -> Breaker:
    return Breaker("shop", threshold=3, recovery=5, longest=15, monotonic=clock.monotonic)


def fail(breaker: Breaker, *, times: int = 3) -> None:
    for _ in range(times):
        breaker.record_failure(probe=breaker.enter())


def test_it_is_closed_until_enough_failures_in_a_row(breaker: Breaker) -> None:
    fail(breaker, times=2)
    breaker.record_success()
    fail(breaker, times=2)

    assert breaker.state == "closed"
    assert breaker.enter() is False


def test_it_opens_and_says_when_to_come_back(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker)
    clock.advance(2)

    with pytest.raises(BreakerOpen) as caught:
        breaker.enter()

    assert breaker.state == "open"
    assert caught.value.retry_after == 3
    assert caught.value.nothing_done
    assert str(caught.value) == "'shop' failed 3 times in a row and is not called now."


def test_one_probe_is_let_through_when_it_is_time(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker)
    clock.advance(5)

    assert breaker.state == "half_open"
    assert breaker.enter() is True
    with pytest.raises(BreakerOpen) as caught:
        breaker.enter()
    assert caught.value.retry_after == 0.1


def test_a_probe_that_succeeds_closes_it(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker)
    clock.advance(5)
    breaker.enter()
    breaker.record_success()

    assert breaker.state == "closed"
    assert [breaker.enter() for _ in range(3)] == [False, False, False]


@pytest.mark.parametrize(("probes", "wait"), [(1, 10), (2, 15), (5, 15)])
def test_each_probe_that_fails_doubles_the_wait_up_to_the_longest(
    breaker: Breaker, clock: FakeClock, probes: int, wait: float
) -> None:
    fail(breaker)
    for _ in range(probes):
        clock.advance(15)
        breaker.record_failure(probe=breaker.enter())

    with pytest.raises(BreakerOpen) as caught:
        breaker.enter()

    assert caught.value.retry_after == wait


def test_after_closing_the_wait_starts_anew(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker)
    clock.advance(5)
    breaker.record_failure(probe=breaker.enter())
    clock.advance(10)
    breaker.enter()
    breaker.record_success()
    fail(breaker)

    with pytest.raises(BreakerOpen) as caught:
        breaker.enter()

    assert caught.value.retry_after == 5


def test_a_probe_that_was_cancelled_lets_the_next_one_through(
    breaker: Breaker, clock: FakeClock
) -> None:
    fail(breaker)
    clock.advance(5)
    breaker.release_probe(probe=breaker.enter())

    assert breaker.enter() is True


def test_a_call_that_gave_up_while_it_is_closed_changes_nothing(breaker: Breaker) -> None:
    breaker.release_probe(probe=breaker.enter())

    assert breaker.state == "closed"


def test_a_late_answer_of_an_ordinary_call_closes_it(breaker: Breaker) -> None:
    breaker.enter()
    fail(breaker)

    breaker.record_success()

    assert breaker.state == "closed"


def test_a_late_failure_of_an_ordinary_call_does_not_free_the_probes_place(
    breaker: Breaker, clock: FakeClock
) -> None:
    fail(breaker)
    clock.advance(5)
    breaker.enter()
    breaker.record_failure(probe=False)
    clock.advance(5)

    with pytest.raises(BreakerOpen):
        breaker.enter()


def test_of_many_threads_one_is_the_probe(breaker: Breaker, clock: FakeClock) -> None:
    fail(breaker)
    clock.advance(5)
    probes: list[bool] = []
    together = threading.Barrier(8)

    def enter() -> None:
        together.wait()
        try:
            probes.append(breaker.enter())
        except BreakerOpen:
            probes.append(False)

    threads = [threading.Thread(target=enter) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(probes) == [False] * 7 + [True]


def test_only_a_source_that_was_given_one_has_a_breaker(breaker: Breaker) -> None:
    breakers = Breakers()
    breakers.add("shop", breaker)

    assert breakers.get("shop") is breaker
    assert breakers.get("crm") is None
