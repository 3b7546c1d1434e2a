"""The quota store port: how much accounts and organisations may use, and what they have used."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

Measure = Literal["calls", "cost"]
"""Calls of tools, and US dollars of language models whose price is known."""
Window = Literal["day", "month"]
"""A calendar day or month in UTC."""
QuotaSetter = Literal["operator", "administrator"]


class Quota(Struct, frozen=True, kw_only=True):
    """How much may be used in a window.

    Attributes:
        limit: None for no limit, in place of the default of the board file.
        person: The id of an account, of a service account too; empty for all of the organisation.
        organisation: Its handle; with a person, what this person uses on its behalf alone. Empty
            for all that a person uses.
        setter: By which right it was set: that of operators, or of administrators.
        changed_at: Unix seconds.
        changed_by: The id of a user.
    """

    measure: Measure
    window: Window
    limit: float | None
    person: str = ""
    organisation: str = ""
    setter: QuotaSetter = "operator"
    changed_at: float = 0.0
    changed_by: str = ""

    @property
    def key(self) -> str:
        """Unique among quotas."""
        return f"{self.person} {self.organisation} {self.setter} {self.measure} {self.window}"


class QuotaUsage(Struct, frozen=True, kw_only=True):
    """What was used in one window.

    Attributes:
        counter: Names the account or organisation, the measure and the window.
        ends_at: The end of the window, in Unix seconds.
    """

    counter: str
    used: float
    ends_at: float


class QuotaStore(Protocol):
    """Stores quotas and what was used. Each method raises `Unavailable` when it cannot."""

    async def quotas(self) -> Sequence[Quota]:
        """All quotas, by key."""
        ...

    async def stamp(self) -> str:
        """Another text whenever a quota was changed."""
        ...

    async def put(self, quota: Quota) -> None:
        """Store a quota, in place of that with the same key."""
        ...

    async def remove(self, key: str) -> bool:
        """Remove a quota; whether there was one."""
        ...

    async def add(self, usages: Sequence[QuotaUsage]) -> dict[str, float]:
        """Add to what was used, in one transaction; returns what these counters have then."""
        ...

    async def usage(self, *, at: float) -> Sequence[QuotaUsage]:
        """What was used in all windows that have not ended."""
        ...

    async def read_counters(self, counters: Sequence[str]) -> dict[str, float]:
        """What these counters have; one that was never added to is left out."""
        ...
