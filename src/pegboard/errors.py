"""All errors that Pegboard raises.

The base class answers a question: can the caller fix it, did the tool fail, may a retry help?

```
PegboardError
├── ConfigError                 the operator's file or setting is wrong; only at start or reload
├── CallerError                 the caller can fix it: precise, never retried
│   ├── ToolSignatureError      a function cannot be made a tool
│   ├── ToolArgumentError       arguments do not fit the schema; one line per problem
│   ├── ToolNotFound            no such tool; names the nearest
│   ├── DuplicateTool           the name is taken; names both origins
│   ├── SyncUse                 an async tool was called on the sync surface (a ValueError)
│   ├── AccessDenied            access was denied, with the reason
│   ├── ApprovalRequired        the call needs an approval first
│   │   └── CredentialMissing   the call needs a credential of its caller first
│   ├── ApprovalNotFound        no approval with this id for this caller
│   ├── ApprovalDecided         the approval is decided already
│   ├── ApprovalExpired         the approval has expired
│   ├── AlreadyAnswered         the question of a run is answered already
│   ├── IdempotencyConflict     the key was used with other arguments
│   ├── HandleNotFound          no stored result under this handle for this caller
│   ├── GraphInvalid            a graph is invalid; one line per fault
│   ├── RunNotFound             no run with this id for this caller
│   ├── PlanNotFound            no plan with this id for this caller
│   ├── DependencyCycle         tools depend on each other; names the cycle in order
│   ├── DependencyNotFound      no such node or edge among dependencies; names the nearest
│   ├── VersionNotFound         no such version, or it is no longer stored
│   ├── EntryNotFound           no such marketplace, or no such entry in it
│   ├── DefinitionNotHeld       no definition of this tool is held
│   ├── DefinitionChanged       the upstream has changed it since it was shown
│   ├── SwitchNotFound          nothing is turned off under this name; names what is
│   ├── AccountNotFound         no such person, organisation, key or link for this caller
│   ├── ResourceNotFound        no stored resource with this id for this caller
│   ├── CredentialNotFound      no credential with this id for this caller
│   ├── DocumentNotFound        no document with this id for this caller
│   ├── DocumentUnreadable      a file cannot be taken in as a document; says why
│   ├── FileMissing             no file or upload with this id for this caller
│   ├── UploadConflict          a part of an upload does not fit; says where it goes on
│   ├── StorageQuotaExceeded    the caller stores as much as it may
│   ├── SignInRefused           the name or the password is wrong
│   ├── CannotPlan              no tools can fulfil the requested plan
│   ├── ConversationNotFound    no conversation with this id for this caller
│   ├── MessageNotQueued        a message cannot be withdrawn, because it waits no more
│   ├── AgentNotFound           the board has no agent of this name
│   ├── LimitReached            an agent has used what its run may use
│   ├── QuotaExceeded           an account or organisation has used what it may in a window
│   ├── ModelNotConfigured      no language model is configured for this
│   └── InvalidRequest          a malformed request, whatever the tool
│       └── ContextTooLong      the messages do not fit into the window of the model
├── ToolFailed                  the tool failed: a safe message and an error id
│   ├── ElicitationUnavailable  the tool asks a question, and its caller cannot answer
│   └── ToolOutputError         the tool's output breaks its own schema
└── Unavailable                 a retry may help; carries `retry_after`
    ├── ToolTimeout             a deadline passed
    ├── RateLimited             a rate or concurrency limit
    ├── BreakerOpen             the source failed too often lately
    ├── Overloaded              no thread, slot or queue place is free
    ├── StoreUnavailable        the board's storage cannot be read or written
    │   └── AuditUnavailable    the required audit trail cannot be written
    ├── HostUnavailable         a host named by an argument is unreachable; the tool is healthy
    ├── IdempotencyInProgress   another server is working under the same idempotency key
    └── SourceUnavailable       a source is down, missing an extra, or switched off
        └── MCPConnectionError  an MCP server cannot be reached or started
```

`str(error)` is always safe to show to a model or a remote caller. What only the operator may see
is the exception's cause, stored under `error_id`. Each attribute has a default, so that an error
that was stored or sent by a server can be made again from its sentence.
"""

from typing import Any, ClassVar

from pegboard.error_texts import Problem as Problem  # noqa: PLC0414 - errors hold it
from pegboard.error_texts import hint_at
from pegboard.error_texts import shorten_name as shorten_name  # noqa: PLC0414 - as above


