"""Approvals in memory."""

from collections.abc import Sequence
from typing import Any

from pegboard.core.gate import Gate
from pegboard.core.ports.approval import Approval, ApprovalPage, ApprovalQuery, Decided, Verdict
from pegboard.core.ports.clock import Clock
from pegboard.errors import Overloaded
from pegboard.storage.approving import OPEN, decided, is_overdue, seen, used
from pegboard.storage.json_text import copied
from pegboard.storage.paging import cursor_of, page_size, position_of


class MemoryApprovals:
    """An `ApprovalStore` in memory. Safe for several threads."""

    def __init__(self, gate: Gate, *, clock: Clock, bound: int = 10_000) -> None:
        """Start empty; what is closed with the gate answers `Unavailable`.

        Args:
            gate: Closed together with the other stores.
            clock: What time it is.
            bound: Approvals; beyond it those that are over are forgotten, the oldest first.
        """
        self._bound = bound
        self._number = 0
        self._gate = gate
        self._clock = clock
        self._approvals: dict[str, Approval] = {}
        self._numbers: dict[str, int] = {}

    async def ask(self, approval: Approval) -> Approval:
        new = copied(approval)
        with self._gate:
            now = self._clock.time()
            kept = self._approvals.get(approval.id)
            if kept is None:
                self._make_room(now)
                self._number += 1
                self._numbers[approval.id] = self._number
                kept = self._approvals[approval.id] = new
            return seen(copied(kept), now)

    async def get(self, id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        with self._gate:
            known = self._approvals.get(id)
            return None if known is None else seen(copied(known), self._clock.time())

    async def approvals(self, query: ApprovalQuery) -> ApprovalPage:
        limit, before = page_size(query.limit), position_of(query.cursor)
        with self._gate:
            now = self._clock.time()
            found = [
                ((item.created_at, self._numbers[item.id]), seen(item, now))
                for item in self._approvals.values()
            ]
            wanted = [
                (position, item)
                for position, item in found
                if (before is None or position < before) and _matches(query, item)
            ]
            wanted.sort(key=lambda entry: entry[0], reverse=True)
            return ApprovalPage(
                approvals=[copied(item) for _, item in wanted[:limit]],
                next_cursor=cursor_of(wanted[limit - 1][0]) if len(wanted) > limit else "",
            )

    async def decide(
        self,
        id: str,  # noqa: A002 - it is known by its id
        verdict: Verdict,
        *,
        by: str,
        note: str = "",
        edited: Any = None,
        edited_digest: str = "",
    ) -> Decided:
        answer = {
            "decided_by": by,
            "note": note,
            "edited": edited,
            "edited_digest": edited_digest,
        }
        with self._gate:
            now, known = self._clock.time(), self._approvals.get(id)
            if known is None:
                return Decided(applied=False, approval=None)
            changed = decided(known, verdict, now, answer)
            if changed is None:
                return Decided(applied=False, approval=seen(copied(known), now))
            self._approvals[id] = copied(changed)
            return Decided(applied=True, approval=copied(changed))

    async def use(self, id: str, *, digest: str, call_id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        with self._gate:
            known = self._approvals.get(id)
            changed = known and used(known, digest, self._clock.time(), call_id)
            if not changed:
                return None
            self._approvals[id] = changed
            return copied(changed)

    async def expire(self) -> Sequence[Approval]:
        with self._gate:
            now = self._clock.time()
            ended = [seen(item, now) for item in self._approvals.values() if is_overdue(item, now)]
            self._approvals.update({item.id: item for item in ended})
            return [copied(item) for item in ended]

    def _make_room(self, now: float) -> None:
        if len(self._approvals) < self._bound:
            return
        items = self._approvals.values()
        over = next((item.id for item in items if seen(item, now).state not in OPEN), None)
        if over is None:
            raise Overloaded("Too many approvals are waiting.", nothing_done=True)
        del self._approvals[over], self._numbers[over]


def _matches(query: ApprovalQuery, approval: Approval) -> bool:
    equal = {
        "state": query.state,
        "principal": query.principal,
        "run_id": query.run_id,
        "tool": query.tool,
        "digest": query.digest,
    }
    return all(getattr(approval, name) == value for name, value in equal.items() if value) and (
        query.tenant is None or approval.tenant == query.tenant
    )
