"""`@tool`: a function says that it is a tool, and stays a function."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, Unpack, cast, overload

from typing_extensions import TypedDict

from pegboard.core.export import openai_tool
from pegboard.core.tool import Effect, Limits, Retry, Status
from pegboard.errors import ToolSignatureError
from pegboard.tools.function import FunctionTool, is_async
from pegboard.tools.schema import check_types
from pegboard.tools.signature import read_signature, resolve_hints

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
MARK = "__pegboard_tool__"


class ToolOptions(TypedDict, total=False):
    """What an author may say of a tool; the fields of `ToolSpec`."""

    name: str
    title: str
    description: str
    category: str
    effect: Effect | str
    idempotent: bool
    cacheable: bool
    cache_ttl: float
    cache_per_principal: bool
    capabilities: tuple[str, ...] | list[str]
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
        ToolSignatureError: A variadic parameter, a required one without a type, or a type that
            cannot become a JSON Schema; names function and parameter.
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
    """What the decorator leaves on a function."""

    tool: FunctionTool
    options: dict[str, Any]
    inline: bool
    hints: dict[str, Any]


def mark_of(function: Any) -> Mark | None:
    """The decorator's mark on a function, method or partial; None when there is none."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, MARK, None)


class LazySpec(dict[str, Any]):  # noqa: PLW1641 - a dict has no hash
    """The OpenAI format of a tool, as a dict that fills itself when it is first read."""

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        super().__init__(type="function")
        self._make: Callable[[], Mapping[str, Any]] | None = make

    def _fill(self) -> "LazySpec":
        if self._make is not None:
            make, self._make = self._make, None
            self.update(make())
        return self

    def __getitem__(self, key: str) -> Any:
        return super(LazySpec, self._fill()).__getitem__(key)

    def __contains__(self, key: object) -> bool:
        return super(LazySpec, self._fill()).__contains__(key)

    def __iter__(self) -> Any:
        return super(LazySpec, self._fill()).__iter__()

    def __len__(self) -> int:
        return super(LazySpec, self._fill()).__len__()

    def __eq__(self, other: object) -> bool:
        return super(LazySpec, self._fill()).__eq__(other)

    def __repr__(self) -> str:
        return super(LazySpec, self._fill()).__repr__()

    def __reduce__(self) -> Any:
        return dict, (dict(self._fill().items()),)

    def get(self, key: str, default: Any = None, /) -> Any:
        """As of a dict."""
        return super(LazySpec, self._fill()).get(key, default)

    def keys(self) -> Any:
        """As of a dict."""
        return super(LazySpec, self._fill()).keys()

    def values(self) -> Any:
        """As of a dict."""
        return super(LazySpec, self._fill()).values()

    def items(self) -> Any:
        """As of a dict."""
        return super(LazySpec, self._fill()).items()

    def copy(self) -> dict[str, Any]:
        """A plain dict."""
        return dict(self._fill().items())


def _mark(function: Any, options: Mapping[str, Any], localns: Mapping[str, Any]) -> Any:
    if isinstance(function, (staticmethod, classmethod)):
        _mark(cast("Any", function).__func__, options, localns)
        return cast("Any", function)
    if not callable(function):
        raise ToolSignatureError(f"@tool needs a function, found {type(function).__name__}")
    inline = bool(options.get("inline", False))
    fields = _fields(function, options)
    hints = resolve_hints(function, localns=localns)
    signature = read_signature(function, hints=hints)
    made = FunctionTool(function, signature, options=fields, inline=inline)
    check_types(made.name, signature)
    function.__dict__[MARK] = Mark(tool=made, options=fields, inline=inline, hints=hints)
    function.__dict__["__tool_spec__"] = LazySpec(lambda: openai_tool(made.spec))
    function.__dict__["__tool_is_async__"] = is_async(function)
    return function


def _fields(function: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    fields = {key: value for key, value in options.items() if key != "inline"}
    unknown = fields.keys() - ToolOptions.__annotations__.keys()
    if unknown:
        known = ", ".join(sorted(ToolOptions.__annotations__))
        raise ToolSignatureError(f"@tool got unknown options {sorted(unknown)}; known are {known}")
    try:
        if "effect" in fields:
            fields["effect"] = Effect(fields["effect"])
        if "status" in fields:
            fields["status"] = Status(fields["status"])
    except ValueError as error:
        name = getattr(function, "__name__", "function")
        raise ToolSignatureError(f"@tool {name}(): {error}") from error
    for key in ("capabilities", "tags", "dependencies", "scopes"):
        if key in fields:
            fields[key] = tuple(fields[key])
    return fields
