"""Events of calls, runs, sources and the board; logs, metrics, traces and history are listeners."""

from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from pegboard.core.principal import Principal
from pegboard.core.run_event import (
    NodeChanged,
    NodeReported,
    RunEnded,
    RunErrorNoted,
    RunFinished,
    RunRested,
    RunStarted,
    StepEnded,
)


class CallStarted(Struct, frozen=True, kw_only=True):
    """A write or admin call is about to run. Without a `CallRecord` its outcome is unknown.

    Attributes:
        idempotency_key: The key that the caller sent.
        decision: `allow`, or `ask` when a person has approved.
        instead_of: The tool that it substitutes; empty for none.
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
    handler: str = ""
    run_id: str = ""
    parent_id: str = ""
    idempotency_key: str = ""
    decision: str = ""
    instead_of: str = ""


class CallRecord(Struct, frozen=True, kw_only=True):
    """The record of one call, the same for every kind of tool and every outcome.

    Attributes:
        started_at: Unix seconds.
        status: `completed`, `failed`, `denied`, `invalid`, `approval_needed`, `unavailable` or
            `cancelled`.
        decision: `allow`, `ask` or `deny`; empty when the call failed before.
        arguments: As they arrived; written only where the operator configures it, and then
            redacted.
        toolkit: The class whose method the tool is; empty for none.
        model: The language model that took part; empty for none.
        tokens: That it used, input and output together; None for no model.
        cached_tokens: Of these, the ones that the provider read from its cache.
        cost: In US dollars; None where a price is not known.
        credential: The name of the credential that was used, never its value.
        about_caller: Whether its error says nothing about other callers of the tool.
        untrusted: Whether the result may contain text of people whom the operator does not trust.
        error_detail: For the operator only: type, text and stack of the foreign error.
        instead_of: The tool that it replaced, as a fallback or a substitute; empty for none.
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
    handler: str = ""
    decision: str = ""
    reason: str = ""
    attempts: int = 1
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
    toolkit: str = ""
    credential: str = ""
    idempotency_key: str = ""
    instead_of: str = ""
    model: str = ""
    tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    untrusted: bool = False
    about_caller: bool = False
    arguments: Any = None

    @property
    def arguments_digest(self) -> str:
        """SHA-256 of the canonical JSON of the arguments, in hex; the same for any key order."""
        return digest_of(self.arguments)


class SourceChanged(Struct, frozen=True, kw_only=True):
    """A source was listed, or could not be; emitted each time, even without a change.

    Attributes:
        status: `ok`, `degraded` (the last known tools stay) or `failed`.
        tools: The number of its tools.
        reason: Why it is not `ok`.
        stack: The stack of the foreign error, for the operator's log only.
    """

    source: str
    status: str
    tools: int = 0
    reason: str = ""
    stack: str = ""


class ApprovalChanged(Struct, frozen=True, kw_only=True):
    """An approval was requested, or has changed its state.

    Attributes:
        state: One of `ApprovalState`; `pending` when it is requested.
        at: Unix seconds.
        digest: Of the call that it allows; of the edited call when it was edited.
        by: The caller who decided.
        call_id: The call that used it.
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
    """The configuration, policy or catalogue of the board has changed.

    Attributes:
        kind: `policy`, `switch`, `catalogue`, ...
        action: `changed`, `turned_off`, `registered`, ...
        at: Unix seconds.
        subject: The changed thing, as the name of a tool; empty for all of the kind.
        by: The caller; empty for the operator, by file or by code.
        detail: JSON-compatible data; never a secret.
    """

    kind: str
    action: str
    at: float
    subject: str = ""
    by: str = ""
    tenant: str = ""
    detail: Mapping[str, Any] = {}


class Notice(Struct, frozen=True, kw_only=True):
    """Something that the operator should read; only logs show it.

    Attributes:
        about: `server` or `board`.
        level: `info`, `warning` or `error`.
        message: One line.
        at: Unix seconds.
        detail: JSON-compatible data; never a secret.
    """

    about: str
    level: str
    message: str
    at: float
    detail: Mapping[str, Any] = {}


Event = (
    CallStarted
    | CallRecord
    | SourceChanged
    | ApprovalChanged
    | BoardChanged
    | RunStarted
    | NodeChanged
    | NodeReported
    | RunRested
    | RunFinished
    | StepEnded
    | RunEnded
    | RunErrorNoted
    | Notice
)

_WITHHELD = frozenset({"principal", "arguments", "error_detail", "about_caller"})
_SHOWN = tuple(name for name in CallRecord.__struct_fields__ if name not in _WITHHELD)


def record_to_dict(record: CallRecord, *, digest: str | None = None) -> dict[str, Any]:
    """The record as JSON-compatible data, the same in history, logs and responses.

    The principal is given as its id and tenant, the arguments as their digest; the error detail is
    left out.

    Args:
        record: The record of a call.
        digest: The digest of the arguments where it is known; None computes it.
    """
    data = {name: getattr(record, name) for name in _SHOWN}
    data["duration_ms"] = round(record.duration_ms, 3)
    data["principal"] = record.principal.id
    data["tenant"] = record.principal.tenant
    data["arguments_digest"] = record.arguments_digest if digest is None else digest
    return data


def digest_of(arguments: Any) -> str:
    """SHA-256 in hex of the arguments' canonical JSON: sorted keys, no white space, UTF-8.

    Text that is not JSON is digested unchanged.
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
