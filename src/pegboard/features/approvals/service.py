"""What the service does with approvals: list, show and decide them, and let them expire."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from msgspec import structs

from pegboard.core.ports.approval import Approval, ApprovalPage, ApprovalQuery, Verdict
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AccessDenied,
    ApprovalDecided,
    ApprovalExpired,
    ApprovalNotFound,
    InvalidRequest,
    PegboardError,
    RunNotFound,
)
from pegboard.execution.approvals import approval_changed, edited_digest
from pegboard.execution.redaction import MASK
from pegboard.execution.target import Target
from pegboard.features.approvals.policy import SCOPE, may_decide, may_see
from pegboard.registry import ToolRegistry

Decision = Literal["approve", "deny", "edit"]
Wake = Callable[[Approval], Awaitable[None]]

_LOG = logging.getLogger("pegboard.approvals")
_VERDICTS: Mapping[str, Verdict] = {"approve": "approved", "deny": "denied", "edit": "edited"}
_DECIDED = ("approved", "edited", "denied")
_REMEMBERED = 600.0


async def _nobody(_approval: Approval) -> None:
    return


class Approvals:
    """The approvals of a registry, for callers who may see or decide them.

    ```python
    approvals = Approvals(registry)
    page = await approvals.list(ApprovalQuery(state="pending"))
    await approvals.decide(page.approvals[0].id, "approve", note="as agreed")
    ```

    Args:
        registry: Whose calls.
        wake: Told of each approval of a run that was decided or expired, perhaps more than once:
            the run makes its call again, and hears then what was decided.
    """

    def __init__(self, registry: ToolRegistry, *, wake: Wake = _nobody) -> None:
        self._registry = registry
        self._wake = wake

    async def list(self, query: ApprovalQuery, *, principal: Principal = LOCAL) -> ApprovalPage:
        """One page of the approvals that this caller may see, newest first.

        Raises:
            InvalidRequest: The cursor is not one of ours, or the limit is out of range.
        """
        if "*" not in principal.scopes:
            mine = "" if may_decide(principal) else principal.id
            if mine and query.principal not in {"", mine}:
                return ApprovalPage(approvals=())
            query = structs.replace(
                query, tenant=principal.tenant, principal=mine or query.principal
            )
        return await self._registry.kit.approvals.approvals(query)

    async def get(
        self,
        approval_id: str,
        *,
        principal: Principal = LOCAL,
    ) -> Approval:
        """One approval.

        Raises:
            ApprovalNotFound: There is none of this id for this caller.
        """
        found = await self._registry.kit.approvals.get(approval_id)
        if found is None or not may_see(principal, found):
            raise ApprovalNotFound(f"There is no approval '{approval_id[:100]}'.")
        return found

    async def decide(
        self,
        approval_id: str,
        decision: Decision,
        *,
        note: str = "",
        arguments: Mapping[str, Any] | None = None,
        principal: Principal = LOCAL,
    ) -> Approval:
        """Answer it. The call runs when it is made again, never by the answer itself.

        Args:
            approval_id: Which one.
            decision: `approve`, `deny`, or `edit`: approve it with other arguments.
            note: For whoever made the call.
            arguments: All of them, as they shall be; only with `edit`.
            principal: Who decides.

        Raises:
            ApprovalNotFound: There is none of this id for this caller.
            AccessDenied: The caller may see it and not decide it.
            InvalidRequest: The decision and the arguments do not fit each other.
            ToolArgumentError: The tool does not take these arguments.
            ApprovalDecided: Somebody was first.
            ApprovalExpired: It is too late.
        """
        found = await self.get(approval_id, principal=principal)
        if not may_decide(principal):
            raise AccessDenied(found.tool, f"the caller lacks the scope {SCOPE}")
        edited = self._checked(found, decision, arguments)
        kit = self._registry.kit
        outcome = await kit.approvals.decide(
            found.id,
            _VERDICTS[decision],
            by=principal.id,
            note=note,
            edited=edited,
            edited_digest="" if edited is None else edited_digest(found, edited),
        )
        if not outcome.applied or outcome.approval is None:
            raise _too_late(outcome.approval or found)
        await self._tell(outcome.approval)
        return outcome.approval

    async def expire(self) -> int:
        """Let those go whose time has passed; how many."""
        ended = await self._registry.kit.approvals.expire()
        for approval in ended:
            await self._tell(approval)
        return len(ended)

    async def catch_up(self, *, seconds: float | None = None) -> None:
        """Wake runs that were not waiting yet, or not open, when their approval was decided.

        Args:
            seconds: Only what was decided in the last so many; None for all that is known.
        """
        kit = self._registry.kit
        since = 0.0 if seconds is None else kit.now() - seconds
        for state in _DECIDED:
            page = await kit.approvals.approvals(ApprovalQuery(state=state, limit=200))
            for approval in page.approvals:
                if approval.run_id and (approval.decided_at or 0.0) >= since:
                    await self._woken(approval)

    async def watch(self, every: float) -> None:
        """Do both now and from time to time, until cancelled."""
        seconds: float | None = None
        while True:
            try:
                await self.expire()
                await self.catch_up(seconds=seconds)
                seconds = _REMEMBERED
            except PegboardError:
                _LOG.warning("approvals could not be looked through, and will be later")
            await asyncio.sleep(every)

    def _checked(
        self, approval: Approval, decision: Decision, arguments: Mapping[str, Any] | None
    ) -> dict[str, Any] | None:
        """The edited arguments as they are kept; None where nothing is edited."""
        if decision != "edit":
            if arguments is not None:
                raise InvalidRequest(f"'arguments' go with 'edit', not with '{decision}'.")
            return None
        if arguments is None:
            raise InvalidRequest("'edit' needs 'arguments': all of them, as they shall be.")
        edited = dict(arguments)
        if MASK in repr(edited):
            raise InvalidRequest(f"The arguments still hold '{MASK}': write what it stands for.")
        tool = self._registry.find(approval.tool)
        if tool is not None:  # one that is gone, or not open here, checks them when it is called
            Target(tool, keyed=False).read(edited)
        return edited

    async def _tell(self, approval: Approval) -> None:
        kit = self._registry.kit
        if kit.emitter.is_heard:
            at = approval.expires_at if approval.state == "expired" else approval.decided_at
            kit.emitter.emit(approval_changed(approval, at=at or kit.now()))
        if approval.run_id:
            await self._woken(approval)

    async def _woken(self, approval: Approval) -> None:
        """What was decided stays decided, whether or not the run hears of it now."""
        try:
            await self._wake(approval)
        except RunNotFound:
            return
        except PegboardError:
            _LOG.warning("run %s could not be told of a decision", approval.run_id)


def _too_late(approval: Approval) -> PegboardError:
    if approval.state == "expired":
        return ApprovalExpired("This approval has expired: the call has to be made again.")
    by = approval.decided_by or "somebody"
    return ApprovalDecided(f"This approval is {approval.state} already, by {by}.")
