"""`key=text` and `key:=json` pairs, as people write what a plan or a run is given."""

import json
from collections.abc import Sequence
from typing import Any

from pegboard.errors import InvalidRequest


def given_params(pairs: Sequence[str]) -> dict[str, Any]:
    """The pairs as one object.

    Raises:
        InvalidRequest: One is no pair, or what it holds is no JSON.
    """
    return dict(_pair(item) for item in pairs)


def one_of(known: Sequence[str], value: str, *, option: str) -> str:
    """The value of an option, which may be empty for any.

    Raises:
        InvalidRequest: It is none of those that there are.
    """
    if value and value not in known:
        raise InvalidRequest(f"{option} {value}: there are {', '.join(known)}")
    return value


def _pair(item: str) -> tuple[str, Any]:
    key, separator, value = item.partition("=")
    if not separator or not key.removesuffix(":"):
        raise InvalidRequest(f"--param {item}: write 'key=text', or 'key:=json'")
    if not key.endswith(":"):
        return key, value
    try:
        return key[:-1], json.loads(value)
    except ValueError as error:
        raise InvalidRequest(f"--param {item}: what follows ':=' is not JSON: {error}") from error
