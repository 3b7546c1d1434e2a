"""An approval store in memory, for registries without a storage."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.pagination import count_fitting, decode_cursor, encode_cursor
from pegboard.core.ports.approval_store import (
    Approval,
    ApprovalPage,
    ApprovalQuery,
    ApprovalVerdict,
    DecisionResult,
)
from pegboard.core.stores.approval_transitions import (
    OPEN,
    apply_decision,
    apply_expiry,
    apply_use,
    apply_withdrawal,
)
from pegboard.errors import InvalidRequest, Overloaded

_FILTERS = ("state", "principal", "run_id", "tool", "digest")
_MAX_PAGE = 1_000


class MemoryApprovals:
    """An `ApprovalStore` of at most `most`; those that are over are forgotten first, the oldest.

    Safe for several threads.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.time,
        most: int = 10_000,
        gate: ClosableLock | None = None,
    ) -> None:
        """Start empty.

        Args:
            now: Unix seconds.
            most: Approvals.
            gate: Shared with what is closed together with it; None for one of its own.
        """
        self._now = now
        self._most = most
        self._gate = gate or ClosableLock()
        self._items: dict[str, Approval] = {}
        self._numbers: dict[str, int] = {}
        self._number = 0

    async def ask(self, approval: Approval) -> Approval:
        """Keep the question and return it; one of this id that is there already is returned.

        Raises:
            Overloaded: Too many are waiting.
        """
        with self._gate:
            now = self._now()
            kept = self._items.get(approval.id)
            if kept is None:
                self._make_room(now)
                self._number += 1
                self._numbers[approval.id] = self._number
                kept = self._items[approval.id] = approval
            return apply_expiry(kept, now)

    async def get(self, id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        """One approval; None when there is none."""
        with self._gate:
            known = self._items.get(id)
            return None if known is None else apply_expiry(known, self._now())

    async def approvals(self, query: ApprovalQuery) -> ApprovalPage:
        """One page, newest first.

        Raises:
            InvalidRequest: The cursor is not one of ours, or the limit is out of range.
        """
        if not 1 <= query.limit <= _MAX_PAGE:
            raise InvalidRequest(f"limit has to be from 1 to {_MAX_PAGE}")
        before = decode_cursor(query.cursor, float, int)
        with self._gate:
            now = self._now()
            places = {
                (item.created_at, self._numbers[item.id]): apply_expiry(item, now)
                for item in self._items.values()
            }
        found = [
            place
            for place in sorted(places, reverse=True)
            if (before is None or place < before) and _matches(query, places[place])
        ]
        sizes = (_measure(places[place]) for place in found[: query.limit])
        page = found[: count_fitting(sizes)]
        more = len(found) > len(page)
        return ApprovalPage(
            approvals=[places[place] for place in page],
            next_cursor=encode_cursor(float(page[-1][0]), page[-1][1]) if more else "",
        )

    async def decide(
        self,
        id: str,  # noqa: A002 - it is known by its id
        verdict: ApprovalVerdict,
        *,
        by: str,
        note: str = "",
        edited: Any = None,
        edited_digest: str = "",
        grant: str = "",
    ) -> DecisionResult:
        """Decide the request, unless it is decided already or has expired."""
        with self._gate:
            now, known = self._now(), self._items.get(id)
            if known is None:
                return DecisionResult(applied=False, approval=None)
            answer = {"decided_by": by, "note": note, "edited": edited, "grant": grant}
            changed = apply_decision(
                known, verdict, now, {**answer, "edited_digest": edited_digest}
            )
            if changed is None:
                return DecisionResult(applied=False, approval=apply_expiry(known, now))
            self._items[id] = changed
            return DecisionResult(applied=True, approval=changed)

    async def use(self, id: str, *, digest: str, call_id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        """Let one call through: give the approval if it is approved and was not used."""
        with self._gate:
            now, known = self._now(), self._items.get(id)
            passed = None if known is None else apply_use(known, digest, now, call_id)
            if passed is not None:
                self._items[id] = passed
            return passed

    async def withdraw(self, run_id: str, *, by: str, note: str) -> Sequence[Approval]:
        """Withdraw the pending requests of a run; returns each once."""
        with self._gate:
            now = self._now()
            ended = [
                changed
                for item in self._items.values()
                if item.run_id == run_id
                and (changed := apply_withdrawal(item, now, by=by, note=note)) is not None
            ]
            self._items.update({item.id: item for item in ended})
            return ended

    async def expire(self) -> Sequence[Approval]:
        """Mark what has passed its time, and return it: each once."""
        with self._gate:
            now = self._now()
            ended = [
                shown
                for item in self._items.values()
                if (shown := apply_expiry(item, now)).state != item.state
            ]
            self._items.update({item.id: item for item in ended})
            return ended

    def count_pending(self) -> int:
        """How many wait for an answer."""
        with self._gate:
            now = self._now()
            return sum(apply_expiry(item, now).state == "pending" for item in self._items.values())

    def forget(self, before: float) -> int:
        """Forget what was used, or has expired, before this time; how many."""
        with self._gate:
            old = [item.id for item in self._items.values() if _is_over(item, before)]
            for id_ in old:
                del self._items[id_], self._numbers[id_]
            return len(old)

    def forget_run(self, run: str) -> int:
        """Forget the approvals of a run; how many."""
        with self._gate:
            old = [item.id for item in self._items.values() if item.run_id == run]
            for id_ in old:
                del self._items[id_], self._numbers[id_]
            return len(old)

    def _make_room(self, now: float) -> None:
        if len(self._items) < self._most:
            return
        over = next(
            (i.id for i in self._items.values() if apply_expiry(i, now).state not in OPEN), None
        )
        if over is None:
            raise Overloaded("Too many approvals are waiting.", nothing_done=True)
        del self._items[over], self._numbers[over]


def _is_over(approval: Approval, before: float) -> bool:
    """Whether it is old, and nothing holds by it any more; a denial does until it expires."""
    if approval.created_at >= before:
        return False
    expires_at = approval.expires_at
    is_late = expires_at is not None and expires_at < before
    return is_late or approval.state in {"used", "expired", "withdrawn"}


def _matches(query: ApprovalQuery, approval: Approval) -> bool:
    wanted = ((getattr(query, name), getattr(approval, name)) for name in _FILTERS)
    if query.visible is not None and not query.visible.includes(approval):
        return False
    return query.tenant in {None, approval.tenant} and all(
        want in {"", has} for want, has in wanted
    )


def _measure(approval: Approval) -> int:
    """About how many characters an approval has."""
    return len(repr((approval.arguments, approval.shown, approval.edited)))
