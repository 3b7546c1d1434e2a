"""Values as JSON text and back, whatever text is in them."""

import json
from typing import Any, TypeVar

import msgspec

from pegboard.errors import InvalidRequest

Value = TypeVar("Value")


def dump(value: Any) -> str:
    """JSON text that `load` reads.

    Raises:
        InvalidRequest: There is something in it that is no JSON.
    """
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # half of a surrogate pair, as broken JSON from elsewhere has it
        return json.dumps(msgspec.to_builtins(value, str_keys=True), separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"this cannot be stored, since it is no JSON: {error}") from error


def load(text: str, type: type[Value]) -> Value:  # noqa: A002 - msgspec's own name for it
    """The value that `dump` wrote."""
    try:
        return msgspec.json.decode(text, type=type)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(text), type, str_keys=True)


def copied(value: Value) -> Value:
    """The value as a database would give it back: it shares nothing with the one that was given.

    Raises:
        InvalidRequest: There is something in it that is no JSON.
    """
    return load(dump(value), type(value))
