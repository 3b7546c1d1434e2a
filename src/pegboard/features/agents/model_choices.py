"""The language models that callers may choose: those that the operator has named, and no others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pegboard.errors import ModelNotConfigured

_MAX_NAMES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A language model of the board that a caller may choose.

    Attributes:
        name: By which it is chosen.
        title: For display.
        provider: Of its API; empty when it is not known.
        role: What the board uses it for by default; empty for nothing.
        aliases: Other names by which it is chosen.
    """

    name: str
    title: str
    provider: str = ""
    role: Literal["", "smart", "fast"] = ""
    aliases: tuple[str, ...] = ()


class ModelChoices:
    """The models that callers may choose.

    Args:
        read: The models there are now; called each time, so that a reload takes effect.
    """

    def __init__(self, read: Callable[[], Sequence[ModelChoice]]) -> None:
        self._read = read

    def list(self) -> list[dict[str, Any]]:
        """The models as data, without addresses and keys; the one for answers first."""
        return [
            {
                "name": choice.name,
                "title": choice.title,
                "provider": choice.provider,
                "role": choice.role,
            }
            for choice in self._read()
        ]

    def resolve_name(self, name: str) -> str:
        """The name of a chosen model as it is stored; empty for that of the agent.

        Raises:
            ModelNotConfigured: It cannot be chosen; names those that can.
        """
        choices = self._read()
        if not name or any(name == it.name or name in it.aliases for it in choices):
            return name
        names = ", ".join(choice.name for choice in choices[:_MAX_NAMES])
        there = f"choose one of {names}" if names else "none is configured"
        raise ModelNotConfigured(f"There is no model '{name[:100]}' on this board; {there}.")
