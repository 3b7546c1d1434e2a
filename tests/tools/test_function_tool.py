"""A function as a tool: it gets its values, its context, and its place to run."""

# ruff: noqa: B008 - `Field(...)` as a default is what is tested

import contextvars
import functools
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator
from typing import Annotated, Any

import pytest
from pydantic import Field
from tests.tools.shapes import Price

from pegboard.core.context import ToolContext
from pegboard.core.tool import Tool
from pegboard.errors import ToolSignatureError
from pegboard.tools import FunctionTool, as_tool, tool
from pegboard.tools.function_tool import is_async
from pegboard.tools.signatures.signature import read_signature

CTX: ToolContext[Any] = ToolContext(call_id="c1")
REQUEST: contextvars.ContextVar[str] = contextvars.ContextVar("REQUEST", default="none")


def thread_name() -> str:
    return threading.current_thread().name


async def on_loop() -> str:
    return threading.current_thread().name


class Shop:
    def __init__(self, name: str) -> None:
        self.name = name

    def order(self, item: str) -> str:
        return f"{self.name}: {item}"

    async def wait(self, item: str) -> str:
        return f"{self.name}: {item}"

    def __call__(self, item: str) -> str:
        """Calls."""
        return f"{self.name}! {item}"


def is_cheap(price: int) -> bool:
    """Whether it is cheap."""
    return price < 10


class Silent:
    """What the class says."""

    def __call__(self, item: str) -> str:
        return item


@pytest.mark.parametrize(
    ("function", "arguments", "value"),
    [
        pytest.param(Shop("a").order, {"item": "x"}, "a: x", id="bound method"),
        pytest.param(Shop("a").wait, {"item": "x"}, "a: x", id="async bound method"),
        pytest.param(Shop("a"), {"item": "x"}, "a! x", id="callable instance"),
        pytest.param(functools.partial(Shop("a").order, "x"), {}, "a: x", id="partial by position"),
        pytest.param(functools.partial(Shop("a").wait, item="x"), {}, "a: x", id="async partial"),
        pytest.param(functools.lru_cache(Shop("a").order), {"item": "x"}, "a: x", id="cached"),
    ],
)
async def test_whatever_can_be_called_is_run(
    run: Any, function: Any, arguments: Any, value: Any
) -> None:
    assert await run(function, arguments) == value


async def test_a_sync_function_runs_in_a_thread_and_an_async_one_on_the_loop(run: Any) -> None:
    here = threading.current_thread().name

    assert await run(thread_name, {}) == "pegboard-tool"
    assert await run(on_loop, {}) == here


async def test_an_inline_function_runs_on_the_loop(run: Any) -> None:
    here = threading.current_thread().name

    def each() -> Iterator[str]:
        yield threading.current_thread().name

    assert await run(tool(inline=True)(lambda_named("quick")), {}) == here
    assert await run(tool(inline=True)(each), {}) == [here]


async def test_context_variables_reach_the_thread(run: Any) -> None:
    def read() -> str:
        return REQUEST.get()

    REQUEST.set("r1")

    assert await run(read, {}) == "r1"


async def test_the_context_is_given_wherever_it_stands(run: Any) -> None:
    def first(ctx: ToolContext, a: int) -> Any:
        return ctx.call_id, a

    def last(a: int, *, ctx: ToolContext | None = None) -> Any:
        return ctx and ctx.call_id, a

    def by_position(ctx: ToolContext, a: int, /, b: int = 2) -> Any:
        return ctx.call_id, a + b - 2

    async def waits(a: int, ctx: ToolContext[None]) -> Any:
        return ctx.call_id, a

    for function in (first, last, by_position, waits):
        assert await run(function, {"a": 1}, CTX) == ("c1", 1)


async def test_a_call_does_not_change_the_values_it_was_given(run: Any) -> None:
    def odd(a: int, ctx: ToolContext, /, b: int = 2) -> int:
        return a + b

    def plain(a: int, ctx: ToolContext, b: int = 2) -> int:
        return a + b

    for function in (odd, plain):
        made: Any = as_tool(function)
        values = made.arguments({"a": 1})

        assert [await made.run(values, CTX), await made.run(values, CTX)] == [3, 3]
        assert values == {"a": 1}


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"a": 1}, (1, 10, 20, 30)),
        ({"a": 1, "c": 3}, (1, 10, 3, 30)),
        ({"a": 1, "b": 2, "d": 4}, (1, 2, 20, 4)),
    ],
    ids=str,
)
async def test_positional_only_parameters_get_their_defaults(
    run: Any, arguments: Any, value: Any
) -> None:
    def spread(a: int, b: int = 10, c: int = 20, /, d: int = 30) -> Any:
        return (a, b, c, d)

    assert await run(spread, arguments) == value


async def test_a_default_written_as_field_is_applied_anew_at_each_call(run: Any) -> None:
    def collect(
        a: list[int] = Field(default_factory=list),
        b: Annotated[list[int], Field(default_factory=list)] = [],  # noqa: B006 - the field stands before it
        c: int = Field(5),
        d: dict[str, int] = Field({}),
    ) -> Any:
        a.append(1)
        d["a"] = 1
        return (a, b, c, d)

    assert await run(collect, {}) == ([1], [], 5, {"a": 1})
    assert await run(collect, {}) == ([1], [], 5, {"a": 1})


