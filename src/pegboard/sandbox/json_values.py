"""Converts the values of code to JSON data; others are refused with their path."""

import math
from typing import Any, cast

_MAX_DEPTH = 200
_MAX_INTEGER = 10**4000  # JSON readers and writers accept integers below it


class _NotJson(Exception):
    """What is not JSON, and where."""


def json_value(value: Any) -> tuple[Any, str]:
    """Convert a value to JSON data; the second item says what is wrong with it.

    Tuples and sets become lists; keys that are numbers, booleans or None become strings, as in
    `json.dumps`.
    """
    try:
        return _json(value, "result", 0), ""
    except _NotJson as error:
        return None, str(error)


def _json(value: Any, path: str, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise _NotJson(f"{path[:100]}...: nested more than {_MAX_DEPTH} deep")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if abs(value) >= _MAX_INTEGER:
            raise _NotJson(f"{path}: an integer of more than 4000 digits; make it a string")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _NotJson(f"{path}: {value} is not JSON")
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        items = cast("list[Any]", value)
        return [_json(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(items)]
    if isinstance(value, dict):
        pairs = cast("dict[Any, Any]", value).items()
        return {_key(key, path): _json(item, f"{path}[{key!r}]", depth + 1) for key, item in pairs}
    raise _NotJson(f"{path}: {_kind(value)} is not JSON; return strings, numbers, lists or dicts")


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return (
            {None: "null", True: "true", False: "false"}.get(key, str(key))
            if key is None or isinstance(key, bool)
            else str(key)
        )
    raise _NotJson(f"{path}: a key is {_kind(key)}; JSON keys are strings")


def _kind(value: Any) -> str:
    name = getattr(value, "name", None)
    kind = type(value).__name__
    return f"'{name}'" if kind.startswith("Monty") and isinstance(name, str) else f"a {kind}"
