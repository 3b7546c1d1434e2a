"""Describes what is wrong with a configuration that comes from no file."""

from pydantic import ValidationError


def describe_fault(error: ValidationError) -> str:
    """The first fault of a configuration, with its place and without the value."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, fault["loc"]))
    return f"{place}: {fault['msg'].removeprefix('Value error, ')}"
