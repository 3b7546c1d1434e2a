"""Listeners are told; what they do to themselves reaches nobody."""

import asyncio
import logging

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
