"""Two calls are the same when the tool would see the same values, and only then."""

import dataclasses
import enum
from collections.abc import Callable, Iterable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr
from tests.execution.made import a_call, a_spec

from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.idempotency.fingerprint import fingerprint_of
from pegboard.tools import as_tool


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Order(BaseModel):
    model_config = ConfigDict(extra="allow")

    number: int
    note: str = Field(default="", exclude=True)


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Odd:
    """A type of whose values nobody knows when two are the same."""

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(lambda _text: cls(), handler(str))


def number(n: int, m: int = 5) -> None: ...
def share(x: float) -> None: ...
def label(s: str | int) -> None: ...
def secret(password: SecretStr) -> None: ...
def order(o: Order) -> None: ...
def place(p: Point) -> None: ...
def tags(t: set[str]) -> None: ...
def size(s: Size = Size.SMALL) -> None: ...
def when(at: datetime) -> None: ...
def price(d: Decimal) -> None: ...
def file(p: Path) -> None: ...
def key(u: UUID) -> None: ...
def raw(b: bytes) -> None: ...
def table(t: dict[int, str]) -> None: ...
def odd(o: Odd) -> None: ...
def numbers(n: Iterable[int]) -> None: ...


def digests(function: Callable[..., Any], *raws: Any) -> list[str]:
    tool = as_tool(function)
    target = CompiledTool(tool, keyed=True)
    fingerprint = fingerprint_of(tool.spec)
    return [fingerprint(a_call(raw, arguments=target.read(raw))) for raw in raws]


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (number, '{"n": 1}', {"n": "1"}),
        (number, '{"n": 1, "m": 5}', '{"n": 1}'),
        (number, {"n": 1}, '{"m":"5","n":1}'),
        (share, {"x": 1}, {"x": 1.0}),
        (order, {"o": {"number": "7"}}, {"o": {"number": 7, "note": ""}}),
        (place, {"p": {"x": 1}}, {"p": {"x": 1, "y": 0}}),
        (tags, {"t": ["a", "b"]}, {"t": ["b", "a"]}),
        (size, {}, {"s": "s"}),
        (when, {"at": "2026-01-01T00:00:00Z"}, {"at": "2026-01-01T00:00:00+00:00"}),
        (file, {"p": "a/b"}, {"p": "a//b"}),
        (odd, {"o": "x"}, '{"o":"x"}'),
    ],
)
def test_what_means_the_same_is_one_call(
    function: Callable[..., Any], first: Any, second: Any
) -> None:
    one, other = digests(function, first, second)

    assert one == other


@pytest.mark.parametrize(
    ("function", "first", "second"),
    [
        (number, {"n": 1}, {"n": 2}),
        (number, {"n": 1}, {"n": 1, "m": 6}),
        (label, {"s": "1"}, {"s": 1}),
        (secret, {"password": "first one"}, {"password": "other one"}),
        (order, {"o": {"number": 7, "note": "a"}}, {"o": {"number": 7, "note": "b"}}),
        (order, {"o": {"number": 7, "x": 1}}, {"o": {"number": 7, "x": 2}}),
        (tags, {"t": ["a"]}, {"t": ["b"]}),
        (size, {}, {"s": "l"}),
        (price, {"d": "1.5"}, {"d": "1.6"}),
        (key, {"u": "0" * 32}, {"u": "1" * 32}),
        (raw, {"b": "ab"}, {"b": "ac"}),
        (table, {"t": {"1": "a"}}, {"t": {"2": "a"}}),
        (odd, {"o": "x"}, {"o": "y"}),
        (numbers, {"n": [1, 2]}, {"n": [1, 3]}),
    ],
)
def test_what_differs_is_another_call(
    function: Callable[..., Any], first: Any, second: Any
) -> None:
    one, other = digests(function, first, second)

    assert one != other


def test_looking_at_arguments_uses_none_of_them_up() -> None:
    tool = as_tool(numbers)
    call = a_call({"n": [1, 2]}, arguments=CompiledTool(tool, keyed=True).read({"n": [1, 2]}))

    fingerprint_of(tool.spec)(call)

    assert list(call.arguments["n"]) == [1, 2]


def test_the_defaults_of_a_raw_schema_count_too() -> None:
    schema = {"type": "object", "properties": {"n": {"default": 1}, "m": True}}
    fingerprint = fingerprint_of(a_spec(input_schema=schema))

    assert fingerprint(a_call(arguments={})) == fingerprint(a_call(arguments={"n": 1.0}))
    assert fingerprint(a_call(arguments={"n": 2})) != fingerprint(a_call(arguments={}))
