"""Inspection of type hints without building their schemas."""

import enum
import types
import typing
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Container,
    Generator,
    Iterable,
    Iterator,
)
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin
from uuid import UUID

from pegboard.core.result import Artifact, AudioPart, ImagePart, ResourcePart, TextPart, ToolResult
from pegboard.tools.signatures.signature import MISSING, FunctionParameter, is_field

_PLAIN: frozenset[Any] = frozenset(
    (int, str, float, bool, bytes, None, type(None), Any, date, datetime, time, timedelta)
) | {UUID, Decimal, Path, dict, list, set, tuple, object}
_UNSHAPED = (ToolResult, Artifact, TextPart, ImagePart, AudioPart, ResourcePart, bytes, bytearray)
_UNIONS = (typing.Union, types.UnionType)
_ITERATORS = (Iterator, Generator)
_ASYNC_ITERATORS = (AsyncIterable, AsyncIterator, AsyncGenerator)


def is_plain(hint: Any, *, known: Container[Any] = ()) -> bool:
    """Whether pydantic surely makes a schema of this; others are tried out.

    Args:
        hint: A resolved type hint.
        known: Classes that were tried out before.
    """
    origin = get_origin(hint)
    if origin is None:
        return _is_plain_class(hint) or (isinstance(hint, type) and hint in known)
    if origin is Literal:
        return True
    inner = get_args(hint)
    if origin is Annotated:
        return all(map(is_field, inner[1:])) and is_plain(inner[0], known=known)
    if origin in (list, dict, set, frozenset, tuple, *_UNIONS):
        return all(item is Ellipsis or is_plain(item, known=known) for item in inner)
    return False


def public_name(parameter: FunctionParameter) -> str:
    """What the caller calls a parameter: its alias, when the type gives it one."""
    for field in fields_of(parameter.hint):
        alias = field.validation_alias or field.alias
        if isinstance(alias, str):
            return alias
    return parameter.name


def fields_of(hint: Any) -> list[Any]:
    """What `Field(...)` says of a type."""
    extras = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return [item for item in extras if is_field(item)]


def promises_nothing(returns: Any) -> bool:
    """Whether a return type says nothing that a schema could hold a value against.

    A `ToolResult`, a part, an artifact and bytes carry their own content instead of a JSON value.
    """
    if returns in (MISSING, Any, None, type(None), object):
        return True
    origin = get_origin(returns) or returns
    if origin is Annotated:
        return promises_nothing(get_args(returns)[0])
    if isinstance(origin, type) and issubclass(origin, _UNSHAPED):
        return True
    if origin in (*_UNIONS, list, tuple):
        return any(_is_unshaped(item) for item in get_args(returns))
    return False


def yields(returns: Any) -> bool:
    """Whether the result is an iterator, to be collected into a list."""
    return (get_origin(returns) or returns) in _ITERATORS


def yields_async(returns: Any) -> bool:
    """Whether the result is an async iterator, to be collected into a list."""
    return (get_origin(returns) or returns) in _ASYNC_ITERATORS


def result_type(returns: Any) -> Any:
    """The return type of a tool as its caller sees it: iterators are lists of their items."""
    if (get_origin(returns) or returns) not in (Iterable, *_ITERATORS, *_ASYNC_ITERATORS):
        return returns
    items = get_args(returns)
    return list[items[0]] if items else MISSING


def _is_unshaped(hint: Any) -> bool:
    return (
        hint is not Ellipsis
        and hint not in (Any, None, type(None), object)
        and (promises_nothing(hint))
    )


def _is_plain_class(hint: Any) -> bool:
    try:
        if hint in _PLAIN:
            return True
    except TypeError:
        return False  # not hashable
    return isinstance(hint, type) and issubclass(hint, enum.Enum)
