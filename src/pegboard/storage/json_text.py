"""Converts values to JSON text and back."""

import json
from typing import Any, TypeVar

import msgspec

from pegboard.errors import InvalidRequest

Value = TypeVar("Value")


def dump(value: Any) -> str:
    """JSON text that `load` reads.

    Raises:
        InvalidRequest: It contains something that is not JSON.
    """
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # half of a surrogate pair, as broken JSON from elsewhere has it
        return json.dumps(msgspec.to_builtins(value, str_keys=True), separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"the value is not JSON and cannot be stored: {error}") from error


def load(text: str, type: type[Value]) -> Value:  # noqa: A002 - msgspec's own name for it
    """The value that `dump` wrote."""
    try:
        return msgspec.json.decode(text, type=type)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(text), type, str_keys=True)


def copy_json(value: Value) -> Value:
    """Copy a value as a database would return it, sharing nothing with the original.

    Raises:
        InvalidRequest: It contains something that is not JSON.
    """
    return load(dump(value), type(value))
