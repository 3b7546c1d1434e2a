"""The lock of a storage in memory."""

import threading

import pytest

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.errors import Unavailable


def test_one_at_a_time_is_inside() -> None:
    gate, inside, most = ClosableLock(), 0, 0

    def enter() -> None:
        nonlocal inside, most
        for _ in range(2_000):
            with gate:
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (inside, most) == (0, 1)


def test_nobody_gets_in_after_the_end_and_nobody_waits() -> None:
    gate = ClosableLock()
    gate.close()

    for _ in range(2):
        with pytest.raises(Unavailable, match="closed"), gate:
            pytest.fail("the gate let somebody in")