class PegboardError(Exception):
    """The base class of all Pegboard errors.

    Attributes:
        code: Stable, machine-readable, one per class.
        retryable: Whether the same call may succeed later without being changed.
        retry_after: Seconds after which a retry makes sense; None when unknown.
        error_id: The id of the operator's detail; None when there is none.
        is_about_caller: Whether it says nothing about others, as where a foreign system refuses the
            credential of a call: neither health nor the breaker counts it.
    """

    code: ClassVar[str] = "error"
    retryable: bool = False
    retry_after: float | None = None
    error_id: str | None = None
    is_about_caller: bool = False

    @property
    def message(self) -> str:
        """The safe sentence, without the error id."""
        return str(self.args[0]) if self.args else type(self).__name__


class ConfigError(PegboardError):
    """The operator's configuration is invalid; the message names the line and the fix."""

    code = "config_invalid"


class CallerError(PegboardError):
    """The caller can fix the call: the message says precisely what is wrong. Never retried."""

    code = "caller_error"


class ToolSignatureError(CallerError):
    """A function cannot be made a tool; names the function and the parameter."""

    code = "tool_signature_invalid"


class ToolArgumentError(CallerError):
    """The arguments do not fit the tool's schema; the function did not run."""

    code = "arguments_invalid"
    tool: str = ""
    problems: tuple[Problem, ...] = ()

    def __init__(self, tool: str, problems: tuple[Problem, ...]) -> None:
        lines = "\n".join(f"- {problem}" for problem in problems)
        super().__init__(f"Invalid arguments for '{tool}':\n{lines}")
        self.tool = tool
        self.problems = problems

    @property
    def summary(self) -> str:
        """What was wrong and where, without any value: for records that keep no arguments."""
        places = ", ".join(f"{item.path or 'arguments'} ({item.kind})" for item in self.problems)
        return f"Invalid arguments for '{self.tool}': {places}"


class ToolNotFound(CallerError):
    """No tool has this name."""

    code = "tool_not_found"
    name: str = ""
    nearest: tuple[str, ...] = ()

    def __init__(self, name: str, nearest: tuple[str, ...] = ()) -> None:
        self.name, self.nearest = shorten_name(name), nearest
        super().__init__(f"Tool '{self.name}' not found.{hint_at(nearest)}")


class DuplicateTool(CallerError):
    """The tool name is taken, or is reserved for the tools of another source."""

    code = "tool_duplicate"

    def __init__(self, name: str, first: str, second: str, *, prefix: str = "") -> None:
        super().__init__(
            f"Tool '{name}' from {second} cannot be called so: '{prefix}' begins the names of the "
            f"tools of {first} alone. Take another name; for an entry of a marketplace, give "
            "another 'name'."
            if prefix
            else f"Tool '{name}' from {second} is already registered from {first}. "
            "Take another name for one of them; in Python, on_conflict='replace' lets the new one "
            "take the place of the first."
        )


class SyncUse(CallerError, ValueError):
    """An async tool was called on the sync surface."""

    code = "sync_use"


class AccessDenied(CallerError):
    """The decision was *deny*; `reason` says why."""

    code = "access_denied"
    reason: str = ""

    def __init__(self, tool: str, reason: str) -> None:
        super().__init__(f"Access to '{tool}' denied: {reason}")
        self.reason = reason


class ApprovalRequired(CallerError):
    """A person has to approve this call first; without `approval_id` no approval is requested."""

    code = "approval_required"
    reason: str = ""
    approval_id: str = ""

    def __init__(self, tool: str, reason: str, *, approval_id: str = "") -> None:
        then = f" Call it again, unchanged, once approval {approval_id} is given."
        message = f"Approval needed for '{tool}': {reason}. The tool was not run."
        super().__init__(f"{message}{then if approval_id else ''}")
        self.reason = reason
        self.approval_id = approval_id


class CredentialMissing(ApprovalRequired):
    """The call needs a credential of its caller; with `approval_id` it goes on once it is there.

    Attributes:
        link: Where the caller connects an account; empty where it stores a value instead.
        account: The name of that account; empty for the default.
    """

    code = "credential_missing"
    link: str = ""
    account: str = ""

    def __init__(
        self,
        tool: str,
        reason: str,
        *,
        link: str = "",
        account: str = "",
        approval_id: str = "",
    ) -> None:
        super().__init__(tool, reason, approval_id=approval_id)
        then = f" Connect it at {link}" if link else ""
        self.args = (f"'{tool}' was not run: {reason}.{then}",)
        self.link = link
        self.account = account


class ApprovalNotFound(CallerError):
    """No approval has this id, or not for this caller."""

    code = "approval_not_found"


class ApprovalDecided(CallerError):
    """The approval is decided already, or its run has finished; the first decision holds."""

    code = "approval_decided"


class ApprovalExpired(CallerError):
    """The approval has expired; a new call requests a new one."""

    code = "approval_expired"


