"""Approvals with where they come from: the title of the tool, people, and the conversation."""

from collections.abc import Sequence
from typing import Any

from pegboard.core.ports.approval_store import Approval
from pegboard.core.principal import Principal
from pegboard.features.approvals.schemas import approval_to_dict
from pegboard.features.credentials.parts import owner_of
from pegboard.runtime import Pegboard


async def show_approvals(
    board: Pegboard, approvals: Sequence[Approval], *, principal: Principal
) -> list[dict[str, Any]]:
    """Each as an `ApprovalAnswer`; a conversation only where this caller may see it."""
    runs = (item.run_id for item in approvals if item.run_id)
    conversations = await board.conversations.find_of_runs(runs, principal=principal)
    ids = {id_ for item in approvals for id_ in (item.principal, item.decided_by) if id_}
    people = await board.identity.accounts.read_people(ids) if principal.user else {}
    shown: list[dict[str, Any]] = []
    for item in approvals:
        data = approval_to_dict(item)
        for field in ("principal", "decided_by"):
            if person := people.get(getattr(item, field)):
                data |= {f"{field}_name": person.name, f"{field}_handle": person.handle}
        tool = board.registry.find(item.tool)
        if tool is not None and tool.spec.title:
            data["title"] = tool.spec.title
        if link := _find_link(board, item, principal):
            data["link"] = link
        conversation = conversations.get(item.run_id)
        if not await board.approvals.explain_refusal(item, principal=principal):
            grants = board.approvals.grants
            data["scopes"] = grants.list_scopes(item, conversation, principal=principal)
        if not data.get("scopes"):
            data.pop("scopes", None)
        if conversation is not None:
            data["conversation"] = conversation.id
            data["conversation_title"] = conversation.title
        shown.append(data)
    return shown


def _find_link(board: Pegboard, approval: Approval, principal: Principal) -> str:
    """Where a caller connects the account that its own call waits for; else empty."""
    is_open = approval.kind == "connection" and approval.state == "pending"
    if not is_open or approval.principal != principal.id:
        return ""
    return board.credentials.connections.link_to(
        approval.source, owner_of(principal), name=approval.account_name
    )
