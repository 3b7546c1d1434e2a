"""Converts the values of code to JSON data; others are refused with their path."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, cast

_MAX_DEPTH = 200
_MAX_PATH = 1_000
_MAX_INTEGER = 10**4000  # JSON readers and writers accept integers below it


class _NotJson(Exception):
    """What is not JSON; the steps that lead there are added on the way out, the last one first."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.steps: list[str] = []

    def at(self, name: str) -> str:
        path = name + "".join(reversed(self.steps))
        return f"{path if len(path) <= _MAX_PATH else f'{path[:100]}...'}: {self.args[0]}"


class _TooLarge(Exception):
    """The value has more JSON than it may."""


def json_value(value: Any, *, most: int, name: str = "result") -> tuple[Any, str]:
    """Convert a value to JSON data; the second item says what is wrong with it.

    Tuples and sets become lists; keys that are numbers, booleans or None become strings, as in
    `json.dumps`. What the value refers to twice counts twice, as in JSON.

    Args:
        value: What code returned.
        most: The bytes of JSON that it may have; a much larger one costs no more than that.
        name: What the value is, for the message.
    """
    try:
        converted = _Conversion(most).convert(value, 0)
    except _NotJson as error:
        return None, error.at(name)
    except _TooLarge:
        return None, f"{name}: more than {most} bytes of JSON"
    return converted, ""


class _Conversion:
    """One conversion, with the bytes of JSON that are left for it."""

    def __init__(self, most: int) -> None:
        self._left = most

    def convert(self, value: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise _NotJson(f"nested more than {_MAX_DEPTH} deep")
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._items(cast("list[Any]", value), depth + 1)
        if isinstance(value, dict):
            return self._pairs(cast("dict[Any, Any]", value), depth + 1)
        if value is None or isinstance(value, (bool, str, int, float)):
            _check_number(value)
            self._spend(_size(value))
            return value
        raise _NotJson(f"{_kind(value)} is not JSON; return strings, numbers, lists or dicts")

    def _items(self, values: Iterable[Any], depth: int) -> list[Any]:
        self._spend(2)
        made: list[Any] = []
        try:
            for item in values:
                self._spend(1)
                made.append(self.convert(item, depth))
        except _NotJson as error:
            error.steps.append(f"[{len(made)}]")
            raise
        return made

    def _pairs(self, values: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        self._spend(2)
        made: dict[str, Any] = {}
        for key, item in values.items():
            name = _key(key)
            self._spend(len(name) + 4)
            try:
                made[name] = self.convert(item, depth)
            except _NotJson as error:
                error.steps.append(f"[{key!r}]")
                raise
        return made

    def _spend(self, size: int) -> None:
        """Count what the value has at least in JSON."""
        self._left -= size
        if self._left < 0:
            raise _TooLarge


def _check_number(value: object) -> None:
    if isinstance(value, int) and abs(value) >= _MAX_INTEGER:
        raise _NotJson("an integer of more than 4000 digits; make it a string")
    if isinstance(value, float) and not math.isfinite(value):
        raise _NotJson(f"{value} is not JSON")


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value) + 2
    if isinstance(value, int):
        return value.bit_length() * 3 // 10
    return 1


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return (
            {None: "null", True: "true", False: "false"}.get(key, str(key))
            if key is None or isinstance(key, bool)
            else str(key)
        )
    raise _NotJson(f"a key is {_kind(key)}; JSON keys are strings")


def _kind(value: Any) -> str:
    name = getattr(value, "name", None)
    kind = type(value).__name__
    return f"'{name}'" if kind.startswith("Monty") and isinstance(name, str) else f"a {kind}"
