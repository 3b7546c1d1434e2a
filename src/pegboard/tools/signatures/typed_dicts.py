"""`typing.TypedDict` on Python 3.11, where pydantic takes only the one of `typing_extensions`.

The older class does not say which keys its bases require. Here the keys are read from the finished
class, so that nothing is lost.
"""

import sys
import types
import typing
from typing import Annotated, Any, Literal, NotRequired, Required, cast, get_args, get_origin

import typing_extensions

from pegboard.errors import ToolSignatureError

_ALTERED = (Required, NotRequired)


def accept_typed_dicts(hint: Any) -> Any:
    """The same type, with each `typing.TypedDict` in it replaced by an equal one that works.

    Raises:
        ToolSignatureError: One names a type that cannot be resolved.
    """
    return hint if sys.version_info >= (3, 12) else _replace(hint, {})


def _replace(hint: Any, made: dict[Any, Any]) -> Any:
    if isinstance(hint, type) and typing.is_typeddict(hint):
        is_old = type(hint).__module__ == "typing" and not getattr(hint, "__parameters__", ())
        return _convert(hint, made) if is_old else hint
    origin, inner = get_origin(hint), get_args(hint)
    if origin is None or origin is Literal or not inner:
        return hint
    replaced = tuple(_replace(item, made) for item in inner)
    if all(new is old for new, old in zip(replaced, inner, strict=True)):
        return hint
    if origin is Annotated:
        return Annotated[(replaced[0], *inner[1:])]
    if origin is types.UnionType:
        return typing.Union[replaced]  # noqa: UP007 - of a tuple
    copy: Any = getattr(hint, "copy_with", None)  # of `typing.List[...]` and its like
    return origin[replaced] if copy is None else copy(replaced)


def _convert(old: Any, made: dict[Any, Any]) -> Any:
    known = made.get(old)
    if known is not None:
        return known
    try:
        hints = typing.get_type_hints(old, include_extras=True)
    except NameError as error:
        raise ToolSignatureError(
            f"the TypedDict '{old.__name__}' names '{error.name}', which cannot be resolved; "
            "define or import it at module level, outside 'if TYPE_CHECKING:'"
        ) from error
    wraps = {name: Required if name in old.__required_keys__ else NotRequired for name in hints}
    fields = {name: wraps[name][Any] for name in hints}  # set below: they may name it
    new = cast("Any", typing_extensions.TypedDict)(old.__name__, fields)
    made[old] = new
    for name in ("__module__", "__qualname__", "__doc__", "__pydantic_config__"):
        if hasattr(old, name):
            setattr(new, name, getattr(old, name))
    for name, hint in hints.items():
        plain = get_args(hint)[0] if get_origin(hint) in _ALTERED else hint
        new.__annotations__[name] = wraps[name][_replace(plain, made)]
    return new
