"""Standing approvals: given with an approval for the rest of a conversation, and revoked."""

from functools import partial
from typing import Literal

from pegboard.core.event import BoardChanged
from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.ports.audit_store import Prove
from pegboard.core.ports.conversation_store import (
    Conversation,
    ConversationGrant,
    ConversationStore,
    find_conversation_of_run,
)
from pegboard.core.principal import Principal
from pegboard.errors import ConversationNotFound, InvalidRequest
from pegboard.execution.approval_requests import decide_by_grant
from pegboard.execution.audit_first import record_in_audit
from pegboard.features.permissions import check_may_write, may_decide_approval, may_see_conversation
from pegboard.registry import ToolRegistry
from pegboard.schemas.tool_definition import definition_digest

Scope = Literal["once", "arguments", "tool"]
"""What an approval holds for: this call; or, for the rest of the conversation, calls with these
arguments, or every call of this tool."""

_MOST_PENDING = 1_000


class Grants:
    """The standing approvals of conversations.

    They are offered to the caller whose conversation it is, where that caller may decide, and only
    for a tool that destroys nothing. Each call that they cover still gets an approval of its own,
    after `decide` has said *ask* for the same reason; a *deny* is not affected.

    Args:
        registry: Its tools, and the call environment that emits events.
        conversations: Stores them; None where there are no conversations.
        prove: Writes a change to the audit trail before it takes effect.
    """

    def __init__(
        self, registry: ToolRegistry, conversations: ConversationStore | None, *, prove: Prove
    ) -> None:
        self._registry = registry
        self._conversations = conversations
        self._prove = prove

    def list_scopes(
        self, approval: Approval, conversation: Conversation | None, *, principal: Principal
    ) -> list[Scope]:
        """What this caller may approve a pending request for; empty when it cannot be decided.

        Args:
            approval: The request.
            conversation: The conversation of its run; None for none.
            principal: The approver.
        """
        if approval.state != "pending" or not may_decide_approval(principal, approval):
            return []
        if approval.kind == "connection":
            return []
        if self._find_obstacle(approval, conversation, principal):
            return ["once"]
        return ["once", "arguments", "tool"]

    async def find_conversation(self, approval: Approval, *, principal: Principal) -> Conversation:
        """The conversation for whose rest a request may be approved.

        Raises:
            InvalidRequest: It may be approved once only; says why.
        """
        conversation = None
        if self._conversations is not None and approval.run_id:
            conversation = await find_conversation_of_run(self._conversations, approval.run_id)
        if obstacle := self._find_obstacle(approval, conversation, principal):
            raise InvalidRequest(f"This call can be approved once only: {obstacle}.")
        assert conversation is not None  # noqa: S101 - else it is the obstacle
        return conversation

    def _find_obstacle(
        self, approval: Approval, conversation: Conversation | None, principal: Principal
    ) -> str:
        """Why a request may be approved once only; empty when nothing is against more."""
        if approval.is_single:
            another = approval.by == "other"
            why = "another person has to decide" if another else "the run has read untrusted text"
            return f"{why}, so each call is asked about"
        if conversation is None:
            return "it is not part of a conversation"
        if not conversation.belongs_to(principal) or approval.principal != principal.id:
            return "the conversation is that of another caller"
        if not (approval.arguments_digest and approval.definition_digest):
            return "an older version has asked for it"
        tool = self._registry.find(approval.tool)
        if tool is None or definition_digest(tool.spec) != approval.definition_digest:
            return "the tool has changed"
        if tool.spec.may_destroy:
            return f"'{approval.tool}' may destroy or overwrite something"
        return ""

    async def give(
        self, approval: Approval, scope: Scope, conversation: Conversation
    ) -> list[Approval]:
        """Let an approval stand; returns the pending requests that it has approved too.

        Args:
            approval: Approved by the caller whose conversation it is.
            scope: `arguments` or `tool`.
            conversation: Where it stands.
        """
        if self._conversations is None:
            return []
        is_narrow = scope == "arguments"
        grant = ConversationGrant(
            id=f"gr_{approval.id.partition('_')[2]}",
            tool=approval.tool,
            version=approval.version,
            definition_digest=approval.definition_digest,
            reason=approval.reason,
            approval=approval.id,
            granted_by=approval.decided_by,
            granted_at=approval.decided_at or self._registry.environment.now(),
            arguments_digest=approval.arguments_digest if is_narrow else "",
            shown=approval.shown if is_narrow else None,
            account=approval.account,
        )
        if not await self._conversations.grant(conversation.id, grant):
            return []
        self._emit(self._describe(grant, conversation, "given", by=grant.granted_by))
        return [
            await decide_by_grant(item, grant, self._registry.environment)
            for item in await self._list_pending(approval)
            if grant.covers(
                tool=item.tool,
                definition_digest=item.definition_digest,
                reason=item.reason,
                arguments_digest=item.arguments_digest,
                account=item.account,
            )
        ]

    async def revoke(
        self, conversation: str, grant: str, *, principal: Principal
    ) -> ConversationGrant:
        """Revoke a standing approval: later calls ask again.

        Raises:
            ConversationNotFound: There is no such standing approval, or the caller may not see the
                conversation.
            AccessDenied: The key of the caller may not write.
            AuditUnavailable: The audit trail is required and unavailable; nothing is revoked.
        """
        check_may_write(principal, "conversations")
        store = self._conversations
        known = None if store is None else await store.get(conversation)
        grants = () if known is None else known.grants
        found = next((item for item in grants if item.id == grant), None)
        if store is None or known is None or found is None:
            raise _not_found(grant)
        if not may_see_conversation(principal, known):
            raise _not_found(grant)
        environment = self._registry.environment

        def about(action: str) -> BoardChanged:
            return self._describe(found, known, action, by=principal.id)

        async with record_in_audit(self._prove, partial(about, "revoke"), environment=environment):
            await store.revoke(conversation, grant)
        self._emit(about("revoked"))
        return found

    async def _list_pending(self, approval: Approval) -> list[Approval]:
        query = ApprovalQuery(
            state="pending",
            run_id=approval.run_id,
            tool=approval.tool,
            principal=approval.principal,
            tenant=approval.tenant,
            limit=_MOST_PENDING,
        )
        page = await self._registry.environment.approvals.approvals(query)
        return list(page.approvals)

    def _describe(
        self, grant: ConversationGrant, conversation: Conversation, action: str, *, by: str
    ) -> BoardChanged:
        return BoardChanged(
            kind="grant",
            action=action,
            at=self._registry.environment.now(),
            subject=grant.tool,
            by=by,
            tenant=conversation.tenant,
            detail={
                "grant": grant.id,
                "conversation": conversation.id,
                "approval": grant.approval,
                "arguments_digest": grant.arguments_digest,
            },
        )

    def _emit(self, event: BoardChanged) -> None:
        emitter = self._registry.environment.emitter
        if emitter.has_listeners:
            emitter.emit(event)


def _not_found(grant: str) -> ConversationNotFound:
    return ConversationNotFound(f"There is no standing approval '{grant[:100]}' here.")
