"""Frozen facts that calls, runs and sources emit; logs, metrics, traces, history are listeners."""

from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from pegboard.core.principal import Principal
from pegboard.core.run_event import (
    NodeChanged,
    RunEnded,
    RunFinished,
    RunRested,
    RunStarted,
    StepEnded,
)


class CallStarted(Struct, frozen=True, kw_only=True):
    """A write or admin call is about to run. Without a `CallRecord` its outcome is unknown.

    Attributes:
        idempotency_key: By which the caller knows the call again.
        decision: What the policy said: `allow`, or `ask` when a person has approved.
        instead_of: The tool in whose place it is called; empty for none.
    """

    call_id: str
    tool: str
    version: str
    source: str
    principal: str
    tenant: str
    effect: str
    arguments_digest: str
    started_at: float
    run_id: str = ""
    parent_id: str = ""
    idempotency_key: str = ""
    decision: str = ""
    instead_of: str = ""


class CallRecord(Struct, frozen=True, kw_only=True):
    """What happened in one call: one shape for every kind of tool and every outcome.

    Attributes:
        started_at: Unix seconds.
        status: `completed`, `failed`, `denied`, `invalid`, `approval_needed`, `unavailable` or
            `cancelled`.
        decision: `allow`, `ask` or `deny`; empty when the call did not come that far.
        arguments: As they arrived; never written anywhere unless the operator says so, and then
            redacted.
        credential: The name of the credential that was used, never its value.
        error_detail: For the operator only: the foreign error's type, text and stack.
        instead_of: The tool in whose place it was called, as a fallback or a stand-in; empty for
            none.
    """

    call_id: str
    tool: str
    status: str
    started_at: float
    duration_ms: float
    principal: Principal
    version: str = ""
    source: str = ""
    effect: str = ""
    decision: str = ""
    reason: str = ""
    attempts: int = 0
    cached: bool = False
    replayed: bool = False
    truncated: bool = False
    bytes_in: int = 0
    bytes_out: int = 0
    error_code: str = ""
    error_id: str = ""
    error_message: str = ""
    error_detail: str = ""
    run_id: str = ""
    parent_id: str = ""
    handler: str = ""
    toolkit: str = ""
    credential: str = ""
    idempotency_key: str = ""
    instead_of: str = ""
    arguments: Any = None

    @property
    def arguments_digest(self) -> str:
        """SHA-256 of the canonical JSON of the arguments, in hex; the same for any key order."""
        return digest_of(self.arguments)


class SourceChanged(Struct, frozen=True, kw_only=True):
    """A source was listed, or could not be; told each time, whether its tools changed or not.

    Attributes:
        status: `ok`, `degraded` (the last known tools stay) or `failed`.
        tools: How many it has now.
        reason: Why it is not `ok`.
        stack: Where in foreign code it failed, for the operator's log alone: it may hold anything.
    """

    source: str
    status: str
    tools: int = 0
    reason: str = ""
    stack: str = ""


class ApprovalChanged(Struct, frozen=True, kw_only=True):
    """A person is asked about a call, or what was asked is in another state.

    Attributes:
        state: One of `ApprovalState`: `pending` when it is asked, then what became of it.
        at: Unix seconds.
        digest: Of the call that it is good for; of the edited one when it was edited.
        by: Who has decided.
        call_id: The call that has used it.
    """

    approval_id: str
    state: str
    at: float
    tool: str
    digest: str
    principal: str
    tenant: str = ""
    version: str = ""
    reason: str = ""
    by: str = ""
    note: str = ""
    run_id: str = ""
    call_id: str = ""


class BoardChanged(Struct, frozen=True, kw_only=True):
    """Somebody has changed what the board is or allows.

    Attributes:
        kind: `policy`, `switch`, `catalogue`, ...
        action: What was done: `changed`, `turned_off`, `registered`, ...
        at: Unix seconds.
        subject: To what, as the name of a tool; empty for all of it.
        by: Who did it; empty for the operator, by file or by code.
        detail: More, as JSON-compatible data; never a secret.
    """

    kind: str
    action: str
    at: float
    subject: str = ""
    by: str = ""
    tenant: str = ""
    detail: Mapping[str, Any] = {}


Event = (
    CallStarted
    | CallRecord
    | SourceChanged
    | ApprovalChanged
    | BoardChanged
    | RunStarted
    | NodeChanged
    | RunRested
    | RunFinished
    | StepEnded
    | RunEnded
)

_WITHHELD = frozenset({"principal", "arguments", "error_detail"})
_SHOWN = tuple(name for name in CallRecord.__struct_fields__ if name not in _WITHHELD)


def record_to_dict(record: CallRecord, *, digest: str | None = None) -> dict[str, Any]:
    """The record as JSON-compatible data, the same in history, logs and answers.

    The principal stands as its id and tenant, the arguments as their digest; the operator's detail
    is left out.

    Args:
        record: What happened.
        digest: The arguments' digest where it is known already; None computes it.
    """
    data = {name: getattr(record, name) for name in _SHOWN}
    data["duration_ms"] = round(record.duration_ms, 3)
    data["principal"] = record.principal.id
    data["tenant"] = record.principal.tenant
    data["arguments_digest"] = record.arguments_digest if digest is None else digest
    return data


def digest_of(arguments: Any) -> str:
    """SHA-256 in hex of the arguments' canonical JSON: sorted keys, no white space, UTF-8.

    Text that is not JSON is digested as it stands.
    """
    from hashlib import sha256

    from msgspec import DecodeError, json

    if isinstance(arguments, (str, bytes, bytearray)):
        raw = (
            arguments.encode("utf-8", "surrogatepass")
            if isinstance(arguments, str)
            else bytes(arguments)
        )
        try:
            arguments = json.decode(raw) if raw else {}
        except (DecodeError, UnicodeDecodeError):
            return sha256(raw).hexdigest()
    elif arguments is None:
        arguments = {}
    return sha256(_canonical(arguments)).hexdigest()


def _canonical(arguments: Mapping[str, Any]) -> bytes:
    import json

    def dumped(value: Any) -> str:
        return json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain
        )

    try:
        text = dumped(arguments)
    except TypeError:  # keys of several types have no order before they are text
        text = dumped(json.loads(json.dumps(arguments, default=_plain)))
    return text.encode("utf-8", "surrogatepass")


def _plain(value: Any) -> Any:
    return dict(cast("Mapping[Any, Any]", value)) if isinstance(value, Mapping) else str(value)
