"""The day from which on nobody should rely on a version."""

from datetime import UTC, date, datetime, time, timedelta


def note_on(day: date | None, now: float) -> str:
    """What is said of a day that is over everywhere on Earth; empty for any other.

    It is taken: who says late that nobody should rely on a version may know since when.

    Args:
        day: None for no day.
        now: Unix seconds.
    """
    if day is None or day >= datetime.fromtimestamp(now, UTC).date() - timedelta(days=1):
        return ""
    return f"{day} is past: nobody should rely on this version any more."


def midnight(day: date | None) -> float | None:
    """Its beginning in UTC, as Unix seconds."""
    return None if day is None else datetime.combine(day, time(), UTC).timestamp()
