"""What a type hint says, told without building a schema of it."""

from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge
from pydantic import Field
from tests.tools.shapes import Point, Price, Word

from pegboard.core.result import Artifact, ImagePart, ToolResult
from pegboard.tools.signatures.signature import MISSING, FunctionParameter
from pegboard.tools.signatures.type_hints import (
    is_plain,
    promises_nothing,
    public_name,
    result_type,
    yields,
    yields_async,
)

UNHASHABLE: Any = {}


@pytest.mark.parametrize(
    ("hint", "plain"),
    [
        (int, True),
        (None, True),
        (Any, True),
        (Literal["a"], True),
        (Word, True),
        (list[dict[str, int | None]], True),
        (tuple[int, ...], True),
        (Annotated[date, Field(description="x")], True),
        (Annotated[int, Ge(1)], False),
        (Price, False),
        (Point, False),
        (list[Price], False),
        (Iterable[int], False),
        (Callable[[], int], False),
        (UNHASHABLE, False),
    ],
    ids=str,
)
def test_what_pydantic_surely_knows_is_plain(hint: Any, *, plain: bool) -> None:
    assert is_plain(hint) is plain


def test_a_class_that_was_tried_out_is_plain_from_then_on() -> None:
    assert is_plain(dict[str, Price], known={Price})


@pytest.mark.parametrize(
    ("returns", "nothing"),
    [
        (MISSING, True),
        (None, True),
        (Any, True),
        (ToolResult, True),
        (list[ImagePart], True),
        (tuple[str, ...], False),
        (tuple[Artifact, ...], True),
        (Annotated[bytes, "x"], True),
        (str | ToolResult, True),
        (int | None, False),
        (list[Any], False),
        (dict[str, bytes], False),
    ],
    ids=str,
)
def test_what_carries_its_own_content_promises_nothing(returns: Any, *, nothing: bool) -> None:
    assert promises_nothing(returns) is nothing


@pytest.mark.parametrize(
    ("returns", "result"),
    [
        (Iterator[int], list[int]),
        (Iterable[str], list[str]),
        (Generator[int, None, str], list[int]),
        (AsyncIterator[int], list[int]),
        (Iterator, MISSING),
        (list[int], list[int]),
        (int, int),
    ],
    ids=str,
)
def test_what_is_yielded_is_promised_as_a_list(returns: Any, result: Any) -> None:
    assert result_type(returns) == result


def test_iterators_are_told_from_async_ones() -> None:
    assert (yields(Iterator[int]), yields(AsyncIterator[int]), yields(list[int])) == (
        True,
        False,
        False,
    )
    assert (yields_async(Iterator[int]), yields_async(AsyncIterator[int])) == (False, True)


@pytest.mark.parametrize(
    ("hint", "name"),
    [
        (int, "x"),
        (Annotated[int, Field(ge=1)], "x"),
        (Annotated[int, Field(alias="theX")], "theX"),
        (Annotated[int, Field(validation_alias="theX", serialization_alias="y")], "theX"),
    ],
    ids=str,
)
def test_an_alias_is_what_the_caller_sees(hint: Any, name: str) -> None:
    assert public_name(FunctionParameter(name="x", hint=hint)) == name
