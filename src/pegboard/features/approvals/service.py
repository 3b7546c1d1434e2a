"""The `Approvals` service: lists, decides, expires and withdraws approvals of calls."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from msgspec import structs

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.event import Event, RunFinished
from pegboard.core.ports.approval_store import (
    Approval,
    ApprovalPage,
    ApprovalQuery,
    ApprovalVerdict,
)
from pegboard.core.ports.audit_store import AuditEntry, Prove, skip_proof
from pegboard.core.ports.conversation_store import Conversation, ConversationStore
from pegboard.core.principal import Principal
from pegboard.errors import (
    AccessDenied,
    ApprovalDecided,
    ApprovalExpired,
    ApprovalNotFound,
    InvalidRequest,
    PegboardError,
    RunNotFound,
)
from pegboard.execution.approval_requests import approval_changed, digest_edited_call
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.results.redaction import MASK
from pegboard.features.approvals.grants import Grants, Scope
from pegboard.features.permissions import (
    APPROVALS_SCOPE,
    find_visible_approvals,
    may_decide_approval,
    may_see_approval,
)
from pegboard.registry import ToolRegistry

Decision = Literal["approve", "deny", "edit"]
Wake = Callable[[str, str], Awaitable[None]]
"""Notifies a run that one of its approvals was decided; takes the ids of both."""

AwaitedApprovals = Callable[[], Awaitable[Mapping[str, Sequence[str]]]]
"""Returns the ids of the runs that wait for each approval."""

EndReason = Callable[[str], Awaitable[str]]
"""Says why a run no longer needs its approvals; empty while it may."""

RunAskers = Callable[[str], Awaitable[Collection[str]]]
"""Returns who asked for what a run does, each as `Principal.owner`."""

_LOG = logging.getLogger("pegboard.approvals")
_VERDICTS: Mapping[str, ApprovalVerdict] = {
    "approve": "approved",
    "deny": "denied",
    "edit": "edited",
}
_PAGE = 1_000
_END_NOTES = {
    "cancelled": "the run was cancelled",
    "failed": "the run has failed",
    "completed": "the run has ended",  # a step that timed out leaves its approval
}


async def _nobody(_run_id: str, _approval_id: str) -> None:
    return


async def _nothing() -> Mapping[str, Sequence[str]]:
    return {}


async def _none(_run_id: str) -> Collection[str]:
    return ()


async def _goes_on(_run_id: str) -> str:
    return ""


CONNECTED = "the account is connected"


class Approvals:
    """The approvals of a registry, for callers that may see or decide them.

    ```python
    page = await board.approvals.list(principal=LOCAL)
    [first, *_] = page.approvals
    await board.approvals.decide(first.id, "approve", note="as agreed", principal=LOCAL)
    ```

    Args:
        registry: Its call environment stores the approvals.
        wake: Called for each approval of a run that was decided or expired, perhaps more than once:
            the run repeats its call, which then finds the decision.
        awaited: Returns which approvals runs wait for.
        ended: Says why a run no longer needs its approvals.
        prove: Writes each decision to the audit trail before it takes effect.
        conversations: Stores the approvals that stand for the rest of a conversation; None where
            there are no conversations.
        askers: The owners of those who asked for what a run does.

    Attributes:
        grants: The approvals that stand.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        *,
        wake: Wake = _nobody,
        awaited: AwaitedApprovals = _nothing,
        ended: EndReason = _goes_on,
        prove: Prove = skip_proof,
        conversations: ConversationStore | None = None,
        askers: RunAskers = _none,
    ) -> None:
        self._registry = registry
        self._wake = wake
        self._awaited = awaited
        self._ended = ended
        self._prove = prove
        self._askers = askers
        self.grants = Grants(registry, conversations, prove=prove)

    async def list(
        self, query: ApprovalQuery | None = None, *, principal: Principal
    ) -> ApprovalPage:
        """Return one page of the approvals that this caller may see, newest first.

        Raises:
            InvalidRequest: The cursor is unknown, or the limit is out of range.
        """
        query = query or ApprovalQuery()
        query = structs.replace(query, visible=find_visible_approvals(principal))
        return await self._registry.environment.approvals.approvals(query)

    async def get(
        self,
        approval_id: str,
        *,
        principal: Principal,
    ) -> Approval:
        """Return an approval.

        Raises:
            ApprovalNotFound: It does not exist, or the caller may not see it.
        """
        found = await self._registry.environment.approvals.get(approval_id)
        if found is None or not may_see_approval(principal, found):
            raise ApprovalNotFound(f"There is no approval '{approval_id[:100]}'.")
        return found

    async def explain_refusal(self, approval: Approval, *, principal: Principal) -> str:
        """Why a caller may not decide an approval; empty if it may.

        Every door asks here. An approval `by: other` is decided by none who asked for the call: its
        caller, who started the run, and who sent the run a message.
        """
        if not may_decide_approval(principal, approval):
            return _explain_missing_right(approval, principal)
        if approval.by != "other":
            return ""
        asked = principal.owns(approval.tenant, approval.principal)
        if not asked and approval.run_id:
            asked = principal.owner in await self._askers(approval.run_id)
        return "another person than those who asked for it has to decide" if asked else ""

    async def decide(
        self,
        approval_id: str,
        decision: Decision,
        *,
        note: str = "",
        arguments: Mapping[str, Any] | None = None,
        scope: Scope = "once",
        principal: Principal,
    ) -> Approval:
        """Decide an approval. The call itself runs when its caller repeats it.

        Args:
            approval_id: The approval.
            decision: `approve`, `deny`, or `edit`: approve it with other arguments.
            note: Shown to the caller of the tool.
            arguments: The complete new arguments; only with `edit`.
            scope: With `approve`, what it holds for: one of `Grants.list_scopes`. Pending requests
                that it covers are approved too.
            principal: The approver.

        Raises:
            ApprovalNotFound: It does not exist, or the caller may not see it.
            AccessDenied: The caller may see it, but not decide.
            InvalidRequest: There is no such decision; it waits for an account; `arguments` are
                missing, or given without `edit`; or the scope is not offered, and why.
            ToolArgumentError: The tool does not accept these arguments.
            ApprovalDecided: It was decided already, or its run has ended.
            ApprovalExpired: It has expired.
            AuditUnavailable: The audit trail is required and unavailable; nothing is decided.
        """
        if decision not in _VERDICTS:
            known = ", ".join(_VERDICTS)
            raise InvalidRequest(f"There is no decision {decision!r}; known are {known}.")
        found = await self.get(approval_id, principal=principal)
        if refusal := await self.explain_refusal(found, principal=principal):
            raise AccessDenied(found.tool, refusal)
        if found.kind == "connection" and decision != "deny":
            raise InvalidRequest(
                f"No decision gives this: its caller connects an account for '{found.source}'."
            )
        edited = self._check_edit(found, decision, arguments)
        conversation = await self._find_conversation(found, decision, scope, principal)
        if found.state == "pending" and found.run_id:
            await self._withdraw_of_ended(found.run_id)
        kit = self._registry.environment
        if found.state == "pending":
            await self._prove(
                _about_to(decision, found, scope=scope, by=principal.id, at=kit.now())
            )
        outcome = await kit.approvals.decide(
            found.id,
            _VERDICTS[decision],
            by=principal.id,
            note=note,
            edited=edited,
            edited_digest="" if edited is None else digest_edited_call(found, edited),
        )
        if not outcome.applied or outcome.approval is None:
            raise _too_late(outcome.approval or found)
        try:
            if conversation is not None:
                for item in await self.grants.give(outcome.approval, scope, conversation):
                    await self._wake_run(item.run_id, item.id)
        finally:
            await self._announce(outcome.approval)
        return outcome.approval

    async def _find_conversation(
        self, approval: Approval, decision: Decision, scope: Scope, principal: Principal
    ) -> Conversation | None:
        """The conversation for whose rest this decision holds; None for this call alone."""
        if scope == "once" or approval.state != "pending":
            return None
        if decision != "approve":
            raise InvalidRequest(f"The scope '{scope}' goes with 'approve', not with '{decision}'.")
        return await self.grants.find_conversation(approval, principal=principal)

    async def settle_connections(self, source: str, *, principal: Principal | None) -> int:
        """Let the calls go on that wait for a credential of a source, and return how many.

        Args:
            source: The source.
            principal: The caller who has one now; None where all callers have.
        """
        kit, count = self._registry.environment, 0
        for approval in await self._list_undecided():
            if approval.kind != "connection" or approval.source != source:
                continue
            if principal and not principal.owns(approval.tenant, approval.principal):
                continue
            by = approval.principal if principal is None else principal.id
            outcome = await kit.approvals.decide(approval.id, "approved", by=by, note=CONNECTED)
            if outcome.applied and outcome.approval is not None:
                count += 1
                await self._announce(outcome.approval)
        return count

    async def expire(self) -> int:
        """Expire the approvals whose time is over, and return how many."""
        ended = await self._registry.environment.approvals.expire()
        for approval in ended:
            await self._announce(approval)
        return len(ended)

    async def withdraw(self, run_id: str, *, by: str = "", note: str = "") -> int:
        """Withdraw the pending approvals of a run, and return how many; safe to repeat."""
        kit = self._registry.environment
        ended = await kit.approvals.withdraw(run_id, by=by, note=note)
        for approval in ended if kit.emitter.has_listeners else ():
            kit.emitter.emit(approval_changed(approval, at=approval.decided_at or kit.now()))
        return len(ended)

    async def withdraw_ended(self) -> int:
        """Withdraw the pending approvals of all ended runs, and return how many."""
        runs = {approval.run_id for approval in await self._list_undecided() if approval.run_id}
        return sum([await self._withdraw_of_ended(run_id) for run_id in sorted(runs)])

    async def catch_up(self) -> None:
        """Wake the runs that missed the decision of their approval."""
        awaited = await self._awaited()
        if not awaited:
            return
        undecided = {approval.id for approval in await self._list_undecided()}
        for approval_id in awaited.keys() - undecided:
            for run_id in awaited[approval_id]:
                await self._wake_run(run_id, approval_id)

    async def watch(self, every: float) -> None:
        """Expire, withdraw and catch up at intervals, until cancelled."""
        while True:
            with log_and_continue(_LOG, "approvals: the periodic check failed"):
                try:
                    await self.expire()
                    await self.withdraw_ended()
                    await self.catch_up()
                except PegboardError:
                    _LOG.warning("approvals: the periodic check failed and will be retried")
            await asyncio.sleep(every)

    async def _withdraw_of_ended(self, run_id: str) -> int:
        note = await self._ended(run_id)
        return await self.withdraw(run_id, note=note) if note else 0

    async def _list_undecided(self) -> "Sequence[Approval]":
        """The approvals that are still pending."""
        found: dict[str, Approval] = {}
        cursor = ""
        while True:
            query = ApprovalQuery(state="pending", limit=_PAGE, cursor=cursor)
            page = await self._registry.environment.approvals.approvals(query)
            found |= {approval.id: approval for approval in page.approvals}
            if not (cursor := page.next_cursor):
                return tuple(found.values())

    def _check_edit(
        self, approval: Approval, decision: Decision, arguments: Mapping[str, Any] | None
    ) -> dict[str, Any] | None:
        """The edited arguments to store; None where nothing is edited."""
        if decision != "edit":
            if arguments is not None:
                raise InvalidRequest(f"'arguments' go with 'edit', not with '{decision}'.")
            return None
        if arguments is None:
            raise InvalidRequest("'edit' needs 'arguments': the complete new arguments.")
        edited = dict(arguments)
        if MASK in repr(edited):
            raise InvalidRequest(
                f"The arguments still contain '{MASK}': replace it with the actual value."
            )
        tool = self._registry.find(approval.tool)
        if tool is not None:  # a missing tool checks them when it is called
            CompiledTool(tool, keyed=False).read(edited)
        return edited

    async def _announce(self, approval: Approval) -> None:
        kit = self._registry.environment
        if kit.emitter.has_listeners:
            at = approval.expires_at if approval.state == "expired" else approval.decided_at
            kit.emitter.emit(approval_changed(approval, at=at or kit.now()))
        if approval.run_id:
            await self._wake_run(approval.run_id, approval.id)

    async def _wake_run(self, run_id: str, approval_id: str) -> None:
        """Wake a run; a failure does not undo the decision."""
        try:
            await self._wake(run_id, approval_id)
        except RunNotFound:
            return
        except PegboardError:
            _LOG.warning("approvals: run %s could not be notified of a decision", run_id)


