"""Describes what is wrong with a configuration that comes from no file."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_WORDS = {
    "int_parsing": "should be a whole number",
    "int_type": "should be a whole number",
    "float_parsing": "should be a number",
    "bool_parsing": "should be true or false",
}


def describe_fault(error: ValidationError) -> str:
    """The first fault of a configuration, with its place and without the value."""
    fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, fault["loc"]))
    return f"{place}: {word_fault(fault)}"


def word_fault(fault: ErrorDetails) -> str:
    """What is wrong with a value, without the value."""
    said = fault["msg"].removeprefix("Value error, ")
    if said.startswith("Input should be "):
        said = said.removeprefix("Input ")
    return _WORDS.get(fault["type"], said)
