"""Reading a function's signature: which parameters a model may give, and of what type."""

import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast, get_args, get_origin

from pydantic.fields import FieldInfo

from pegboard.core.context import ToolContext
from pegboard.errors import ToolSignatureError

MISSING: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter that the model gives.

    Attributes:
        hint: Its type, `Annotated` kept.
        default: `MISSING` when required.
    """

    name: str
    hint: Any
    default: Any = MISSING

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What a function takes and gives.

    Attributes:
        parameters: Without the injected context and what a partial has bound.
        context: The parameter that gets the `ToolContext`; empty for none.
        positional: Names that can only be given by position, in order.
        returns: The return type; `MISSING` when there is no hint.
    """

    parameters: tuple[Parameter, ...]
    context: str = ""
    positional: tuple[str, ...] = ()
    returns: Any = MISSING


def read_signature(
    function: Callable[..., Any],
    *,
    localns: Mapping[str, Any] | None = None,
    hints: Mapping[str, Any] | None = None,
) -> Signature:
    """Read and check a signature.

    Args:
        function: A function, bound method, partial or callable instance.
        localns: Names that annotations may refer to beside the function's globals.
        hints: The types by parameter name, when they were resolved before.

    Raises:
        ToolSignatureError: A variadic parameter, a required one without a type, or a forward
            reference that cannot be resolved.
    """
    name = name_of(function)
    hints = resolve_hints(function, localns=localns) if hints is None else hints
    bound = _bound_names(function)
    parameters: list[Parameter] = []
    positional: list[str] = []
    context = ""
    for index, item in enumerate(inspect.signature(function).parameters.values()):
        if item.name in bound or (index == 0 and _is_self(function, item)):
            continue
        hint = hints.get(item.name, MISSING)
        if _is_context(hint):
            context = item.name
            continue
        parameters.append(_parameter(name, item, hint))
        if item.kind is item.POSITIONAL_ONLY:
            positional.append(item.name)
    return Signature(
        parameters=tuple(parameters),
        context=context,
        positional=tuple(positional),
        returns=hints.get("return", MISSING),
    )


def resolve_hints(
    function: Callable[..., Any], *, localns: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The types of the parameters and of the result, forward references resolved.

    Raises:
        ToolSignatureError: A name that cannot be resolved.
    """
    name = name_of(function)
    target = unwrapped(function)
    module = sys.modules.get(getattr(target, "__module__", ""), None)
    globalns = getattr(target, "__globals__", None) or vars(module) if module else None
    try:
        return typing.get_type_hints(target, globalns, dict(localns or {}), include_extras=True)
    except NameError as error:
        raise ToolSignatureError(
            f"@tool {name}(): the type '{error.name}' cannot be resolved; import it at module "
            "level, outside 'if TYPE_CHECKING:'"
        ) from error
    except TypeError as error:
        raise ToolSignatureError(f"@tool {name}(): a type hint cannot be read: {error}") from error


def name_of(function: Callable[..., Any]) -> str:
    """A name for whatever can be called."""
    if isinstance(function, partial):
        return name_of(function.func)
    name = getattr(function, "__name__", "")
    return name or _snake(type(function).__name__)


def unwrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind partials, bound methods and callable instances."""
    while isinstance(function, partial):
        function = function.func
    if not (inspect.isroutine(function) or inspect.isclass(function)):
        function = type(function).__call__
    return getattr(function, "__func__", function)


def _parameter(function: str, item: inspect.Parameter, hint: Any) -> Parameter:
    where = f"@tool {function}(): parameter '{item.name}'"
    if item.kind in (item.VAR_POSITIONAL, item.VAR_KEYWORD):
        raise ToolSignatureError(
            f"{where} is variadic; a model needs named parameters: list them one by one"
        )
    default = item.default
    if isinstance(default, FieldInfo):
        hint = typing.Annotated[hint if hint is not MISSING else Any, default]
        default = (
            MISSING if default.is_required() else default.get_default(call_default_factory=True)
        )
    if hint is MISSING:
        if default is MISSING:
            raise ToolSignatureError(f"{where} needs a type hint, as in '{item.name}: str'")
        hint = cast("Any", type(default)) if default is not None else Any
    if default is None and not _takes_none(hint):
        hint = hint | None if _can_unite(hint) else typing.Optional[hint]  # noqa: UP045 - for hints without `|`
    return Parameter(name=item.name, hint=hint, default=default)


def _bound_names(function: Callable[..., Any]) -> frozenset[str]:
    """Keywords that a partial has fixed: they are not the model's to give."""
    if not isinstance(function, partial):
        return frozenset()
    return frozenset(cast("Mapping[str, Any]", function.keywords))


def _is_self(function: Callable[..., Any], item: inspect.Parameter) -> bool:
    """The first parameter of a method that is not bound yet."""
    if item.name not in {"self", "cls"} or item.annotation is not MISSING:
        return False
    return "." in getattr(function, "__qualname__", "").rpartition("<locals>.")[2]


def _is_context(hint: Any) -> bool:
    origin = get_origin(hint) or hint
    return isinstance(origin, type) and issubclass(origin, ToolContext)


def _takes_none(hint: Any) -> bool:
    if hint is Any or hint is None or hint is type(None):
        return True
    if get_origin(hint) is typing.Annotated:
        return _takes_none(get_args(hint)[0])
    return type(None) in get_args(hint) or any(
        _takes_none(item) for item in get_args(hint) if get_origin(item) is typing.Annotated
    )


def _can_unite(hint: Any) -> bool:
    return hasattr(cast("Any", type(hint)), "__or__")


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))
