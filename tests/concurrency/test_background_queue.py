"""The queue between a call and whoever is slow."""

import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegboard.concurrency.background_queue import BackgroundQueue

ROOT = Path(__file__).parents[2]


class Slow:
    """Takes items only while the door is open."""

    def __init__(self) -> None:
        self.door = threading.Event()
        self.busy = threading.Event()
        self.taken: list[int] = []

    def __call__(self, items: list[int]) -> None:
        self.busy.set()
        self.door.wait(60)
        self.taken += items


@pytest.fixture
def slow() -> Iterator[Slow]:
    consumer = Slow()
    yield consumer
    consumer.door.set()


def test_items_arrive_in_order_and_in_batches() -> None:
    batches: list[list[int]] = []
    outbox: BackgroundQueue[int] = BackgroundQueue(batches.append, name="test", max_waiting=1000)

    for number in range(500):
        outbox.post(number)
    outbox.close(60)

    assert [number for batch in batches for number in batch] == list(range(500))
    assert len(batches) < 20
    assert outbox.dropped == 0


def test_a_full_queue_drops_at_once_and_counts(slow: Slow) -> None:
    outbox: BackgroundQueue[int] = BackgroundQueue(slow, name="test", max_waiting=3)
    outbox.post(0)
    assert slow.busy.wait(60)

    for number in range(1, 101):
        outbox.post(number)  # if this waited for the reader, it would do so for ever
    slow.door.set()
    outbox.close(60)

    assert slow.taken == [0, 1, 2, 3]
    assert outbox.dropped == 97


def test_flush_waits_for_what_was_posted_and_not_longer_than_told(slow: Slow) -> None:
    outbox: BackgroundQueue[int] = BackgroundQueue(slow, name="test", max_waiting=10)
    outbox.post(1)

    early = outbox.flush(0.1)
    slow.door.set()
    late = outbox.flush(60)
    outbox.close(60)

    assert (early, late) == (False, True)
    assert slow.taken == [1]


def test_flush_of_nothing_returns_at_once() -> None:
    outbox: BackgroundQueue[int] = BackgroundQueue(lambda _: None, name="test", max_waiting=10)

    assert outbox.flush(60)
    outbox.close()


def test_close_gives_up_on_a_reader_that_never_reads(slow: Slow) -> None:
    outbox: BackgroundQueue[int] = BackgroundQueue(slow, name="test", max_waiting=10)
    outbox.post(1)
    assert slow.busy.wait(60)
    outbox.post(2)

    outbox.close(0.1)

    assert not slow.taken
    assert outbox.dropped == 1


def test_what_comes_after_the_end_is_counted() -> None:
    outbox: BackgroundQueue[int] = BackgroundQueue(lambda _: None, name="test", max_waiting=10)
    outbox.close()
    outbox.close()

    outbox.post(1)

    assert outbox.dropped == 1


def test_a_batch_that_fails_is_counted_and_the_next_gets_through(
    caplog: pytest.LogCaptureFixture,
) -> None:
    taken: list[int] = []

    def consume(items: list[int]) -> None:
        if 1 in items:
            raise LookupError("no reader")
        taken.extend(items)

    outbox: BackgroundQueue[int] = BackgroundQueue(consume, name="test", max_waiting=10)
    with caplog.at_level(logging.ERROR, "pegboard.events"):
        outbox.post(1)
        assert outbox.flush(60)
        outbox.post(2)
        outbox.close(60)

    assert taken == [2]
    assert outbox.dropped == 1
    assert "1 events were lost" in caplog.text


def test_an_idle_outbox_wakes_its_reader_with_nothing() -> None:
    woken = threading.Event()

    def consume(items: list[int]) -> None:
        if not items:
            woken.set()

    outbox: BackgroundQueue[int] = BackgroundQueue(consume, name="test", max_waiting=10, idle=0.01)

    assert woken.wait(60)
    outbox.close()


@pytest.mark.timeout(60)
def test_what_waits_is_handled_when_the_program_ends() -> None:
    program = """
from pegboard.concurrency.background_queue import BackgroundQueue
outbox = BackgroundQueue(lambda items: print(items, flush=True), name="test", max_waiting=10)
outbox.post("last words")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        cwd=ROOT,
        timeout=50,
    )

    assert done.stdout == "['last words']\n"
    assert done.stderr == ""