class ApprovalWithdrawalListener:
    """A listener that withdraws the approvals of runs that have ended.

    What it misses, for example in a crash, is withdrawn by `Approvals.watch` or at a decision.
    """

    def __init__(self, approvals: Approvals) -> None:
        """Withdraw the approvals of this service."""
        self._approvals = approvals
        self._ended: asyncio.Queue[RunFinished] = asyncio.Queue()

    def on_event(self, event: Event) -> None:
        """Queue a run that has ended and may have pending approvals."""
        if isinstance(event, RunFinished) and event.state in _END_NOTES:
            self._ended.put_nowait(event)

    async def watch(self) -> None:
        """Withdraw the approvals of queued runs, until cancelled."""
        while True:
            event = await self._ended.get()
            with log_and_continue(
                _LOG, "approvals: the approvals of an ended run are withdrawn later"
            ):
                try:
                    await self._approvals.withdraw(event.run_id, note=_END_NOTES[event.state])
                except PegboardError:
                    _LOG.warning(
                        "approvals: the approvals of run %s are withdrawn later", event.run_id
                    )


def _about_to(
    decision: Decision, approval: Approval, *, scope: Scope, by: str, at: float
) -> AuditEntry:
    """The audit entry of a decision before it takes effect."""
    body = {
        "action": decision,
        "approval_id": approval.id,
        "tool": approval.tool,
        "digest": approval.digest,
        "principal": approval.principal,
        "by": by,
    }
    if scope != "once":
        body["scope"] = scope
    return AuditEntry(kind="decision", at=at, tenant=approval.tenant, body=body)


def _explain_missing_right(approval: Approval, principal: Principal) -> str:
    if principal.kind == "service":
        return "service accounts decide no approvals"
    if principal.kind == "agent" and principal.key:
        return f"a key decides approvals only where it was made with {APPROVALS_SCOPE}"
    if principal.kind == "key":  # it was made to decide
        where = f" of '{approval.tenant}'" if approval.tenant else ""
        return f"the person of this key is no approver{where}"
    return f"the caller lacks the scope {APPROVALS_SCOPE}"


def _too_late(approval: Approval) -> PegboardError:
    if approval.state == "expired":
        return ApprovalExpired("This approval has expired: repeat the call to ask for a new one.")
    if approval.state == "withdrawn":
        return ApprovalDecided(f"This approval was withdrawn: {approval.note}.")
    by = approval.decided_by or "another caller"
    return ApprovalDecided(f"This approval was already {approval.state} by {by}.")
