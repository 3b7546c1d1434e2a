"""How Pegboard runs the same calls: as its defaults are, and with what a data directory adds."""

from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from functions import ARGUMENTS, FUNCTIONS, Order, add_up, count_letter, find_letter
from pegboard import ToolRegistry
from pegboard.core.event import Event
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.storage import open_storage
from pegboard.tools import tool

Calls = Mapping[str, Callable[[], Awaitable[Any]]]


class Last:
    """The one listener in memory: keeps the last thousand events."""

    on_event: Any

    def __init__(self) -> None:
        self.on_event = deque[Event](maxlen=1000).append


class LetterArguments(TypedDict):
    word: str
    letter: str


class OrderArguments(TypedDict):
    order: Order


def floor() -> Calls:
    """What nobody who validates with pydantic can be below: read the JSON, call the function."""
    letter, order = TypeAdapter(LetterArguments), TypeAdapter(OrderArguments)
    letter_text, order_text = ARGUMENTS["count_letter"], ARGUMENTS["add_up"]

    async def count_letter_call() -> int:
        return count_letter(**letter.validate_json(letter_text))

    async def find_letter_call() -> int:
        return await find_letter(**letter.validate_json(letter_text))

    async def add_up_call() -> float:
        return await add_up(**order.validate_json(order_text))

    return {
        "count_letter": count_letter_call,
        "find_letter": find_letter_call,
        "add_up": add_up_call,
    }


def governed(*, inline: bool, beside: int = 0) -> Calls:
    """Reading tools, every step that is on by default, one listener.

    Args:
        inline: Whether the sync function runs on the event loop instead of in a thread.
        beside: How many other tools are registered.
    """
    return _calls(ToolRegistry(_tools("read", inline=inline, beside=beside), listeners=[Last()]))


@asynccontextmanager
async def durable(*, history: bool = False, at_once: int = 1) -> AsyncGenerator[Calls]:
    """Writing tools whose start is a row in SQLite before they run.

    Args:
        history: Whether every call is kept in the history too, besides the listener in memory.
        at_once: Calls in one batch; more than one share a commit.
    """
    with TemporaryDirectory() as folder:
        async with open_storage(folder, max_queued=1_000_000) as storage:
            listeners = [Last(), storage.listener] if history else [Last()]
            kit = CallEnvironment(emitter=Emitter(listeners), journal=storage.journal)
            yield _calls(
                ToolRegistry(_tools("write", inline=True), environment=kit), at_once=at_once
            )


def _tools(effect: str, *, inline: bool, beside: int = 0) -> list[Any]:
    from registering import functions

    made = [tool(effect=effect, inline=inline)(_copy(function)) for function in FUNCTIONS]
    return [*made, *[tool(effect=effect)(function) for function in functions(beside)]]


def _copy(function: Any) -> Any:
    """The same function again, since `@tool` leaves its mark on what it is given."""
    from types import FunctionType

    copy = FunctionType(function.__code__, function.__globals__, function.__name__)
    copy.__annotations__, copy.__doc__ = dict(function.__annotations__), function.__doc__
    copy.__module__ = function.__module__
    return copy


def _calls(registry: ToolRegistry, *, at_once: int = 1) -> Calls:
    if at_once > 1:
        return {
            name: lambda name=name, text=text: registry.call_many([(name, text)] * at_once)
            for name, text in ARGUMENTS.items()
        }
    return {
        name: lambda name=name, text=text: registry.call(name, text)
        for name, text in ARGUMENTS.items()
    }
