"""What may become of an approval, in a table."""

from typing import Any

import pytest
from tests.storage.made import NOON
from tests.storage.test_approvals import an_approval

from pegboard.core.stores.approval_transitions import (
    apply_decision,
    apply_expiry,
    apply_use,
    apply_withdrawal,
    is_overdue,
)

ANSWER: dict[str, Any] = {"decided_by": "bob", "note": "", "edited": None, "edited_digest": ""}

# Which states may be decided, used by a new call, and run out.
STATES = {
    "pending": (True, False, True),
    "approved": (False, True, True),
    "edited": (False, True, True),
    "denied": (False, False, False),
    "expired": (False, False, False),
    "used": (False, False, False),
    "withdrawn": (False, False, False),
}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("late", [False, True], ids=["in time", "late"])
def test_each_state_allows_what_it_should(state: Any, late: bool) -> None:
    approval = an_approval(state=state, call_id="before")
    now = NOON + 60 if late else NOON
    may_be_decided, may_be_used, runs_out = STATES[state]

    assert (apply_decision(approval, "approved", now, ANSWER) is not None) == (
        may_be_decided and not late
    )
    assert (apply_use(approval, approval.digest, now, "c1") is not None) == (
        may_be_used and not late
    )
    assert is_overdue(approval, now) == (runs_out and late)
    assert apply_expiry(approval, now).state == ("expired" if runs_out and late else state)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("late", [False, True], ids=["in time", "late"])
def test_only_what_is_being_asked_is_taken_back(state: Any, late: bool) -> None:
    changed = apply_withdrawal(
        an_approval(state=state), NOON + 60 if late else NOON, by="bob", note="n"
    )

    assert (changed is not None) == (state == "pending" and not late)


def test_the_digest_of_an_edited_approval_is_that_of_the_edit() -> None:
    approval = an_approval(state="edited", edited={"order": 18}, edited_digest="new")

    assert apply_use(approval, approval.digest, NOON, "c1") is None
    assert apply_use(approval, "new", NOON, "c1") is not None
