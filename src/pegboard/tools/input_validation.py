"""The validation of arguments without a call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.core.context import Arguments
from pegboard.errors import Problem, ToolArgumentError


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult:
    """Whether arguments fit a tool.

    Attributes:
        problems: What does not fit, and where; empty when they fit.
    """

    problems: tuple[Problem, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether a call with these arguments would reach the tool's own code."""
        return not self.problems


def check_arguments(
    read: Callable[[Arguments], Mapping[str, Any]], arguments: Arguments
) -> ValidationResult:
    """Validate arguments by what reads them for a call."""
    try:
        read(arguments)
    except ToolArgumentError as error:
        return ValidationResult(problems=error.problems)
    return ValidationResult()
