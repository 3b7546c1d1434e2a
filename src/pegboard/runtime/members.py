"""Words of a board file that stand for one of a few."""

from enum import Enum
from typing import TypeVar

from pegboard.errors import ConfigError

Member = TypeVar("Member", bound=Enum)


def member(kind: type[Member], value: str, where: str) -> Member:
    """The one that is written there.

    Raises:
        ConfigError: It is none of them; says which there are.
    """
    try:
        return kind(value)
    except ValueError as error:
        known = ", ".join(item.value for item in kind)
        raise ConfigError(f"{where}: '{value}' should be one of {known}") from error
