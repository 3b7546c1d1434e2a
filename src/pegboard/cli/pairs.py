"""Pairs on the command line: `--arg key=text`, `--param key:=json`."""

import json
from collections.abc import Sequence
from typing import Any

from pegboard.errors import InvalidRequest


def read_pairs(pairs: Sequence[str], *, option: str) -> dict[str, Any]:
    """Read `key=text` and `key:=json` pairs as one object.

    Args:
        pairs: The values of the option.
        option: Its name, for messages.

    Raises:
        InvalidRequest: An item is not a pair, or its value is not JSON.
    """
    return dict(_read_pair(item, option) for item in pairs)


def _read_pair(item: str, option: str) -> tuple[str, Any]:
    key, separator, value = item.partition("=")
    if not separator or not key.removesuffix(":"):
        raise InvalidRequest(f"{option} {item}: write 'key=text', or 'key:=json'")
    if not key.endswith(":"):
        return key, value  # the schema says what the text is read as
    try:
        return key[:-1], json.loads(value)
    except ValueError as error:
        raise InvalidRequest(f"{option} {item}: what follows ':=' is not JSON: {error}") from error
