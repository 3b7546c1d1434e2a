"""What people have turned off, kept so that every server knows it and a restart changes nothing."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

SwitchKind = Literal["tool", "source", "writes"]


class Switch(Struct, frozen=True, kw_only=True):
    """A kill switch that is thrown.

    Attributes:
        kind: What it turns off: tools by name, a source, or whatever may change something.
        name: A tool's name or a glob over names, or a source's name; empty for `writes`.
        reason: Shown to whoever is refused.
        at: Unix seconds.
        by: Who has thrown it: `tenant/principal`; empty for a program itself.
    """

    kind: SwitchKind
    name: str
    reason: str
    at: float
    by: str = ""


class SwitchStore(Protocol):
    """Keeps which switches are thrown, each once."""

    async def put(self, switch: Switch) -> None:
        """Throw it; one that is thrown already gets the new reason.

        Raises:
            Unavailable: It could not be stored.
        """
        ...

    async def remove(self, kind: SwitchKind, name: str) -> bool:
        """Take it back; False when it was not thrown.

        Raises:
            Unavailable: It could not be stored.
        """
        ...

    async def switches(self) -> Sequence[Switch]:
        """Those that are thrown, by kind and name.

        Raises:
            Unavailable: They cannot be read.
        """
        ...
