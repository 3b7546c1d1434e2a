"""The `quotas` section of `board.yaml`: the quotas of those for whom operators have set none."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_STRICT = ConfigDict(frozen=True, extra="forbid")
_MAX = 1_000_000_000_000

Calls = Annotated[int | None, Field(ge=0, le=_MAX)]
Dollars = Annotated[float | None, Field(ge=0, le=_MAX)]


class QuotaEntry(BaseModel):
    """How much may be used; nothing means no limit. Days and months are those of UTC."""

    model_config = _STRICT

    calls_per_day: Annotated[Calls, Field(description="Calls of tools.")] = None
    calls_per_month: Annotated[Calls, Field(description="Calls of tools.")] = None
    cost_per_day: Annotated[
        Dollars, Field(description="US dollars for language models whose price is known.")
    ] = None
    cost_per_month: Annotated[
        Dollars, Field(description="US dollars for language models whose price is known.")
    ] = None


class QuotasEntry(BaseModel):
    """The default quotas of a board with accounts."""

    model_config = _STRICT

    person: Annotated[QuotaEntry, Field(description="Of each person.")] = QuotaEntry()
    service: Annotated[QuotaEntry, Field(description="Of each service account.")] = QuotaEntry()
    organisation: Annotated[QuotaEntry, Field(description="Of each organisation.")] = QuotaEntry()