class AlreadyAnswered(CallerError):
    """The question of a run is answered already; the first answer holds."""

    code = "already_answered"


class IdempotencyConflict(CallerError):
    """The idempotency key belongs to another call, or to one with an unknown outcome."""

    code = "idempotency_conflict"


class HandleNotFound(CallerError):
    """No stored result under this handle for this caller."""

    code = "handle_not_found"


class GraphInvalid(CallerError):
    """A graph is invalid or does not fit the board; lists every fault. Nothing has run."""

    code = "graph_invalid"
    problems: tuple[Problem, ...] = ()

    def __init__(self, name: str, problems: tuple[Problem, ...]) -> None:
        lines = "\n".join(f"- {problem}" for problem in problems)
        super().__init__(f"{shorten_name(name) or 'The graph'} cannot run:\n{lines}")
        self.problems = problems


class RunNotFound(CallerError):
    """No run has this id, or not for this caller."""

    code = "run_not_found"


class PlanNotFound(CallerError):
    """No plan has this id, or not for this caller."""

    code = "plan_not_found"


class DependencyCycle(CallerError):
    """Tools depend on each other in a cycle."""

    code = "dependency_cycle"
    cycle: tuple[str, ...] = ()

    def __init__(self, cycle: tuple[str, ...]) -> None:
        shown = " -> ".join(map(shorten_name, (*cycle, cycle[0])))
        super().__init__(f"These tools would need each other: {shown}. Leave one of them out.")
        self.cycle = cycle

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The cycle as pairs of a prerequisite and its dependant."""
        return tuple(zip(self.cycle, (*self.cycle[1:], self.cycle[0]), strict=True))


class DependencyNotFound(CallerError):
    """The dependency graph has no such node or edge."""

    code = "dependency_not_found"
    nearest: tuple[str, ...] = ()

    def __init__(self, what: str, nearest: tuple[str, ...] = ()) -> None:
        super().__init__(f"The dependency graph has no {what}.{hint_at(nearest)}")
        self.nearest = nearest


class VersionNotFound(CallerError):
    """The version does not exist or is no longer stored; names the existing ones."""

    code = "version_not_found"


class EntryNotFound(CallerError):
    """The board has no such marketplace, that has no such entry, or the entry no such part."""

    code = "entry_not_found"


class DefinitionNotHeld(CallerError):
    """No definition of this tool is held, or it is decided already."""

    code = "definition_not_held"


class DefinitionChanged(CallerError):
    """The upstream has changed the definition since it was shown; review the new diff."""

    code = "definition_changed"


class SwitchNotFound(CallerError):
    """No kill switch has this name; names the active switches that may apply."""

    code = "switch_not_found"


class AccountNotFound(CallerError):
    """No such person, organisation, member, key or unused link, or not for this caller."""

    code = "account_not_found"


class ResourceNotFound(CallerError):
    """No connector, agent or skill with this id, or not for this caller."""

    code = "resource_not_found"


class CredentialNotFound(CallerError):
    """No credential has this id, or not for this caller."""

    code = "credential_not_found"


class DocumentNotFound(CallerError):
    """No document or piece has this id, or not for this caller."""

    code = "document_not_found"


class DocumentUnreadable(CallerError):
    """A file cannot be taken in; `reason` is one of `encrypted`, `empty`, `broken`, ... of it."""

    code = "document_unreadable"
    reason: str = ""

    def __init__(self, message: str, *, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class FileMissing(CallerError):
    """No file or upload has this id, or not for this caller."""

    code = "file_not_found"


class UploadConflict(CallerError):
    """A part begins elsewhere than where the upload goes on, or is not what its digest says.

    Attributes:
        offset: Where the upload goes on, in bytes.
    """

    code = "upload_conflict"
    offset: int = 0

    def __init__(self, message: str, *, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class StorageQuotaExceeded(CallerError):
    """The caller stores as much as it may.

    Attributes:
        limit: How many bytes or files.
        used: What is stored of it.
        unit: `bytes` or `files`.
    """

    code = "storage_quota_exceeded"
    limit: int = 0
    used: int = 0
    unit: str = ""

    def __init__(self, message: str, *, limit: int, used: int, unit: str) -> None:
        super().__init__(message)
        self.limit = limit
        self.used = used
        self.unit = unit


class SignInRefused(CallerError):
    """The name or the password is wrong; the same for a person who does not exist."""

    code = "sign_in_refused"


class CannotPlan(CallerError):
    """No tools can fulfil the requested plan; names the missing part and the nearest tools."""

    code = "cannot_plan"


class ConversationNotFound(CallerError):
    """No conversation, or message of one, has this id, or not for this caller."""

    code = "conversation_not_found"


class MessageNotQueued(CallerError):
    """A message cannot be withdrawn: an agent has read it, or it was withdrawn before."""

    code = "message_not_queued"


class AgentNotFound(CallerError):
    """The board has no such agent; names those there are."""

    code = "agent_not_found"


class LimitReached(CallerError):
    """An agent has used what its run may use; the message names the limit."""

    code = "limit_reached"


class QuotaExceeded(CallerError):
    """An account or organisation has used what it may use in a window; says when that ends.

    Attributes:
        limit: How many calls, or US dollars.
        used: What was used of it.
        resets_at: Unix seconds at which the next window begins.
    """

    code = "quota_exceeded"
    is_about_caller = True
    limit: float = 0.0
    used: float = 0.0
    resets_at: float = 0.0

    def __init__(self, message: str, *, limit: float, used: float, resets_at: float) -> None:
        super().__init__(message)
        self.limit = limit
        self.used = used
        self.resets_at = resets_at


class ModelNotConfigured(CallerError):
    """No language model, or none of this name, is configured; names the setting, or those known."""

    code = "model_not_configured"


class InvalidRequest(CallerError):
    """A malformed request; `is_guarded`: its address is refused; `parameter`: what is wrong."""

    code = "request_invalid"
    is_guarded: bool = False
    parameter: str = ""

    def __init__(self, message: str, *, is_guarded: bool = False, parameter: str = "") -> None:
        super().__init__(message)
        self.is_guarded = is_guarded
        self.parameter = parameter


class ContextTooLong(InvalidRequest):
    """The messages do not fit into the context window of the model."""

    code = "context_too_long"


class ToolFailed(PegboardError):
    """The tool failed. Raise it from a tool with a message that is safe to show to anyone.

    ```python
    raise ToolFailed("Order 17 is already shipped.")
    ```

    Attributes:
        is_unlogged: Whether an unexpected exception is behind it that has not been logged.
    """

    code = "tool_failed"
    is_unlogged = False

    def __init__(self, message: str, *, error_id: str | None = None) -> None:
        super().__init__(message)
        self.error_id = error_id


class ElicitationUnavailable(ToolFailed):
    """A tool needs an answer from a person or a model, and its caller cannot be asked."""

    code = "nobody_to_ask"


class ToolOutputError(ToolFailed):
    """The tool's output breaks its own output schema."""

    code = "output_invalid"
    is_unlogged = True


