"""What a key must have been made with for each use case of a service: the one place of this rule.

Scopes such as `people:write` are asked for by the services whose use cases they name.
"""

from collections.abc import Callable, Collection
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from pegboard.access.key_scopes import explain_missing_key_scope
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect
from pegboard.errors import AccessDenied

_Service = TypeVar("_Service", bound=type)


def limit_keys(
    subject: str, *, reads: Collection[str], free: Collection[str] = (), instead: str = ""
) -> Callable[[_Service], _Service]:
    """Class decorator of a service: which of its methods keys may call.

    A key needs `tools:write` for every public method that takes a `principal`, and `tools:read`
    for those that read. A new method is a change until it is named here.

    ```python
    @limit_keys("files", reads=("list", "find"))
    class Files: ...
    ```

    Args:
        subject: Named in the error.
        reads: The methods that read, or that check their effect themselves.
        free: The methods that need neither scope: they leave out what the caller may not read.
        instead: A scope that is enough to read.
    """

    def limit(service: _Service) -> _Service:
        for name, method in list(vars(service).items()):
            if name.startswith("_") or name in free or not _takes_principal(method):
                continue
            effect, enough = (Effect.READ, instead) if name in reads else (Effect.WRITE, "")
            setattr(service, name, _check_first(method, subject, effect, enough))
        return service

    return limit


def check_key(principal: Principal, subject: str, effect: Effect, *, instead: str = "") -> None:
    """Refuse a key that was made for less.

    Args:
        principal: The caller.
        subject: Named in the error.
        effect: Of what it wants to do.
        instead: A scope that is enough too.

    Raises:
        AccessDenied: The caller has sent such a key.
    """
    reason = explain_missing_key_scope(principal, effect)
    if reason and not (instead and principal.has_scope(instead)):
        raise AccessDenied(subject, reason)


def _takes_principal(method: object) -> bool:
    if not isinstance(method, FunctionType):
        return False
    code = method.__code__
    return "principal" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _check_first(method: Any, subject: str, effect: Effect, instead: str) -> Any:
    @wraps(method)
    def check_and_call(*args: Any, principal: Principal, **kwargs: Any) -> Any:
        check_key(principal, subject, effect, instead=instead)
        return method(*args, principal=principal, **kwargs)

    return check_and_call
