"""Requests and responses about the audit trail."""

import json
from collections.abc import Iterable
from typing import Annotated, Any, Literal, cast

from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.ports.audit_store import AuditRecord, AuditReport

_CLOSED = ConfigDict(extra="forbid", frozen=True)


class AuditFilter(BaseModel):
    """Query of `GET /audit`."""

    model_config = _CLOSED

    after: Annotated[
        int, Field(ge=0, le=2**53, description="Only records after this sequence number.")
    ] = 0
    before: Annotated[
        int | None,
        Field(ge=0, le=2**53, description="Only records before this sequence number."),
    ] = None
    order: Annotated[
        Literal["oldest", "newest"], Field(description="Which records come first.")
    ] = "oldest"
    kind: Annotated[
        str,
        Field(max_length=100, description="For example `call`, `approval`, `policy` or `source`."),
    ] = ""
    limit: Annotated[int, Field(ge=1, le=1000, description="Records on a page.")] = 100


class AnchorFilter(BaseModel):
    """Query of `GET /audit/verify`."""

    model_config = _CLOSED

    anchor: Annotated[
        str,
        Field(
            pattern="^([0-9]{1,15}:[0-9a-f]{64})?$",
            description="`SEQUENCE:HASH`, noted elsewhere before.",
        ),
    ] = ""


class AuditRecordAnswer(BaseModel):
    """A record of the chain."""

    model_config = ConfigDict(extra="forbid")

    sequence: int
    at: Annotated[float, Field(description="Unix seconds.")]
    kind: str
    tenant: str
    body: Annotated[str, Field(description="The canonical JSON that was hashed.")]
    previous: Annotated[str, Field(description="Hash of the previous record.")]
    hash: str


class AuditList(BaseModel):
    """One page of the audit trail."""

    model_config = ConfigDict(extra="forbid")

    records: list[AuditRecordAnswer]
    next_after: Annotated[
        int | None,
        Field(description="`after` of the next page, oldest first; null when this was the last."),
    ]
    next_before: Annotated[
        int | None,
        Field(description="`before` of the next page, newest first; null when this was the last."),
    ]
    names: Annotated[dict[str, str], Field(description="Names of the people in it by their ids.")]
    handles: Annotated[
        dict[str, str],
        Field(description="Their handles by id; two people may have the same name."),
    ]


class AuditReportAnswer(BaseModel):
    """The result of verifying the chain."""

    model_config = ConfigDict(extra="forbid")

    intact: Annotated[
        bool, Field(description="Whether no record was changed, removed or reordered.")
    ]
    checked: int
    first: int
    last: int
    head: Annotated[str, Field(description="Hash of the newest record; note it elsewhere.")]
    fault: str = ""
    sequence: Annotated[
        int | None, Field(description="Sequence number of the first faulty record.")
    ] = None


def record_to_dict(record: AuditRecord) -> dict[str, Any]:
    """Return an `AuditRecordAnswer`."""
    return to_builtins(record)


def report_to_dict(report: AuditReport) -> dict[str, Any]:
    """Return an `AuditReportAnswer`."""
    return {"intact": report.is_intact, **to_builtins(report)}


def body_of(record: AuditRecord) -> dict[str, Any]:
    """Parse the body of a record; empty if it was tampered with."""
    try:
        body = json.loads(record.body)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", body) if isinstance(body, dict) else {}


def actors_of(records: Iterable[AuditRecord]) -> set[str]:
    """The ids of those who did what records say."""
    bodies = [body_of(record) for record in records]
    found = {body.get(name) for body in bodies for name in ("principal", "by")}
    return {item for item in found if isinstance(item, str) and item}


def anchor_of(text: str) -> tuple[int, str] | None:
    """Parse `SEQUENCE:HASH`; None for an empty text."""
    if not text:
        return None
    sequence, _, digest = text.partition(":")
    return int(sequence), digest
