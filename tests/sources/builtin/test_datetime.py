from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.iso8601 import add_duration, format_duration, parse_duration
from pegboard.sources.builtin.tools.datetime import datetime_tool
from pegboard.testing import FakeClock


def ask(operation: Any, **arguments: Any) -> Any:
    return datetime_tool(operation, ctx=ToolContext(deps=Services(clock=FakeClock())), **arguments)


def test_now_is_what_the_boards_clock_says() -> None:
    expected = FakeClock().now(UTC)

    found = ask("now", zone="Asia/Tokyo")

    assert datetime.fromisoformat(found["iso"]) == expected
    assert found["iso"].endswith("+09:00")
    assert found["unix"] == expected.timestamp()


def test_a_moment_is_described_whole() -> None:
    assert ask("convert", value="2026-03-29T14:30", zone="Europe/Berlin", to_zone="UTC") == {
        "iso": "2026-03-29T12:30:00+00:00",
        "zone": "UTC",
        "utc": "2026-03-29T12:30:00Z",
        "unix": 1774787400.0,
        "weekday": "Sunday",
        "week": "2026-W13-7",
        "day_of_year": 88,
    }


@pytest.mark.parametrize(
    ("value", "zone", "to_zone", "iso"),
    [
        ("2026-01-15T12:00:00Z", "UTC", "America/New_York", "2026-01-15T07:00:00-05:00"),
        ("2026-07-15T12:00:00Z", "UTC", "America/New_York", "2026-07-15T08:00:00-04:00"),
        ("2026-07-15T12:00+05:30", "Europe/Berlin", "Asia/Kolkata", "2026-07-15T12:00:00+05:30"),
        ("2026-07-15", "Europe/Berlin", "UTC", "2026-07-14T22:00:00+00:00"),
        ("20260715T120000Z", "UTC", "+02:00", "2026-07-15T14:00:00+02:00"),
        ("2026-07-15T12:00Z", "UTC", "UTC-3", "2026-07-15T09:00:00-03:00"),
        ("2026-07-15T12:00Z", "UTC", "+0530", "2026-07-15T17:30:00+05:30"),
        ("2026-W29-3", "UTC", "z", "2026-07-15T00:00:00+00:00"),
    ],
)
def test_a_time_is_converted(value: str, zone: str, to_zone: str, iso: str) -> None:
    assert ask("convert", value=value, zone=zone, to_zone=to_zone)["iso"] == iso


@pytest.mark.parametrize(
    ("value", "duration", "iso"),
    [
        ("2026-01-31T10:00", "P1M", "2026-02-28T10:00:00+01:00"),
        ("2024-01-31", "P1M", "2024-02-29T00:00:00+01:00"),
        ("2024-02-29", "P1Y", "2025-02-28T00:00:00+01:00"),
        ("2026-12-15", "P1M", "2027-01-15T00:00:00+01:00"),
        ("2026-01-15", "-P1M1D", "2025-12-14T00:00:00+01:00"),
        ("2026-03-28T12:00", "P1D", "2026-03-29T12:00:00+02:00"),
        ("2026-03-28T12:00", "PT24H", "2026-03-29T13:00:00+02:00"),
        ("2026-03-28T02:30", "P1D", "2026-03-29T03:30:00+02:00"),
        ("2026-10-24T12:00", "PT24H", "2026-10-25T11:00:00+01:00"),
        ("2026-01-01", "P2W", "2026-01-15T00:00:00+01:00"),
        ("2026-01-01", "PT0.5S", "2026-01-01T00:00:00.500000+01:00"),
        ("2026-01-01", "p1dt1h1m1s", "2026-01-02T01:01:01+01:00"),
    ],
)
def test_a_duration_is_added_on_the_calendar(value: str, duration: str, iso: str) -> None:
    assert ask("add", value=value, duration=duration, zone="Europe/Berlin")["iso"] == iso


