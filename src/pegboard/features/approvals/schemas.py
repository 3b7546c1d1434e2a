"""Requests and responses about approvals."""

from typing import Annotated, Any, Literal

from msgspec import to_builtins
from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.argument_origin import Origin
from pegboard.core.ports.approval_store import Approval, ApprovalPage
from pegboard.core.ports.taint_store import TaintKind
from pegboard.features.approvals.grants import Scope

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_TEXTS = (
    "version",
    "reason",
    "run_id",
    "node_id",
    "decided_by",
    "note",
    "call_id",
    "tenant",
    "grant",
    "source",
    "credential",
    "by",
)
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
        Field(description="Its state."),
    ] = ""
    tool: Annotated[Filter, Field(description="Wire name of the tool.")] = ""
    principal: Annotated[Filter, Field(description="The caller of the tool.")] = ""
    run_id: Annotated[Filter, Field(description="The run that waits for it.")] = ""
    limit: Annotated[int, Field(ge=1, le=1000, description="Approvals on a page.")] = 50
    cursor: Annotated[
        str, Field(max_length=200, description="`next_cursor` of the page before; empty at first.")
    ] = ""


class DecisionRequest(BaseModel):
    """A decision about an approval."""

    model_config = _CLOSED

    decision: Annotated[
        Literal["approve", "deny", "edit"],
        Field(description="`edit` approves the call with other arguments."),
    ]
    note: Annotated[str, Field(max_length=2000, description="Shown to the caller of the tool.")] = (
        ""
    )
    arguments: Annotated[
        dict[str, Any] | None,
        Field(description="The complete new arguments; only with `edit`."),
    ] = None
    scope: Annotated[
        Scope,
        Field(
            description="With `approve`, one of the `scopes` of the approval: this call; or, for "
            "the rest of the conversation, calls with these arguments, or any of this tool."
        ),
    ] = "once"


class ApprovalDecision(DecisionRequest):
    """A decision about one of several approvals."""

    approval: Annotated[str, Field(min_length=1, max_length=128, description="Its id.")]


class DecisionList(BaseModel):
    """Decisions about several approvals, each by itself."""

    model_config = _CLOSED

    decisions: Annotated[list[ApprovalDecision], Field(min_length=1, max_length=100)]


class UntrustedTextAnswer(BaseModel):
    """What first brought untrusted text into a run or a conversation."""

    model_config = ConfigDict(extra="forbid")

    call_id: str
    tool: Annotated[str, Field(description="Of a description, `skill` or `agent` and the name.")]
    source: Annotated[str, Field(description="Of the tool; else the name of the skill or agent.")]
    kind: Annotated[
        TaintKind,
        Field(
            description="`call`: the result of the tool; `skill`, `agent`: the description of one "
            "of another person, which the model was shown; `author`: the instructions of another "
            "person's agent, which has answered."
        ),
    ] = "call"
    at: Annotated[float, Field(description="Unix seconds.")]


class ArgumentOriginAnswer(BaseModel):
    """Where an argument of a call comes from, in a run that has read untrusted text."""

    model_config = ConfigDict(extra="forbid")

    argument: Annotated[str, Field(description="Its path, as `recipients[0]`.")]
    origin: Annotated[
        Origin,
        Field(
            description="`caller`: a message of the caller; `write`: the result of a write of this "
            "run; `result`: a whole value of another result; `text`: a part of untrusted text; "
            "`unknown`: none of these."
        ),
    ]
    call_id: Annotated[str, Field(description="The call whose result it comes from.")] = ""
    tool: Annotated[str, Field(description="The tool of that call.")] = ""
    is_named: Annotated[
        bool, Field(description="Whether the caller has named it, so that it is no reason to ask.")
    ]


Handle = Annotated[
    str, Field(description="Its handle: two people may have the same name, and never this.")
]


