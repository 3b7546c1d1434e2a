"""`@tool`: mark a function as a tool; it stays a function."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, Unpack, cast, overload

from pegboard.core.provider_formats import openai_tool
from pegboard.errors import ToolSignatureError
from pegboard.tools.function_tool import FunctionTool, is_async
from pegboard.tools.signatures.signature import (
    Signature,
    name_of,
    read_signature,
    resolve_hints,
    unwrap,
)
from pegboard.tools.signatures.type_hints import is_plain, public_name
from pegboard.tools.tool_options import ToolOptions, read_options

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
MARK = "__pegboard_tool__"


@overload
def tool(function: AnyFunction, /) -> AnyFunction: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[AnyFunction], AnyFunction]: ...
def tool(function: Any = None, /, **options: Unpack[ToolOptions]) -> Any:
    """Make a function a tool; calling it still calls it.

    ```python
    @tool(effect="read", timeout=5)
    def letter_counter(word: str, letter: str) -> int:
        \"\"\"Count occurrences of a letter in a word.\"\"\"
        return word.lower().count(letter.lower())
    ```

    The function carries `__tool_spec__` (the OpenAI format, built on first reading) and
    `__tool_is_async__`.

    Args:
        function: What becomes a tool, when used without arguments.
        **options: The fields of `ToolSpec`, and `inline`.

    Raises:
        ToolSignatureError: A variadic parameter, a required one without a type, a type that cannot
            become a JSON Schema, or a wrong option; names function and parameter.
    """
    frame = inspect.currentframe()
    # annotations may name what is local to the caller
    localns = frame.f_back.f_locals if frame and frame.f_back else {}
    if function is None:

        def decorate(inner: Any) -> Any:
            return _mark(inner, options, localns)

        return decorate
    return _mark(function, options, localns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The mark of the decorator on a function."""

    tool: FunctionTool
    options: dict[str, Any]
    hints: dict[str, Any]


def mark_of(function: Any) -> Mark | None:
    """The decorator's mark on a function, method, partial or instance; None for none."""
    while True:
        mark = getattr(function, MARK, None)
        if mark is not None or not isinstance(function, partial):
            break
        function = cast("partial[Any]", function).func
    return mark if isinstance(mark, Mark) else getattr(unwrap(function), MARK, None)


def validate_types(function: str, signature: Signature) -> Signature:
    """Check that each parameter type has a JSON Schema, and return the signature.

    Raises:
        ToolSignatureError: A type that cannot, or two parameters that are shown under one name.
    """
    names: dict[str, str] = {}
    for item in signature.parameters:
        first = names.setdefault(public_name(item), item.name)
        if first != item.name:
            raise ToolSignatureError(
                f"@tool {function}(): both '{first}' and '{item.name}' are shown as "
                f"'{public_name(item)}'; give one another alias"
            )
    if not all(is_plain(item.hint) for item in signature.parameters):
        from pegboard.tools.signatures.function_schema import check_types

        check_types(function, signature)
    return signature


def _mark(function: Any, options: Mapping[str, Any], localns: Mapping[str, Any]) -> Any:
    if isinstance(function, (staticmethod, classmethod)):
        _mark(cast("Any", function).__func__, options, localns)
        return cast("Any", function)
    if inspect.isclass(function) or not callable(function):
        raise ToolSignatureError(f"@tool needs a function, found {function!r}")
    name = name_of(function)
    fields = read_options(name, options)
    hints = resolve_hints(function, localns=localns)
    signature = validate_types(name, read_signature(function, hints=hints))
    made = FunctionTool(function, signature, options=fields)
    try:
        carried = function.__dict__
    except AttributeError as error:
        raise ToolSignatureError(
            f"@tool {name}(): it cannot carry attributes; write a function around it"
        ) from error
    carried[MARK] = Mark(tool=made, options=fields, hints=hints)
    carried["__tool_spec__"] = LazySpec(lambda: openai_tool(made.spec))
    carried["__tool_is_async__"] = is_async(function)
    return function


def _reading(name: str) -> Any:
    """A method of dict that fills the spec before it looks."""
    inherited = getattr(dict, name)

    def method(self: "LazySpec", *args: Any, **kwargs: Any) -> Any:
        self.fill()
        return inherited(self, *args, **kwargs)

    method.__name__, method.__doc__ = name, inherited.__doc__
    return method


class LazySpec(dict[str, Any]):  # noqa: PLW1641 - a dict has no hash
    """The OpenAI format of a tool, as a dict that fills itself when it is first read.

    It is a dict to everything that asks it for its items, `json.dumps` and `dict(...)` included.
    Encoders written in C that look into a dict's memory (pydantic, msgspec, orjson) see what is
    there: read it first, or give them `dict(spec)`.
    """

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        super().__init__(type="function")
        self._make: Callable[[], Mapping[str, Any]] | None = make

    def fill(self) -> None:
        """Build it now; a second time does nothing."""
        if self._make is not None:
            made = self._make()  # two threads may both make it: they make the same
            super().update(made)
            self._make = None

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def copy(self) -> dict[str, Any]:
        """A plain dict."""
        return dict(self)

    __getitem__ = _reading("__getitem__")
    __setitem__ = _reading("__setitem__")
    __delitem__ = _reading("__delitem__")
    __contains__ = _reading("__contains__")
    __iter__ = _reading("__iter__")
    __reversed__ = _reading("__reversed__")
    __len__ = _reading("__len__")
    __eq__ = _reading("__eq__")
    __ne__ = _reading("__ne__")
    __or__ = _reading("__or__")
    __ror__ = _reading("__ror__")
    __ior__ = _reading("__ior__")
    __repr__ = _reading("__repr__")
    get = _reading("get")
    keys = _reading("keys")
    values = _reading("values")
    items = _reading("items")
    pop = _reading("pop")
    popitem = _reading("popitem")
    setdefault = _reading("setdefault")
    update = _reading("update")
    clear = _reading("clear")
