"""A Python function as a tool."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, get_args, get_origin

from pydantic import TypeAdapter

from pegboard.core.context import ToolContext
from pegboard.core.names import is_wire_name, wire_name
from pegboard.core.tool import ToolSpec
from pegboard.errors import ToolSignatureError
from pegboard.tools import schema as schemas
from pegboard.tools.docstring import Docstring, read_docstring
from pegboard.tools.output import Finish, typed_finish, wrap
from pegboard.tools.signature import Signature, name_of, unwrapped
from pegboard.tools.threads import POOL
from pegboard.tools.typed import TypedArguments

_ITERATORS = (Iterator, AsyncIterator)


class FunctionTool:
    """A function with its spec; the schemas are built on first use.

    Attributes:
        run: Calls the function with arguments that `arguments` has read; a function of its own and
            not a method around one, since every call passes here.

    Args:
        function: What is called.
        signature: As `read_signature` read it.
        options: Fields of `ToolSpec` that the author set.
        source: The source it belongs to; empty for a bare function.
        inline: Whether a sync function is quick enough to run on the event loop.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Signature,
        *,
        options: Mapping[str, Any],
        source: str = "",
        inline: bool = False,
    ) -> None:
        self.function = function
        self._signature = signature
        self._options = options
        self._source = source
        action = options.get("name") or name_of(function)
        self.name = wire_name(source, action) if source else action
        if not is_wire_name(self.name):
            raise ToolSignatureError(
                f"'{self.name}' is not a tool name: at most 64 letters, digits, '_' and '-'; "
                "give one with @tool(name=...)"
            )
        self._action = action
        self.run = self._runner(inline=inline)

    @property
    def spec(self) -> ToolSpec:
        """What it is; reading the schemas builds them."""
        return self._spec

    @cached_property
    def _spec(self) -> ToolSpec:
        options = dict(self._options)
        options["name"] = self.name
        options.setdefault("description", self._docstring.description)
        return ToolSpec(
            **options,
            action=self._action,
            source=self._source,
            input_schema=lambda: self._shown_schema,
            output_schema=self._output_schema,
        )

    @cached_property
    def arguments(self) -> TypedArguments:
        """Reads arguments for this function."""
        return TypedArguments(self.name, self._adapter, self._shown_schema)

    @cached_property
    def finish(self) -> Finish:
        """Checks and wraps what the function returns."""
        adapter = self._output_adapter
        if adapter is None:
            return wrap
        return typed_finish(adapter, lambda: schemas.output_schema(adapter), self.name)

    @cached_property
    def _docstring(self) -> Docstring:
        return read_docstring(getattr(unwrapped(self.function), "__doc__", None))

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        descriptions = self._docstring.parameters
        return schemas.arguments_adapter(self.name, self._signature, descriptions)

    @cached_property
    def _shown_schema(self) -> dict[str, Any]:
        return schemas.arguments_schema(self.name, self._signature, self._adapter)

    @cached_property
    def _output_adapter(self) -> TypeAdapter[Any] | None:
        return schemas.output_adapter(_item_list(self._signature.returns))

    def _output_schema(self) -> dict[str, Any] | None:
        adapter = self._output_adapter
        return None if adapter is None else schemas.output_schema(adapter)

    def _runner(self, *, inline: bool) -> Callable[[Any, ToolContext[Any]], Awaitable[Any]]:
        call = _binder(self.function, self._signature)
        target = unwrapped(self.function)
        if inspect.iscoroutinefunction(target):
            return call
        if inspect.isasyncgenfunction(target):
            return partial(_collect_async, call)
        if inspect.isgeneratorfunction(target):
            return partial(_in_thread, partial(_collect, call))
        return partial(_inline if inline else _in_thread, call)

    @property
    def needs_context(self) -> bool:
        """Whether the function takes a `ToolContext`."""
        return bool(self._signature.context)

    @property
    def is_async(self) -> bool:
        """Whether the function itself needs an event loop."""
        return is_async(self.function)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """What a model may give, without building the schema."""
        return tuple(item.name for item in self._signature.parameters)

    def __repr__(self) -> str:
        return f"FunctionTool({self.name!r})"


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it needs an event loop."""
    target = unwrapped(function)
    return inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target)


def _binder(
    function: Callable[..., Any], signature: Signature
) -> Callable[[dict[str, Any], ToolContext[Any]], Any]:
    """How validated values become a call; the common case adds nothing."""
    context, positional = signature.context, signature.positional
    hidden = _hidden_defaults(signature, function)
    if not (context or positional or hidden):
        return lambda values, _ctx: function(**values)

    def call(values: dict[str, Any], ctx: ToolContext[Any]) -> Any:
        for name, default in hidden.items():
            values.setdefault(name, default)
        if context:
            values[context] = ctx
        given = [values.pop(name) for name in positional if name in values]
        return function(*given, **values)

    return call


def _hidden_defaults(signature: Signature, function: Callable[..., Any]) -> dict[str, Any]:
    """Defaults that calling the function would not apply: those written as `Field(...)`."""
    written = inspect.signature(function).parameters
    return {
        item.name: item.default
        for item in signature.parameters
        if not item.required
        and (item.name in signature.positional or written[item.name].default is not item.default)
    }


def _item_list(returns: Any) -> Any:
    """A generator's result is the list of what it yields."""
    origin = get_origin(returns)
    if isinstance(origin, type) and issubclass(origin, _ITERATORS) and get_args(returns):
        return list[get_args(returns)[0]]
    return returns


async def _inline(call: Callable[..., Any], values: dict[str, Any], ctx: ToolContext[Any]) -> Any:
    return call(values, ctx)


async def _in_thread(
    call: Callable[..., Any], values: dict[str, Any], ctx: ToolContext[Any]
) -> Any:
    return await POOL.run(lambda: call(values, ctx))


def _collect(call: Callable[..., Any], values: dict[str, Any], ctx: ToolContext[Any]) -> list[Any]:
    return list(call(values, ctx))


async def _collect_async(
    call: Callable[..., Any], values: dict[str, Any], ctx: ToolContext[Any]
) -> list[Any]:
    return [item async for item in call(values, ctx)]
