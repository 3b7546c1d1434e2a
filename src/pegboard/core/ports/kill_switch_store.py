"""The kill switch store port: what is turned off, for all servers and across restarts."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

SwitchKind = Literal["tool", "source", "writes"]


class Switch(Struct, frozen=True, kw_only=True):
    """An active kill switch.

    Attributes:
        kind: What it turns off: tools by name, a source, or all writes.
        name: A tool's name or a glob over names, or a source's name; empty for `writes`.
        reason: Shown to refused callers.
        at: Unix seconds.
        by: The caller, as `tenant/principal`; empty for the program itself.
    """

    kind: SwitchKind
    name: str
    reason: str
    at: float
    by: str = ""


class SwitchStore(Protocol):
    """Stores the active kill switches."""

    async def put(self, switch: Switch) -> None:
        """Activate a switch; an active one gets the new reason.

        Raises:
            Unavailable: The switch could not be stored.
        """
        ...

    async def remove(self, kind: SwitchKind, name: str) -> bool:
        """Deactivate a switch; False when it was not active.

        Raises:
            Unavailable: The switch could not be stored.
        """
        ...

    async def switches(self) -> Sequence[Switch]:
        """The active switches, by kind and name.

        Raises:
            Unavailable: The switches cannot be read.
        """
        ...