class ApprovalAnswer(BaseModel):
    """An approval of one exact call, without empty fields."""

    model_config = ConfigDict(extra="forbid")

    id: str
    state: State
    tool: str
    principal: Annotated[str, Field(description="The caller of the tool.")]
    principal_name: Annotated[str, Field(description="Its name, where it has an account.")] = ""
    principal_handle: Handle = ""
    created_at: Annotated[float, Field(description="Unix seconds.")]
    digest: Annotated[str, Field(description="Digest of the call that it approves.")]
    arguments: Annotated[Any, Field(description="Secrets masked, long texts truncated.")]
    kind: Annotated[
        Literal["call", "connection"],
        Field(description="`connection`: the caller has to connect an account; no one decides."),
    ] = "call"
    source: Annotated[str, Field(description="The source of that account.")] = ""
    link: Annotated[
        str, Field(description="Where you connect that account, if the call is yours.")
    ] = ""
    credential: Annotated[
        str, Field(description="The account of a caller that the call acts with.")
    ] = ""
    version: str = ""
    tenant: str = ""
    reason: Annotated[str, Field(description="Why the policy requires it.")] = ""
    run_id: str = ""
    node_id: str = ""
    title: Annotated[str, Field(description="The title of the tool.")] = ""
    conversation: Annotated[
        str, Field(description="The conversation in which the call is made, if you may see it.")
    ] = ""
    conversation_title: str = ""
    decided_by: str = ""
    decided_by_name: Annotated[str, Field(description="Its name, where it has an account.")] = ""
    decided_by_handle: Handle = ""
    decided_at: float = 0
    note: str = ""
    edited: Annotated[Any, Field(description="The arguments set by the approver.")] = None
    expires_at: float = 0
    used_at: float = 0
    call_id: Annotated[str, Field(description="The call that used it.")] = ""
    grant: Annotated[
        str, Field(description="The standing approval of the conversation that has approved it.")
    ] = ""
    untrusted: Annotated[
        UntrustedTextAnswer | None,
        Field(description="What the run had read before; absent for nothing untrusted."),
    ] = None
    origins: Annotated[
        list[ArgumentOriginAnswer],
        Field(description="Where its arguments come from, where that is why it is asked about."),
    ] = []
    by: Annotated[
        Literal["", "other"],
        Field(description="`other`: not those who asked for the call may decide it."),
    ] = ""
    scopes: Annotated[
        list[Scope], Field(description="What you may approve it for, while it is pending.")
    ] = []


class DecisionAnswer(BaseModel):
    """What became of one of several decisions: `approval`, or the `problem`."""

    model_config = ConfigDict(extra="forbid")

    id: str
    approval: ApprovalAnswer | None
    problem: Annotated[
        dict[str, Any] | None, Field(description="As a problem document, with its `status`.")
    ]


class DecisionListAnswer(BaseModel):
    """What became of several decisions, in their order."""

    model_config = ConfigDict(extra="forbid")

    results: list[DecisionAnswer]


class ApprovalList(BaseModel):
    """One page of approvals, newest first."""

    model_config = ConfigDict(extra="forbid")

    approvals: list[ApprovalAnswer]
    next_cursor: Annotated[
        str | None, Field(description="For the next page; null when this was the last.")
    ]


def approval_to_dict(approval: Approval) -> dict[str, Any]:
    """Return an `ApprovalAnswer`."""
    data: dict[str, Any] = {
        "id": approval.id,
        "state": approval.state,
        "tool": approval.tool,
        "principal": approval.principal,
        "created_at": approval.created_at,
        "digest": approval.digest,
        "arguments": approval.shown,
        "kind": approval.kind,
    }
    if approval.taint is not None:
        data["untrusted"] = to_builtins(approval.taint)
    if approval.origins:
        data["origins"] = to_builtins(approval.origins)
    rare = {name: getattr(approval, name) for name in (*_TEXTS, *_RARE_TIMES, "edited")}
    return data | {name: value for name, value in rare.items() if value not in ("", None)}


def page_to_dict(page: ApprovalPage) -> dict[str, Any]:
    """Return an `ApprovalList`."""
    return {
        "approvals": [approval_to_dict(item) for item in page.approvals],
        "next_cursor": page.next_cursor or None,
    }
