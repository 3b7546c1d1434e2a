"""The options of `@tool`, checked at decoration."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from typing_extensions import TypedDict

from pegboard.core.tool import Effect, Limits, Retry, Status
from pegboard.errors import ToolSignatureError


class ToolOptions(TypedDict, total=False):
    """The options of a tool; the fields of `ToolSpec`."""

    name: str
    title: str
    description: str
    category: str
    effect: Effect | str
    destructive: bool
    idempotent: bool
    trusted: bool
    open_world: bool
    cacheable: bool
    cache_ttl: float
    cache_per_principal: bool
    capabilities: tuple[str, ...] | list[str]
    supported_tasks: tuple[str, ...] | list[str]
    examples: tuple[Mapping[str, Any], ...] | list[Mapping[str, Any]]
    tags: tuple[str, ...] | list[str]
    dependencies: tuple[str, ...] | list[str]
    id: str
    version: str
    status: Status | str
    timeout: float
    retry: Retry
    limits: Limits
    scopes: tuple[str, ...] | list[str]
    exclusive: bool
    max_result_bytes: int
    inline: bool
    """Run a quick sync function on the event loop instead of in a thread."""


def read_options(function: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as fields of `ToolSpec`, and `inline`.

    Raises:
        ToolSignatureError: An option that is unknown or of the wrong type; names the function.
    """
    unknown = sorted(options.keys() - _READERS.keys())
    if unknown:
        known = ", ".join(sorted(_READERS))
        raise ToolSignatureError(
            f"@tool {function}(): unknown options {', '.join(unknown)}; known are {known}"
        )
    fields: dict[str, Any] = {}
    for name, value in options.items():
        try:
            fields[name] = _READERS[name](value)
        except (TypeError, ValueError) as error:
            raise ToolSignatureError(
                f"@tool {function}(): {name} must be {error}, found {value!r}"
            ) from error
    return fields


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        raise ValueError("a number of seconds, at least 0")
    return value


def _size(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a number of bytes, at least 0")
    return value


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, (list, tuple, set, frozenset)):
        raise TypeError("several texts, as in ('one', 'two')")
    words = tuple(cast("list[Any]", value))
    if not all(isinstance(word, str) for word in words):
        raise TypeError("several texts, as in ('one', 'two')")
    return words


def _examples(value: Any) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, (list, tuple)):
        raise TypeError("several examples of arguments, as in [{'city': 'Rome'}]")
    examples = tuple(cast("list[Any]", value))
    if not all(isinstance(example, Mapping) for example in examples):
        raise TypeError("several examples of arguments, as in [{'city': 'Rome'}]")
    return tuple(dict(example) for example in examples)


def _effect(value: Any) -> Effect:
    if value not in tuple(Effect):
        raise ValueError(f"one of {', '.join(Effect)}")
    return Effect(value)


def _status(value: Any) -> Status:
    if value not in tuple(Status):
        raise ValueError(f"one of {', '.join(Status)}")
    return Status(value)


def _retry(value: Any) -> Retry:
    if not isinstance(value, Retry):
        raise TypeError("a Retry(...)")
    return value


def _limits(value: Any) -> Limits:
    if not isinstance(value, Limits):
        raise TypeError("a Limits(...)")
    return value


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("name", "title", "description", "category", "id", "version"), _text),
    **dict.fromkeys(("destructive", "idempotent", "cacheable"), _flag),
    **dict.fromkeys(("trusted", "open_world"), _flag),
    **dict.fromkeys(("cache_per_principal", "exclusive"), _flag),
    **dict.fromkeys(("capabilities", "supported_tasks", "tags", "dependencies", "scopes"), _words),
    **dict.fromkeys(("timeout", "cache_ttl"), _seconds),
    "inline": _flag,
    "examples": _examples,
    "max_result_bytes": _size,
    "effect": _effect,
    "status": _status,
    "retry": _retry,
    "limits": _limits,
}
