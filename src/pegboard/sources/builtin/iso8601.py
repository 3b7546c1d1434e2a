"""Parses and formats times, time zones and durations of ISO 8601."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pegboard.core.text.suggestions import nearest_names
from pegboard.errors import InvalidRequest

_DURATION = re.compile(
    r"(?P<sign>[+-])?P(?=.)(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?"
    r"(?:(?P<days>\d+)D)?(?:T(?=.)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?"
    r"(?:(?P<seconds>\d+(?:[.,]\d+)?)S)?)?"
)
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
_MAX_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """An ISO 8601 duration.

    Attributes:
        months: Years and months: their length depends on the calendar.
        days: Weeks and days: they keep the wall-clock time across changes to summer time.
        elapsed: Hours, minutes and seconds: exact.
    """

    months: int
    days: int
    elapsed: timedelta


def parse_zone(name: str) -> tzinfo:
    """Parse an IANA time zone name or an offset such as `+02:00`.

    Raises:
        InvalidRequest: It is unknown; the message suggests the nearest name.
    """
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        hours, minutes = int(offset[2]), int(offset[3] or 0)
        if hours < 24 and minutes < 60:
            delta = timedelta(hours=hours, minutes=minutes)
            return timezone(-delta if offset[1] == "-" else delta)
    if name.upper() in ("UTC", "Z"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InvalidRequest(f"'{name}' is not a time zone.{_nearest(name)}") from error


def parse_moment(text: str, zone: tzinfo) -> datetime:
    """Parse an ISO 8601 time; one without an offset is in `zone`, a date is its midnight.

    Raises:
        InvalidRequest: The text is not a date or time.
    """
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidRequest(
            f"'{text}' is not an ISO 8601 date or time; write it as '2026-03-29T14:30:00+02:00', "
            "'2026-03-29T14:30' or '2026-03-29'."
        ) from error
    return found.replace(tzinfo=zone) if found.tzinfo is None else found


def parse_duration(text: str) -> Duration:
    """Parse an ISO 8601 duration, with an optional sign before the `P`.

    Raises:
        InvalidRequest: The text is not a duration.
    """
    found = _DURATION.fullmatch(text.strip().upper())
    if found is None or any(len(part or "") > _MAX_DIGITS for part in found.groups()):
        raise InvalidRequest(
            f"'{text}' is not an ISO 8601 duration; write it as 'P1Y2M10D', 'PT36H' or '-P7D'."
        )
    sign = -1 if found["sign"] == "-" else 1

    def number(unit: str) -> int:
        return int(found[unit] or 0)

    try:
        elapsed = timedelta(
            hours=number("hours"),
            minutes=number("minutes"),
            seconds=float((found["seconds"] or "0").replace(",", ".")),
        )
    except OverflowError as error:
        raise InvalidRequest(f"'{text}' is too long.") from error
    return Duration(
        months=sign * (12 * number("years") + number("months")),
        days=sign * (7 * number("weeks") + number("days")),
        elapsed=sign * elapsed,
    )


def add_duration(moment: datetime, duration: Duration) -> datetime:
    """Return the time after (or before) a duration, in the same zone.

    Months and days follow the calendar, and the day of the month is limited to the length of the
    month. A time that a change of clocks skips moves on with the clock. Hours are exact.

    Raises:
        InvalidRequest: The result is outside the years 1 to 9999.
    """
    try:
        month = moment.year * 12 + moment.month - 1 + duration.months
        first = date(month // 12, month % 12 + 1, 1)
        following = date(first.year + first.month // 12, first.month % 12 + 1, 1)
        day = min(moment.day, (following - timedelta(days=1)).day)
        wall = datetime.combine(first.replace(day=day), moment.timetz())
        wall += timedelta(days=duration.days)
        return (wall.astimezone(UTC) + duration.elapsed).astimezone(moment.tzinfo)
    except (ValueError, OverflowError) as error:
        raise InvalidRequest("The result is outside the years 1 to 9999.") from error


def format_duration(delta: timedelta) -> str:
    """Format an exact duration as ISO 8601 days, hours, minutes and seconds."""
    sign = "-" if delta < timedelta() else ""
    delta = abs(delta)
    hours, rest = divmod(delta.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    fraction = f".{delta.microseconds:06d}".rstrip("0") if delta.microseconds else ""
    time = "".join(
        (
            f"{hours}H" if hours else "",
            f"{minutes}M" if minutes else "",
            f"{seconds}{fraction}S" if seconds or fraction else "",
        )
    )
    days = f"{delta.days}D" if delta.days else ""
    return f"{sign}P{days}{'T' + time if time else ''}" if days or time else "PT0S"


def _nearest(name: str) -> str:
    by_last_part = {zone.rpartition("/")[2].lower(): zone for zone in available_timezones()}
    wanted = name[:60].rpartition("/")[2].replace(" ", "_").lower()
    found = nearest_names(wanted, by_last_part, most=1)
    hint = f" Did you mean '{by_last_part[found[0]]}'?" if found else ""
    return f"{hint} Use an IANA name such as 'Europe/Berlin', or an offset such as '+02:00'."
