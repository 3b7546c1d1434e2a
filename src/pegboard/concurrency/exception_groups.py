"""Unwrapping of exception groups with a single error."""

from typing import cast


def unwrap_single_error(error: BaseException) -> BaseException:
    """The only error of a group, or of nested groups; task groups wrap even a single error.

    Other errors, and groups of several, are returned unchanged.
    """
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        errors = cast("BaseExceptionGroup[BaseException]", inner).exceptions
        if len(errors) != 1:
            return error
        inner = errors[0]
    return inner
