"""Function signatures: the parameters that a model may give, with their types."""

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, cast, get_args, get_origin

from pegboard.core.context import ToolContext
from pegboard.errors import ToolSignatureError

MISSING: Any = inspect.Parameter.empty
_UNREADABLE = (NameError, AttributeError, SyntaxError, TypeError, ValueError, LookupError)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionParameter:
    """A parameter that the model may give.

    Attributes:
        hint: Its type, `Annotated` kept.
        default: What calling the function without it applies; `MISSING` when there is none, or
            when it is written as `Field(...)` and part of the hint.
        required: Whether a call must give it.
    """

    name: str
    hint: Any
    default: Any = MISSING
    required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The parameters and the return type of a function.

    Attributes:
        parameters: Without the injected context and what a partial has bound.
        context: The parameter that gets the `ToolContext`; empty for none.
        positional: Names that can only be given by position, in order, the context's included.
        returns: The return type; `MISSING` when there is no hint.
    """

    parameters: tuple[FunctionParameter, ...]
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
        ToolSignatureError: A variadic parameter, a required one without a type, two contexts, or a
            forward reference that cannot be resolved.
    """
    name = name_of(function)
    hints = resolve_hints(function, localns=localns) if hints is None else hints
    bound = _names_given_by_partial(function)
    parameters: list[FunctionParameter] = []
    positional: list[str] = []
    context = ""
    for index, item in enumerate(_parameters_of(function).values()):
        if item.name in bound or (index == 0 and is_self(function, item)):
            continue
        hint = _accept(name, f"parameter '{item.name}'", hints.get(item.name, MISSING))
        if _is_context(hint):
            if context:
                raise ToolSignatureError(
                    f"@tool {name}(): both '{context}' and '{item.name}' are a ToolContext; "
                    "a call has one"
                )
            context = item.name
        else:
            parameters.append(_parameter(name, item, hint))
        if item.kind is item.POSITIONAL_ONLY:
            positional.append(item.name)
    return Signature(
        parameters=tuple(parameters),
        context=context,
        positional=tuple(positional),
        returns=_accept(name, "the return type", hints.get("return", MISSING)),
    )


def _accept(function: str, place: str, hint: Any) -> Any:
    """The hint as pydantic takes it; a plain class needs no look inside."""
    if hint is MISSING or (isinstance(hint, type) and not typing.is_typeddict(hint)):
        return hint
    from pegboard.tools.signatures.typed_dicts import accept_typed_dicts

    try:
        return accept_typed_dicts(hint)
    except ToolSignatureError as error:
        raise ToolSignatureError(f"@tool {function}(): {place}: {error.message}") from error


def resolve_hints(
    function: Callable[..., Any], *, localns: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The types of the parameters and of the result, forward references resolved.

    Raises:
        ToolSignatureError: A name that cannot be resolved.
    """
    name = name_of(function)
    # what wraps a function has its annotations, which speak of the function's own module
    target = inspect.unwrap(unwrap(function))
    written = cast("dict[str, Any]", getattr(target, "__annotations__", {}))
    if all(hint is None or isinstance(hint, type) for hint in written.values()):
        return written
    module = sys.modules.get(getattr(target, "__module__", ""), None)
    globalns = getattr(target, "__globals__", None) or (vars(module) if module else {})
    if localns is globalns:
        localns = None
    names = None if localns is None else dict(localns)
    try:
        return typing.get_type_hints(target, globalns, names, include_extras=True)
    except NameError as error:
        raise ToolSignatureError(
            f"@tool {name}(): {_place_of(error.name, written)} names '{error.name}', which cannot "
            "be resolved; import it at module level, outside 'if TYPE_CHECKING:', or put @tool "
            "where the name is known"
        ) from error
    except _UNREADABLE as error:
        raise ToolSignatureError(f"@tool {name}(): a type hint cannot be read: {error}") from error


def name_of(function: Callable[..., Any]) -> str:
    """A name for whatever can be called."""
    if isinstance(function, partial):
        return name_of(function.func)
    name = getattr(function, "__name__", "")
    return name or _snake(type(function).__name__)


def target_of(function: Callable[..., Any]) -> str:
    """What identifies a function: `module:name`, which stays the same when its module is reloaded.

    A method of one object, a partial, a function inside of another and a function around another
    are followed by `#` and the identity of the object or of the function.
    """
    inner = inspect.unwrap(unwrap(function))
    name = f"{getattr(inner, '__module__', '')}:{getattr(inner, '__qualname__', '')}"
    if inner is function and "<locals>" not in name:
        return name
    return f"{name}#{id(getattr(function, '__self__', function))}"


def unwrap(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind partials, bound methods and callable instances."""
    while isinstance(function, partial):
        function = function.func
    if not (inspect.isroutine(function) or inspect.isclass(function)):
        function = type(function).__call__
    return getattr(function, "__func__", function)


def is_self(function: Callable[..., Any], item: inspect.Parameter) -> bool:
    """Whether this is the first parameter of a method that is not bound yet."""
    if item.name not in {"self", "cls"} or item.annotation is not MISSING:
        return False
    return "." in getattr(function, "__qualname__", "").rpartition("<locals>.")[2]


def is_field(value: Any) -> bool:
    """Whether this is a pydantic `Field(...)`, without loading what makes one."""
    fields = sys.modules.get("pydantic.fields")
    return fields is not None and isinstance(value, fields.FieldInfo)


def _parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError) as error:
        raise ToolSignatureError(
            f"@tool {name_of(function)}(): it has no signature to read; "
            "write a function around it, with type hints"
        ) from error


