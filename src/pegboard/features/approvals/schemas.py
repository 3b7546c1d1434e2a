"""What is asked of approvals, and what is answered."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.ports.approval_store import Approval, ApprovalPage

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_TEXTS = ("version", "reason", "run_id", "node_id", "decided_by", "note", "call_id", "tenant")
_RARE_TIMES = ("decided_at", "expires_at", "used_at")
TIMES = ("created_at", *_RARE_TIMES)
"""The fields of an approval that are Unix seconds."""

Filter = Annotated[str, Field(max_length=200)]
State = Literal["pending", "approved", "denied", "edited", "expired", "used", "withdrawn"]


class ApprovalFilter(BaseModel):
    """Query of `GET /approvals`: filters that must all hold; empty means any."""

    model_config = _CLOSED

    state: Annotated[
        Literal["", "pending", "approved", "denied", "edited", "expired", "used", "withdrawn"],
        Field(description="What has become of it."),
    ] = ""
    tool: Annotated[Filter, Field(description="Its wire name.")] = ""
    principal: Annotated[Filter, Field(description="Whose call it is.")] = ""
    run_id: Annotated[Filter, Field(description="The run that waits for it.")] = ""
    limit: Annotated[int, Field(ge=1, le=1000, description="Approvals on a page.")] = 50
    cursor: Annotated[
        str, Field(max_length=200, description="`next_cursor` of the page before; empty at first.")
    ] = ""


class DecisionRequest(BaseModel):
    """The answer to an approval."""

    model_config = _CLOSED

    decision: Annotated[
        Literal["approve", "deny", "edit"],
        Field(description="`edit` approves the call with other arguments."),
    ]
    note: Annotated[str, Field(max_length=2000, description="For whoever made the call.")] = ""
    arguments: Annotated[
        dict[str, Any] | None,
        Field(description="All arguments as they shall be; only with `edit`."),
    ] = None


class ApprovalAnswer(BaseModel):
    """What a person is asked about one exact call; what says nothing is left out."""

    model_config = ConfigDict(extra="forbid")

    id: str
    state: State
    tool: str
    principal: Annotated[str, Field(description="Whose call it is.")]
    created_at: Annotated[float, Field(description="Unix seconds.")]
    digest: Annotated[str, Field(description="What it is good for, and nothing else.")]
    arguments: Annotated[Any, Field(description="Without secrets, long texts cut.")]
    version: str = ""
    tenant: str = ""
    reason: Annotated[str, Field(description="Why the policy asks.")] = ""
    run_id: str = ""
    node_id: str = ""
    decided_by: str = ""
    decided_at: float = 0
    note: str = ""
    edited: Annotated[Any, Field(description="What the approver wants instead.")] = None
    expires_at: float = 0
    used_at: float = 0
    call_id: Annotated[str, Field(description="The call that has used it.")] = ""


class ApprovalList(BaseModel):
    """One page of approvals, newest first."""

    model_config = ConfigDict(extra="forbid")

    approvals: list[ApprovalAnswer]
    next_cursor: Annotated[
        str | None, Field(description="For the next page; null when this was the last.")
    ]


def approval_to_dict(approval: Approval) -> dict[str, Any]:
    """As `ApprovalAnswer` describes it."""
    data: dict[str, Any] = {
        "id": approval.id,
        "state": approval.state,
        "tool": approval.tool,
        "principal": approval.principal,
        "created_at": approval.created_at,
        "digest": approval.digest,
        "arguments": approval.shown,
    }
    rare = {name: getattr(approval, name) for name in (*_TEXTS, *_RARE_TIMES, "edited")}
    return data | {name: value for name, value in rare.items() if value not in ("", None)}


def page_to_dict(page: ApprovalPage) -> dict[str, Any]:
    """As `ApprovalList` describes it."""
    return {
        "approvals": [approval_to_dict(item) for item in page.approvals],
        "next_cursor": page.next_cursor or None,
    }
