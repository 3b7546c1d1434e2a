"""Generator tools: the yielded items become one list, and each is reported as progress."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, cast

from pydantic_core import to_json

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.context import Progress, ToolContext
from pegboard.core.result import TextPart
from pegboard.errors import ToolFailed

MAX_PARTS = 100_000
MAX_BYTES = 64 * 1024 * 1024
_TOLD = 200
_NODE = 64
"""What a value counts beside its text, as in memory; what contains itself reaches the bound too."""

Call = Callable[[dict[str, Any], ToolContext[Any]], Any]


class YieldedItems:
    """The items that a generator has yielded.

    Args:
        name: The tool's, for the message.
        ctx: The context whose listener receives the progress.
        tell: Calls the listener; by default at once, in this thread.
    """

    def __init__(
        self,
        name: str,
        ctx: ToolContext[Any],
        *,
        tell: Callable[[Callable[[], None]], object] = lambda told: told(),
    ) -> None:
        self.items: list[Any] = []
        self.is_given_up = False
        self._name = name
        self._ctx = ctx
        self._tell = tell
        self._bytes = 0

    def add(self, part: Any) -> None:
        """Add an item.

        Raises:
            ToolFailed: That is more than a result may hold.
        """
        self._bytes += _weight(part, MAX_BYTES - self._bytes)
        if len(self.items) >= MAX_PARTS:
            raise self._too_many(f"{MAX_PARTS:,} parts")
        if self._bytes > MAX_BYTES:
            raise self._too_many(f"{MAX_BYTES // 1024**2} MB")
        self.items.append(part)
        listener = self._ctx.on_progress
        if listener is not None:
            progress = Progress(
                call_id=self._ctx.call_id,
                tool=self._ctx.tool,
                done=len(self.items),
                message=_text(part)[:_TOLD],
            )
            self._tell(lambda: listener(progress))

    def all_of(self, items: Any) -> list[Any]:
        """Collect the items of an iterable; it is closed when the call was abandoned.

        Raises:
            ToolFailed: They are more than a result may hold.
        """
        each = iter(items)
        try:
            for part in each:
                if self.is_given_up:
                    break
                self.add(part)
            else:
                return self.items
        except ToolFailed:
            _close(each)
            raise
        _close(each)
        return []

    def _too_many(self, bound: str) -> ToolFailed:
        return ToolFailed(
            f"'{self._name}' yielded more than {bound} and was stopped; ask for less."
        )


async def collect_inline(
    name: str, call: Call, values: dict[str, Any], ctx: ToolContext[Any]
) -> list[Any]:
    """Run a generator on the event loop to its end."""
    return YieldedItems(name, ctx).all_of(call(values, ctx))


async def collect_in_thread(
    name: str, call: Call, values: dict[str, Any], ctx: ToolContext[Any]
) -> list[Any]:
    """Run a generator in a thread; given up, it stops at its next item."""
    from asyncio import get_running_loop

    parts = YieldedItems(name, ctx, tell=get_running_loop().call_soon_threadsafe)
    try:
        return await POOL.run(lambda: parts.all_of(call(values, ctx)), owner=name)
    finally:
        parts.is_given_up = True


async def collect_async(
    name: str, call: Call, values: dict[str, Any], ctx: ToolContext[Any]
) -> list[Any]:
    """Run an async generator to its end."""
    parts = YieldedItems(name, ctx)
    each = aiter(call(values, ctx))
    try:
        async for part in each:
            parts.add(part)
    finally:
        close = getattr(each, "aclose", None)
        if close is not None:
            await close()
    return parts.items


def _close(each: Iterator[Any]) -> None:
    close = getattr(each, "close", None)
    if close is not None:
        close()


def _text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, TextPart):
        return part.text
    if isinstance(part, (bytes, bytearray)) or _binary(part):
        return type(part).__name__
    with suppress(Exception):  # a part that cannot be shown is still a part
        return to_json(part, fallback=repr, inf_nan_mode="constants").decode()
    return type(part).__name__


def _binary(part: Any) -> bool:
    return isinstance(getattr(part, "data", None), bytes)


def _weight(part: Any, most: int) -> int:
    """About how many bytes it is, counted until it is more than `most`."""
    weight, stack = 0, [part]
    while stack and weight <= most:
        value = stack.pop()
        weight += _NODE
        if isinstance(value, (str, bytes, bytearray)):
            weight += len(value)
        elif isinstance(value, Mapping):
            node = cast("Mapping[Any, Any]", value)
            stack.extend(node)
            stack.extend(node.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            stack.extend(cast("list[Any]", value))
        elif not isinstance(value, (int, float, type, type(None))):
            stack.extend(_fields(value))
    return weight


def _fields(value: Any) -> list[Any]:
    """What an object holds: the values of a model, a dataclass or a struct."""
    held = getattr(value, "__dict__", None)
    if held is not None:
        return list(held.values())
    names = getattr(value, "__struct_fields__", None) or getattr(value, "__slots__", ())
    names = (names,) if isinstance(names, str) else names
    return [getattr(value, name, None) for name in names]
