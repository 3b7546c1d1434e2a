"""The day from which on nobody should rely on a version."""

from datetime import UTC, date, datetime, time, timedelta

from pegboard.errors import InvalidRequest


def check_day(day: date | None, now: float) -> None:
    """Refuse a day that is over everywhere on Earth: no day at all says that better.

    Args:
        day: None for no day.
        now: Unix seconds.

    Raises:
        InvalidRequest: It is over.
    """
    if day is not None and day < datetime.fromtimestamp(now, UTC).date() - timedelta(days=1):
        raise InvalidRequest(
            f"on: {day} is past; name a day to come, or leave 'on' out for a version that nobody "
            "should rely on from now on"
        )


def midnight(day: date | None) -> float | None:
    """Its beginning in UTC, as Unix seconds."""
    return None if day is None else datetime.combine(day, time(), UTC).timestamp()
