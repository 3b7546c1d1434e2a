"""The errors behind the problem documents of a server, with their code, message and exit code."""

from collections.abc import Mapping
from typing import Any

from pegboard.core.result import ERROR_KINDS, restore_error
from pegboard.errors import (
    AccessDenied,
    ConfigError,
    InvalidRequest,
    PegboardError,
    SignInRefused,
    ToolFailed,
    Unavailable,
)

_UNAUTHENTICATED, _FORBIDDEN, _SERVER_ERROR = 401, 403, 500
_ACCOUNTS_NEEDED = "accounts_needed"
_RETRYABLE = frozenset({408, 429, 502, 503, 504})


def to_error(status: int, problem: Mapping[str, Any], *, url: str) -> PegboardError:
    """Make the error that a server answered with.

    It has the class, code, message and fields of the error in the server. A code without a class,
    such as `not_found`, has the class of its status.

    Args:
        status: The HTTP status.
        problem: The problem document; empty for an answer that is none.
        url: The address of the server, for messages.
    """
    code, detail = str(problem.get("code", "")), str(problem.get("detail", ""))
    if code == _ACCOUNTS_NEEDED:
        return ConfigError(
            f"The server at {url} has accounts: sign in with 'pegboard login --url {url}', or set "
            "PEGBOARD_TOKEN to the key of an account. If you cannot sign in, an operator makes a "
            "link for a new password with 'pegboard people link HANDLE'."
        )
    if status == _UNAUTHENTICATED and code != SignInRefused.code:
        return ConfigError(
            f"The server at {url} refuses the token, or got none. {detail} Set PEGBOARD_TOKEN to "
            "its token, or to the key of an account if it has accounts, for example "
            'PEGBOARD_TOKEN="$(cat FILE)"; it is no option, since other users can see the '
            "arguments of a process."
        )
    if not code:
        return Unavailable(f"{url} answered with status {status}, and not as Pegboard does.")
    kind = ERROR_KINDS.get(code) or _class_of_status(status)
    error = restore_error(kind, {**problem, "message": detail or code})
    if kind.code != code:
        setattr(error, "code", code)  # noqa: B010 - it belongs to the class elsewhere
    return error


def _class_of_status(status: int) -> type[PegboardError]:
    if status in _RETRYABLE:
        return Unavailable
    if status == _FORBIDDEN:
        return AccessDenied
    return InvalidRequest if status < _SERVER_ERROR else ToolFailed
