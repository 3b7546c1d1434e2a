"""Listeners are told; what they do to themselves reaches nobody."""

import asyncio
import logging
import threading
import time

import pytest
from tests.execution.made import Heard

from pegboard.core.event import Event, SourceChanged
from pegboard.execution.emitter import Emitter

EVENT = SourceChanged(source="shop", status="ok")


class Breaks:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    def on_event(self, event: Event) -> None:
        raise self._error


def test_every_listener_hears_every_event() -> None:
    first, second = Heard(), Heard()
    emitter = Emitter([first])
    emitter.emit(EVENT)
    emitter.add(second)
    emitter.emit(EVENT)

    assert (len(first.events), len(second.events)) == (2, 1)


def test_a_listener_that_was_removed_hears_no_more() -> None:
    first, second = Heard(), Heard()
    emitter = Emitter([first])
    emitter.add(second)
    emitter.remove(first)
    emitter.emit(EVENT)
    emitter.remove(second)

    assert (len(first.events), len(second.events)) == (0, 1)
    assert not emitter.has_listeners


class Slow:
    """Takes thirty milliseconds an event."""

    def __init__(self) -> None:
        self.threads: list[int] = []

    def on_event(self, event: Event) -> None:
        self.threads.append(threading.get_ident())
        time.sleep(0.03)


def test_a_listener_that_is_slow_in_a_row_goes_on_behind_the_calls(
    caplog: pytest.LogCaptureFixture,
) -> None:
    slow, quick = Slow(), Heard()
    emitter = Emitter(guests=[slow, quick])
    for _ in range(20):
        emitter.emit(EVENT)
    here = slow.threads.count(threading.get_ident())
    emitter.close()

    assert (here, len(slow.threads), len(quick.events)) == (4, 20, 20)
    assert "listener Slow takes more than 20 ms" in caplog.text
    assert emitter.dropped == 0


@pytest.mark.parametrize(
    "error", [ValueError("broken"), asyncio.CancelledError()], ids=["error", "cancelled"]
)
def test_a_listener_that_raises_is_counted_and_logged_and_stops_nobody(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    heard = Heard()
    emitter = Emitter([Breaks(error), heard])

    with caplog.at_level(logging.ERROR, logger="pegboard.events"):
        emitter.emit(EVENT)
        emitter.emit(EVENT)

    assert emitter.failures == 2
    assert len(heard.events) == 2
    said = [item.getMessage() for item in caplog.records if item.name == "pegboard.events"]
    assert said == ["events: listener Breaks failed"] * 2


def test_whether_anybody_listens_is_known() -> None:
    emitter = Emitter()
    before = emitter.has_listeners
    emitter.add(Heard())

    assert (before, emitter.has_listeners) == (False, True)
