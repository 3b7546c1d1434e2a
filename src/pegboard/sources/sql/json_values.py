"""Converts values of a database to JSON.

| in the database | in JSON |
|---|---|
| NULL, boolean, text | null, boolean, string |
| integer | number; string beyond 2^53, where readers of JSON begin to round |
| numeric, decimal | number, the nearest double (15 digits hold); string beyond 2^53 |
| real, double | number; `"NaN"`, `"Infinity"`, `"-Infinity"` as strings |
| date, time, timestamp, interval | string, ISO 8601 |
| bytes | `{"base64": "..."}` |
| json, array | as they are, by the same rules inside |
| anything else | the database's own text |
"""

import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, cast

Json = Any

_EXACT = 2**53


def to_json(value: Any) -> Json:
    """Convert a driver's value to JSON."""
    match value:
        case None | bool() | str():
            return value
        case int() | float() | Decimal():
            return _number(value)
        case Mapping():
            items = cast("Mapping[Any, Any]", value).items()
            return {str(key): to_json(item) for key, item in items}
        case list() | tuple():
            return [to_json(item) for item in cast("Sequence[Any]", value)]
        case _:
            return _other(value)


def _number(value: float | Decimal) -> Json:
    if isinstance(value, Decimal):
        return _decimal(value)
    if isinstance(value, int):
        return value if -_EXACT < value < _EXACT else str(value)
    return value if math.isfinite(value) else _not_finite(value)


def _other(value: Any) -> Json:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return _duration(value)
    if isinstance(value, bytes | bytearray):
        return {"base64": b64encode(value).decode("ascii")}
    return str(value)


def size_of(value: Json) -> int:
    """Estimate the bytes of a JSON value without encoding it."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass")) + 2
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return 2 + sum(len(key) + 4 + size_of(item) for key, item in items)
    if isinstance(value, list):
        return 2 + sum(size_of(item) + 1 for item in cast("list[Any]", value))
    return 8


def column_names(names: Sequence[str]) -> list[str]:
    """Return a unique key for each column of a row: repeated names get `_2`, `_3`, ..."""
    keys: list[str] = []
    taken = set(names)
    for name in names:
        key, number = name, 1
        while key in keys or (number > 1 and key in taken):
            number += 1
            key = f"{name}_{number}"
        keys.append(key)
    return keys


def _decimal(value: Decimal) -> Json:
    if not value.is_finite():
        return _not_finite(math.nan if value.is_nan() else float(value))
    if abs(value) >= _EXACT:
        return str(value)
    return int(value) if value == value.to_integral_value() else float(value)


def _duration(value: timedelta) -> str:
    """Write a duration as ISO 8601, in days and seconds."""
    sign, value = ("-", -value) if value < timedelta(0) else ("", value)
    fraction = f".{value.microseconds:06d}".rstrip("0") if value.microseconds else ""
    return f"{sign}P{value.days}DT{value.seconds}{fraction}S"


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
