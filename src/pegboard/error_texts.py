"""What several errors are made of: a problem of arguments, and names in messages."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with a call's arguments.

    Attributes:
        path: Where, as `items[2].price`; empty for the arguments as a whole.
        message: What was expected and what was found.
        kind: `missing`, `unknown`, `type`, `value` or `malformed`.
    """

    path: str
    message: str
    kind: str = "value"

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def shorten_name(name: str, most: int = 100) -> str:
    """Shorten a name from a caller so that it fits a message or a record."""
    return name if len(name) <= most else f"{name[:most]}…"


def hint_at(nearest: tuple[str, ...]) -> str:
    """The sentence that names the nearest ones; empty without any."""
    names = " or ".join(f"'{name}'" for name in nearest)
    return f" Did you mean {names}?" if nearest else ""