def _place_of(name: str | None, written: Mapping[str, Any]) -> str:
    for parameter, hint in written.items():
        if name and name in (hint if isinstance(hint, str) else repr(hint)):
            return "the return type" if parameter == "return" else f"parameter '{parameter}'"
    return "a type hint"


def _parameter(function: str, item: inspect.Parameter, hint: Any) -> FunctionParameter:
    where = f"@tool {function}(): parameter '{item.name}'"
    if item.kind in (item.VAR_POSITIONAL, item.VAR_KEYWORD):
        raise ToolSignatureError(
            f"{where} is variadic; a model needs named parameters: list them one by one"
        )
    default, required = item.default, item.default is MISSING
    if is_field(default):
        return _field_parameter(item.name, Any if hint is MISSING else hint, default)
    if hint is MISSING:
        if required:
            raise ToolSignatureError(f"{where} needs a type hint, as in '{item.name}: str'")
        hint = cast("Any", type(default)) if default is not None else Any
    if default is None:
        hint = _or_none(hint)
    return FunctionParameter(name=item.name, hint=hint, default=default, required=required)


def _field_parameter(name: str, hint: Any, field: Any) -> FunctionParameter:
    """A parameter written as `x: int = Field(...)`: pydantic applies what the field says."""
    if field.default is None:
        hint = _or_none(hint)
    return FunctionParameter(name=name, hint=Annotated[hint, field], required=field.is_required())


def _names_given_by_partial(function: Callable[..., Any]) -> frozenset[str]:
    """Keywords that a partial has fixed: they are not the model's to give."""
    if not isinstance(function, partial):
        return frozenset()
    return frozenset(cast("Mapping[str, Any]", function.keywords))


def _is_context(hint: Any) -> bool:
    """Whether a `ToolContext` belongs here, also as `ToolContext | None` or annotated."""
    origin = get_origin(hint)
    if origin in (Annotated, typing.Union, types.UnionType):
        return any(_is_context(item) for item in get_args(hint))
    kind = origin or hint
    return isinstance(kind, type) and issubclass(kind, ToolContext)


def _or_none(hint: Any) -> Any:
    """The type or None; what `Field` says of the parameter stays outside, where it is seen."""
    if _takes_none(hint):
        return hint
    if get_origin(hint) is not Annotated:
        return typing.Optional[hint]  # noqa: UP045 - not every hint knows `|`
    inner, *extras = get_args(hint)
    fields = tuple(item for item in extras if is_field(item))
    others = tuple(item for item in extras if not is_field(item))
    kept = Annotated[(inner, *others)] if others else inner
    optional = typing.Optional[kept]  # noqa: UP045 - not every hint knows `|`
    return Annotated[(optional, *fields)] if fields else optional


def _takes_none(hint: Any) -> bool:
    if hint is Any or hint is None or hint is type(None):
        return True
    if get_origin(hint) in (Annotated, typing.Union, types.UnionType):
        return any(_takes_none(item) for item in get_args(hint)[: _types_in(hint)])
    return None in get_args(hint) and get_origin(hint) is typing.Literal


def _types_in(hint: Any) -> int | None:
    """How many of a hint's arguments are types: the rest of `Annotated` is not."""
    return 1 if get_origin(hint) is Annotated else None


def _snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))
