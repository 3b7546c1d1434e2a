"""`datetime`: current time, time zones, durations and differences."""

from datetime import UTC, datetime, tzinfo
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.iso8601 import (
    add_duration,
    format_duration,
    parse_duration,
    parse_moment,
    parse_zone,
)
from pegboard.sources.builtin.service_access import services_of
from pegboard.tools import tool

Operation = Literal["now", "convert", "add", "diff"]
ShortText = Annotated[str, Field(max_length=100)]


class Moment(TypedDict):
    """A point in time."""

    iso: str
    zone: str
    utc: str
    unix: float
    weekday: str
    week: str
    day_of_year: int


class Difference(TypedDict):
    """How far two points in time are apart; negative when the second is earlier."""

    duration: str
    seconds: float
    days: float


@tool(
    name="datetime",
    effect="read",
    category="general",
    inline=True,
    tags=("time", "date", "timezone", "calendar"),
)
def datetime_tool(
    operation: Operation,
    ctx: ToolContext[Services],
    *,
    value: ShortText | None = None,
    until: ShortText | None = None,
    duration: ShortText | None = None,
    zone: ShortText = "UTC",
    to_zone: ShortText | None = None,
) -> Moment | Difference:
    """Tell the time, convert between time zones, add durations, and measure time between dates.

    Operations:
    now: the current time in `zone`.
    convert: `value` in `to_zone`.
    add: `value` (default: now) plus `duration`. Months and days follow the calendar (31 January
    plus one month is the last of February), hours are exact across changes of summer time.
    diff: the time from `value` (default: now) to `until`.

    Args:
        operation: What to do.
        ctx: Has the clock.
        value: An ISO 8601 date or time such as "2026-03-29T14:30:00+02:00" or "2026-03-29".
        until: For diff: the second date or time, ISO 8601.
        duration: For add: an ISO 8601 duration such as "P1Y2M10D", "PT36H", or "-P7D" to go back.
        zone: IANA time zone ("Europe/Berlin") or offset ("+02:00") of times that do not say their
            own; also the zone of the result when `to_zone` is not given.
        to_zone: The time zone of the result.
    """
    own_zone = parse_zone(zone)
    shown_zone = parse_zone(to_zone) if to_zone else own_zone
    start = parse_moment(value, own_zone) if value else services_of(ctx).clock.now(UTC)
    if operation == "diff":
        return _difference(start, parse_moment(_require("until", until), own_zone))
    if operation == "convert":
        _require("value", value)
        _require("to_zone", to_zone)
    if operation == "add":
        start = add_duration(_in(start, own_zone), parse_duration(_require("duration", duration)))
    if operation == "now" and value:
        raise InvalidRequest("'now' takes no 'value'; to convert a time, use 'convert'.")
    return _moment(_in(start, shown_zone))


def _require(name: str, value: str | None) -> str:
    if not value:
        raise InvalidRequest(f"This operation needs '{name}'.")
    return value


def _in(moment: datetime, zone: tzinfo) -> datetime:
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError) as error:
        raise InvalidRequest("The result is outside the years 1 to 9999.") from error


def _difference(start: datetime, end: datetime) -> Difference:
    # In UTC, because two times in one zone subtract by the wall clock.
    delta = _in(end, UTC) - _in(start, UTC)
    return Difference(
        duration=format_duration(delta),
        seconds=delta.total_seconds(),
        days=round(delta.total_seconds() / 86_400, 6),
    )


def _moment(moment: datetime) -> Moment:
    year, week, day = moment.isocalendar()
    return Moment(
        iso=moment.isoformat(),
        zone=str(moment.tzinfo),
        utc=_in(moment, UTC).isoformat().replace("+00:00", "Z"),
        unix=moment.timestamp(),
        weekday=moment.strftime("%A"),
        week=f"{year}-W{week:02d}-{day}",
        day_of_year=moment.timetuple().tm_yday,
    )