async def test_a_positional_only_parameter_may_have_a_field(run: Any) -> None:
    def spread(a: int = Field(1), b: int = Field(2), /) -> Any:
        return (a, b)

    assert await run(spread, {"b": 5}) == (1, 5)


async def test_an_alias_is_given_to_the_parameter_it_stands_for(run: Any) -> None:
    def find(limit: Annotated[int, Field(alias="maxResults")] = 3) -> int:
        return limit

    assert await run(find, {"maxResults": "7"}) == 7
    assert await run(find, {}) == 3


async def test_models_arrive_as_models_and_defaults_of_models_are_applied(run: Any) -> None:
    def total(price: Price, count: int = 2) -> float:
        return price.amount * count

    assert await run(total, '{"price": {"amount": "1.5"}}') == 3.0


def _sync() -> Iterator[int]:
    yield from (1, 2)


def _generator() -> Generator[int, None, str]:
    yield 1
    return "ignored"


def _iterable() -> Iterable[int]:
    yield 1


def _bare():
    yield 1


def _returns_iterator() -> Iterator[int]:
    return iter([1, 2])


async def _async() -> AsyncIterator[int]:
    for number in (1, 2):
        yield number


def _returns_async() -> AsyncIterator[int]:
    return _async()


@pytest.mark.parametrize(
    ("function", "value", "promised"),
    [
        pytest.param(_sync, [1, 2], True, id="generator"),
        pytest.param(_generator, [1], True, id="generator with a return value"),
        pytest.param(_iterable, [1], True, id="iterable"),
        pytest.param(_bare, [1], False, id="generator without a hint"),
        pytest.param(_returns_iterator, [1, 2], True, id="function that gives an iterator"),
        pytest.param(_async, [1, 2], True, id="async generator"),
        pytest.param(_returns_async, [1, 2], True, id="function that gives an async iterator"),
    ],
)
async def test_what_is_yielded_is_collected_into_a_list(
    run: Any, function: Any, value: list[int], *, promised: bool
) -> None:
    schema = {"type": "array", "items": {"type": "integer"}}

    assert await run(function, {}) == value
    assert as_tool(function).spec.output_schema == (schema if promised else None)


async def test_a_generator_runs_in_a_thread_to_its_end(run: Any) -> None:
    def names() -> Iterator[str]:
        yield threading.current_thread().name
        yield threading.current_thread().name

    assert await run(names, {}) == ["pegboard-tool", "pegboard-tool"]


async def test_a_sync_function_around_an_async_one_gives_its_value(run: Any) -> None:
    @functools.wraps(on_loop)
    def logged() -> Any:
        return on_loop()

    assert await run(logged, {}) == threading.current_thread().name
    assert await run(tool(inline=True)(logged), {}) == threading.current_thread().name


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (thread_name, False),
        (on_loop, True),
        (_sync, False),
        (_async, True),
        (Shop("a").wait, True),
        (functools.partial(on_loop), True),
        (Shop("a"), False),
    ],
    ids=["sync", "async", "generator", "async generator", "method", "partial", "instance"],
)
def test_it_is_known_whether_a_function_needs_a_loop(function: Any, *, expected: bool) -> None:
    assert is_async(function) is expected
    assert as_tool(function).is_async is expected  # type: ignore[attr-defined]  # a FunctionTool says it


def test_it_is_a_tool_that_says_what_it_needs() -> None:
    def find(a: int, ctx: ToolContext, b: int = 1) -> None:
        """Finds."""

    made = as_tool(find)

    assert isinstance(made, FunctionTool)
    assert isinstance(made, Tool)
    assert (made.needs_context, made.parameter_texts) == (True, {"a": "", "b": ""})
    assert (made.spec.description, repr(made)) == ("Finds.", "FunctionTool('find')")
    assert made.spec is made.spec


def test_the_description_of_an_instance_is_that_of_its_call_or_its_class() -> None:
    assert as_tool(Shop("a")).spec.description == "Calls."
    assert as_tool(Silent()).spec.description == "What the class says."
    assert as_tool(functools.partial(thread_name)).spec.description == ""


def test_a_name_that_no_provider_accepts_is_refused() -> None:
    with pytest.raises(ToolSignatureError, match="'a b' is not a tool name"):
        FunctionTool(thread_name, read_signature(thread_name), options={"name": "a b"})


def test_a_strange_name_is_made_legible_under_a_source() -> None:
    made = as_tool(tool(name="plain")(lambda_named("Ärger & mehr")), source="shop")

    assert made.spec.name == "shop__plain"
    assert as_tool(lambda_named("Ärger & mehr"), source="shop").spec.name.startswith(
        "shop__rger_mehr_x"
    )


def lambda_named(name: str) -> Callable[[], str]:
    def function() -> str:
        return threading.current_thread().name

    function.__name__ = name
    return function


@pytest.mark.parametrize(
    ("function", "toolkit"),
    [(Shop("a").order, "Shop"), (functools.partial(Shop("a").order), "Shop"), (is_cheap, "")],
    ids=["method", "partial of a method", "function"],
)
def test_the_toolkit_is_the_class_of_a_method(function: Any, toolkit: str) -> None:
    assert as_tool(function).spec.toolkit == toolkit
