"""Requests and responses about quotas."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.ports.accounts.quota_store import Measure, Window
from pegboard.features.identity.quotas import MAX_LIMIT, QuotaView

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_ANSWER = ConfigDict(extra="forbid")

QuotaMeasure = Annotated[
    Measure,
    Field(description="`calls` of tools, or `cost` of language models in US dollars."),
]
QuotaWindow = Annotated[Window, Field(description="A calendar day or month in UTC.")]
QuotaPerson = Annotated[
    str,
    Field(
        max_length=254,
        description="A handle, of a service account too; empty for all of the organisation.",
    ),
]
QuotaOrganisation = Annotated[
    str,
    Field(
        max_length=12,
        description="A handle; with a person, only what this person uses on its behalf.",
    ),
]


class SetQuota(BaseModel):
    """A quota to set, of a person, an organisation, or a person in an organisation."""

    model_config = _CLOSED

    measure: QuotaMeasure
    window: QuotaWindow
    limit: Annotated[
        float | None,
        Field(
            ge=0,
            le=MAX_LIMIT,
            strict=True,
            description="Calls, or US dollars; null for no limit, in place of the default of the "
            "board file.",
        ),
    ]
    person: QuotaPerson = ""
    organisation: QuotaOrganisation = ""


class QuotaAnswer(BaseModel):
    """A quota, and what was used of it."""

    model_config = _ANSWER

    measure: QuotaMeasure
    window: QuotaWindow
    limit: Annotated[float | None, Field(description="Calls, or US dollars; null for no limit.")]
    used: Annotated[float, Field(description="What was used in this window.")]
    resets_at: Annotated[float, Field(description="When the next window begins, in Unix seconds.")]
    person: QuotaPerson
    organisation: QuotaOrganisation
    set_by: Annotated[
        Literal["operator", "administrator", "board"],
        Field(description="By which right it was set; `board` is a default of the board file."),
    ]
    changed_at: Annotated[float | None, Field(description="Unix seconds; null for a default.")]


class QuotaList(BaseModel):
    """The quotas that hold for you, and those that you may change."""

    model_config = _ANSWER

    quotas: list[QuotaAnswer]


def quotas_to_dict(views: Sequence[QuotaView]) -> dict[str, Any]:
    """Return a `QuotaList`."""
    return {"quotas": [quota_to_dict(view) for view in views]}


def quota_to_dict(view: QuotaView) -> dict[str, Any]:
    """Return a `QuotaAnswer`."""
    state = view.state
    quota = state.quota
    return {
        "measure": quota.measure,
        "window": quota.window,
        "limit": quota.limit,
        "used": round(state.used, 6),
        "resets_at": state.resets_at,
        "person": view.person,
        "organisation": quota.organisation,
        "set_by": "board" if state.is_default else quota.setter,
        "changed_at": None if state.is_default else quota.changed_at,
    }
