"""The language models that callers may choose: the board's, and those of people they see."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pegboard.core.principal import Principal
from pegboard.errors import ModelNotConfigured

_MAX_NAMES = 20


def _have_none(_principal: Principal) -> "Sequence[ModelChoice]":
    return ()


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
        owned: Those that people have added and that a caller may see.
    """

    def __init__(
        self,
        read: Callable[[], Sequence[ModelChoice]],
        owned: Callable[[Principal], Sequence[ModelChoice]] = _have_none,
    ) -> None:
        self._read = read
        self._owned = owned

    def list(self, *, principal: Principal) -> list[dict[str, Any]]:
        """The models as data, without addresses and keys; the one for answers first."""
        return [
            {
                "name": choice.name,
                "title": choice.title,
                "provider": choice.provider,
                "role": choice.role,
            }
            for choice in self._read_for(principal)
        ]

    def is_name_of_board(self, name: str) -> bool:
        """Whether a model of the operator is chosen by this name."""
        return any(name == it.name or name in it.aliases for it in self._read())

    def resolve_name(self, name: str, *, principal: Principal) -> str:
        """The name of a chosen model as it is stored; empty for that of the agent.

        Raises:
            ModelNotConfigured: It cannot be chosen; names those that can.
        """
        choices = self._read_for(principal)
        if not name or any(name == it.name or name in it.aliases for it in choices):
            return name
        names = ", ".join(choice.name for choice in choices[:_MAX_NAMES])
        there = f"choose one of {names}" if names else "none is configured"
        raise ModelNotConfigured(f"There is no model '{name[:100]}' on this board; {there}.")

    def _read_for(self, principal: Principal) -> Sequence[ModelChoice]:
        board = self._read()
        taken = {name for choice in board for name in (choice.name, *choice.aliases)}
        return [*board, *(it for it in self._owned(principal) if it.name not in taken)]
