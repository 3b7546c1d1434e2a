"""What a group of exceptions is about when it holds a single one."""

from typing import cast


def unwrap_single_error(error: BaseException) -> BaseException:
    """The only error in a group, or in groups of one: a task group wraps even a lone one.

    An error that is no group, and a group of several, are given back as they are.
    """
    inner = error
    while isinstance(inner, BaseExceptionGroup):
        errors = cast("BaseExceptionGroup[BaseException]", inner).exceptions
        if len(errors) != 1:
            return error
        inner = errors[0]
    return inner
