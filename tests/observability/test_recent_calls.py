"""The latest calls in memory."""

from tests.observability.made import a_record

from pegboard.core.event import SourceChanged
from pegboard.observability import RecentCalls


def test_the_latest_records_are_kept_as_they_are() -> None:
    recent = RecentCalls(maxlen=2)
    records = [a_record(f"c{number}", arguments={"n": number}) for number in range(3)]

    for record in records:
        recent.on_event(record)

    assert recent.calls == tuple(records[1:])


def test_other_events_are_not_calls() -> None:
    recent = RecentCalls()

    recent.on_event(SourceChanged(source="shop", status="ready"))

    assert recent.calls == ()


def test_what_is_cleared_is_forgotten() -> None:
    recent = RecentCalls()
    recent.on_event(a_record())

    recent.clear()

    assert recent.calls == ()