class Unavailable(PegboardError):
    """A retry may help. Raise it from a tool when nothing was done.

    Attributes:
        nothing_done: The attempt had no effect, so that a retry is safe.
        retryable: False when only the operator can fix it, or when a write timed out and its
            outcome is unknown.
    """

    code = "unavailable"
    retryable = True
    nothing_done: bool = False

    def __init__(
        self,
        message: str,
        *,
        retry_after: float | None = None,
        nothing_done: bool = False,
        permanent: bool = False,
    ) -> None:
        super().__init__(message)
        self.retryable = not permanent
        self.retry_after = retry_after
        self.nothing_done = nothing_done


class ToolTimeout(Unavailable):
    """A call or an attempt passed its deadline."""

    code = "timeout"


class RateLimited(Unavailable):
    """A rate or concurrency limit is reached and the deadline does not allow waiting."""

    code = "rate_limited"


class BreakerOpen(Unavailable):
    """The circuit breaker of the source is open after too many failures."""

    code = "breaker_open"


class Overloaded(Unavailable):
    """No thread, slot or queue place is free."""

    code = "overloaded"


class StoreUnavailable(Unavailable):
    """The storage of the board cannot be read or written now; the tools are not at fault."""

    code = "store_unavailable"


class AuditUnavailable(StoreUnavailable):
    """The required audit trail cannot be written; nothing was done."""

    code = "audit_unavailable"


class HostUnavailable(Unavailable):
    """A host that an argument names cannot be reached; neither health nor the breaker counts it."""

    code = "host_unavailable"


class IdempotencyInProgress(Unavailable):
    """A call or request with this idempotency key is in progress on another server; try again."""

    code = "idempotency_in_progress"


class SourceUnavailable(Unavailable):
    """A source or tool cannot be used now; says why, or with `is_logged` where the log says it."""

    code = "source_unavailable"
    is_logged: bool = False

    def __init__(self, message: str, *, is_logged: bool = False, **retry: Any) -> None:
        super().__init__(message, **retry)
        self.is_logged = is_logged


class MCPConnectionError(SourceUnavailable):
    """An MCP server cannot be started or reached, or what answers is none; says what to check."""

    code = "mcp_connection"