@pytest.mark.parametrize(
    ("value", "until", "duration", "seconds", "days"),
    [
        ("2026-01-01", "2026-03-01", "P59D", 5097600.0, 59.0),
        ("2026-03-01", "2026-01-01", "-P59D", -5097600.0, -59.0),
        ("2026-01-01", "2026-01-01", "PT0S", 0.0, 0.0),
        ("2026-01-01T00:00Z", "2026-01-01T02:00+01:00", "PT1H", 3600.0, 0.041667),
        ("2026-01-01", "2026-01-02T03:04:05.5", "P1DT3H4M5.5S", 97445.5, 1.127841),
    ],
)
def test_the_time_between_is_measured(value, until, duration, seconds, days) -> None:
    found = ask("diff", value=value, until=until)

    assert found == {"duration": duration, "seconds": seconds, "days": days}


def test_a_day_on_which_clocks_change_has_its_true_length() -> None:
    found = ask("diff", value="2026-03-28T12:00", until="2026-03-29T12:00", zone="Europe/Berlin")

    assert found["duration"] == "PT23H"


def test_without_a_value_time_counts_from_now() -> None:
    now = FakeClock().now(UTC)

    assert ask("add", duration="PT1H")["unix"] == now.timestamp() + 3600
    assert ask("diff", until=(now + timedelta(days=2)).isoformat())["days"] == 2.0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"operation": "now", "zone": "Europe/Berln"}, "Did you mean 'Europe/Berlin'"),
        ({"operation": "now", "zone": "new york"}, "Did you mean 'America/New_York'"),
        ({"operation": "now", "zone": "../../../etc/passwd"}, "not a time zone"),
        ({"operation": "now", "zone": "+99:00"}, "not a time zone"),
        ({"operation": "now", "zone": ""}, "not a time zone"),
        ({"operation": "now", "value": "2026-01-01"}, "use 'convert'"),
        ({"operation": "convert", "value": "tomorrow", "to_zone": "UTC"}, "not an ISO 8601 date"),
        ({"operation": "convert", "value": "2026-02-30", "to_zone": "UTC"}, "not an ISO 8601 date"),
        ({"operation": "convert", "value": "2026-02-20"}, "needs 'to_zone'"),
        ({"operation": "convert", "to_zone": "UTC"}, "needs 'value'"),
        ({"operation": "add", "value": "2026-01-01"}, "needs 'duration'"),
        ({"operation": "add", "duration": "1 day"}, "not an ISO 8601 duration"),
        ({"operation": "add", "duration": "P"}, "not an ISO 8601 duration"),
        ({"operation": "add", "duration": "P1DT"}, "not an ISO 8601 duration"),
        ({"operation": "add", "duration": "P1H"}, "not an ISO 8601 duration"),
        ({"operation": "add", "duration": "P" + "9" * 50 + "D"}, "not an ISO 8601 duration"),
        ({"operation": "add", "duration": "PT999999999999H"}, "too long"),
        ({"operation": "add", "duration": "P9999Y"}, "years 1 to 9999"),
        ({"operation": "add", "duration": "P999999999999D"}, "years 1 to 9999"),
        ({"operation": "add", "duration": "-P3000Y"}, "years 1 to 9999"),
        ({"operation": "diff"}, "needs 'until'"),
        (
            {"operation": "convert", "value": "0001-01-01", "to_zone": "-12:00"},
            "years 1 to 9999",
        ),
    ],
)
def test_what_cannot_be_answered_says_why(arguments: dict[str, str], reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        ask(**arguments)


@given(delta=st.timedeltas())
def test_a_written_duration_reads_back(delta: timedelta) -> None:
    read = parse_duration(format_duration(delta))

    assert read.months == 0
    assert timedelta(days=read.days) + read.elapsed == delta


@given(
    moment=st.datetimes(timezones=st.just(UTC)),
    delta=st.timedeltas(timedelta(days=-1000), timedelta(days=1000)),
)
def test_exact_durations_add_like_python_does(moment: datetime, delta: timedelta) -> None:
    try:
        expected = moment + delta
    except OverflowError:
        expected = None
    try:
        found = add_duration(moment, parse_duration(format_duration(delta)))
    except InvalidRequest:
        found = None

    assert found == expected or moment.year in (1, 9999)
