"""A Python function as a tool."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.context import Arguments, ToolContext
from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import is_wire_name, wire_name
from pegboard.errors import ToolSignatureError
from pegboard.tools.generators import collect_async, collect_in_thread, collect_inline
from pegboard.tools.input_validation import ValidationResult, check_arguments
from pegboard.tools.results import Finish, finish_for_type, wrap
from pegboard.tools.signatures.docstring import FunctionDocs, read_docstring
from pegboard.tools.signatures.signature import Signature, name_of, target_of, unwrap
from pegboard.tools.signatures.type_hints import result_type, yields, yields_async

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from pegboard.tools.typed_arguments import TypedArguments

Run = Callable[[Any, ToolContext[Any]], Awaitable[Any]]


class FunctionTool:
    """A Python function as a tool; its schemas are built on first use.

    Attributes:
        run: Calls the function with arguments that `arguments` has read; a function of its own and
            not a method around one, since every call passes here.

    Args:
        function: What is called.
        signature: As `read_signature` read it.
        options: Fields of `ToolSpec` that the author set, and `inline`: whether a sync function is
            quick enough to run on the event loop.
        source: The source it belongs to; empty for a bare function.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Signature,
        *,
        options: Mapping[str, Any],
        source: str = "",
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
        self._yields = False
        self.run = self._runner()

    def in_source(self, source: str) -> "FunctionTool":
        """The same function as a tool of this source."""
        if source == self._source:
            return self
        return FunctionTool(self.function, self._signature, options=self._options, source=source)

    def with_alias(self, alias: str) -> "FunctionTool":
        """The same tool with a second name."""
        options = {**self._options, "alias": alias}
        return FunctionTool(self.function, self._signature, options=options, source=self._source)

    @property
    def spec(self) -> ToolSpec:
        """What it is; reading the schemas builds them."""
        return self._spec

    @cached_property
    def _spec(self) -> ToolSpec:
        options = {key: value for key, value in self._options.items() if key != "inline"}
        options["name"] = self.name
        options.setdefault("description", self._docstring.description)
        return ToolSpec(
            **options,
            action=self._action,
            source=self._source,
            handler="function",
            toolkit=_toolkit_of(self.function),
            target=self.target,
            input_schema=lambda: self._shown_schema,
            output_schema=self._output_schema,
        )

    @cached_property
    def target(self) -> str:
        """What it runs, for rules: the same for every tool of this function."""
        return target_of(self.function)

    def _runner(self) -> Run:
        call = _binder(self.function, self._signature)
        target, returns = unwrap(self.function), self._signature.returns
        if inspect.iscoroutinefunction(target):
            return call
        if inspect.isasyncgenfunction(target) or yields_async(returns):
            self._yields = True
            return partial(collect_async, self.name, call)
        inline = self._options.get("inline")
        if inspect.isgeneratorfunction(target) or yields(returns):
            self._yields = True
            return partial(collect_inline if inline else collect_in_thread, self.name, call)
        if inline:
            return partial(_inline, call)
        return partial(_in_thread, self.name, call)

    @cached_property
    def arguments(self) -> "TypedArguments":
        """Reads arguments for this function."""
        from pegboard.tools.typed_arguments import TypedArguments

        return TypedArguments(self.name, self._adapter, self._shown_schema)

    def validate_input(self, arguments: Arguments) -> ValidationResult:
        """Validate arguments as a call does, without the call."""
        return check_arguments(self.arguments, arguments)

    @cached_property
    def finish(self) -> Finish:
        """Checks and wraps what the function returns."""
        adapter = self._output_adapter
        if adapter is None:
            return wrap
        return finish_for_type(adapter, lambda: self.spec.output_schema or {}, self.name)

    @cached_property
    def _docstring(self) -> FunctionDocs:
        text = getattr(unwrap(self.function), "__doc__", None)
        if text is None and not isinstance(self.function, partial):
            text = getattr(self.function, "__doc__", None)  # of the class of a callable instance
        return read_docstring(text)

    @cached_property
    def _adapter(self) -> "TypeAdapter[Any]":
        from pegboard.tools.signatures.function_schema import arguments_adapter

        return arguments_adapter(self.name, self._signature, self._docstring.parameters)

    @cached_property
    def _shown_schema(self) -> dict[str, Any]:
        from pegboard.tools.signatures.function_schema import arguments_schema

        return arguments_schema(self.name, self._signature, self._adapter)

    @cached_property
    def _output_adapter(self) -> "TypeAdapter[Any] | None":
        from pegboard.tools.signatures.function_schema import output_adapter

        return output_adapter(result_type(self._signature.returns))

    def _output_schema(self) -> dict[str, Any] | None:
        from pegboard.tools.signatures.function_schema import output_schema

        adapter = self._output_adapter
        return None if adapter is None else output_schema(adapter)

    @property
    def needs_context(self) -> bool:
        """Whether the function takes a `ToolContext`, or yields and so tells of its parts."""
        return bool(self._signature.context) or self._yields

    @property
    def is_async(self) -> bool:
        """Whether the function itself needs an event loop."""
        return is_async(self.function)

    @property
    def examples(self) -> tuple[dict[str, Any], ...]:
        """Of the spec, without building it."""
        return self._options.get("examples", ())

    @property
    def parameter_texts(self) -> dict[str, str]:
        """What a model may give, and what the docstring says of it; builds no schema."""
        texts = self._docstring.parameters
        return {item.name: texts.get(item.name, "") for item in self._signature.parameters}

    def __repr__(self) -> str:
        return f"FunctionTool({self.name!r})"


def _toolkit_of(function: Callable[..., Any]) -> str:
    """The class whose method it is; empty for none."""
    while isinstance(function, partial):
        function = function.func
    owner = getattr(function, "__self__", None)
    if owner is None or inspect.ismodule(owner):
        return ""
    return owner.__name__ if isinstance(owner, type) else type(owner).__name__


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it needs an event loop."""
    target = unwrap(function)
    return inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target)


def _binder(
    function: Callable[..., Any], signature: Signature
) -> Callable[[dict[str, Any], ToolContext[Any]], Any]:
    """How validated values become a call; the common case adds nothing.

    The values are the caller's: they stay as they are for the next attempt.
    """
    context, positional = signature.context, signature.positional
    if positional:
        return partial(_call_by_position, function, signature)
    if context:
        return lambda values, ctx: function(**values, **{context: ctx})
    return lambda values, _ctx: function(**values)


def _call_by_position(
    function: Callable[..., Any],
    signature: Signature,
    values: dict[str, Any],
    ctx: ToolContext[Any],
) -> Any:
    # what stands before a given positional argument has to be given too
    all_values = {item.name: item.default for item in signature.parameters if not item.required}
    all_values = {name: all_values[name] for name in signature.positional if name in all_values}
    all_values |= values
    if signature.context:
        all_values[signature.context] = ctx
    given = [all_values.pop(name) for name in signature.positional]
    return function(*given, **all_values)


async def _inline(call: Callable[..., Any], values: dict[str, Any], ctx: ToolContext[Any]) -> Any:
    value = call(values, ctx)
    return await value if inspect.iscoroutine(value) else value


async def _in_thread(
    name: str, call: Callable[..., Any], values: dict[str, Any], ctx: ToolContext[Any]
) -> Any:
    value = await POOL.run(lambda: call(values, ctx), owner=name)
    # a sync function around an async one gives what it would give
    return await value if inspect.iscoroutine(value) else value
