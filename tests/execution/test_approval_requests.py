"""What makes a call the one that was approved."""

import pytest
from tests.execution.made import ADA, BOB, Following, a_call, a_kit, a_spec, a_target, a_use

from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.ports.conversation_store import Conversation, ConversationGrant
from pegboard.core.tool import Effect
from pegboard.errors import ApprovalRequired
from pegboard.execution.approval_requests import digest_call, digest_edited_call
from pegboard.execution.steps.approval import approve

APPROVAL = Approval(id="a1", digest="d", tool="pay", principal="ada", created_at=1.0)


def test_every_part_of_a_call_counts() -> None:
    spec = a_spec()
    digests = {
        digest_call(a_call(), spec, "x"),
        digest_call(a_call(), spec, "y"),
        digest_call(a_call(principal=BOB), spec, "x"),
        digest_call(a_call(key="k"), spec, "x"),
        digest_call(a_call(), a_spec(version="2.0"), "x"),
        digest_call(a_call(), a_spec("other"), "x"),
    }

    assert len(digests) == 6
    assert digest_call(a_call(), spec, "x") in digests


def test_a_step_that_is_made_again_is_still_the_one_that_was_approved() -> None:
    spec = a_spec()
    first, again, waited, other, item = (
        digest_call(a_call(key=key), spec, "x")
        for key in ("r1:pay:0", "r1:pay:0:1", "r1:pay:0:1:w2", "r1:pay:0+1", "r1:pay:1")
    )

    assert first == again == waited
    assert len({first, other, item}) == 3


def test_an_edit_is_good_for_its_own_arguments_alone() -> None:
    assert digest_edited_call(APPROVAL, {"a": 1, "b": 2}) == digest_edited_call(
        APPROVAL, {"b": 2, "a": 1}
    )
    assert digest_edited_call(APPROVAL, {"a": 1}) != digest_edited_call(APPROVAL, {"a": 2})


@pytest.mark.parametrize(
    ("granted", "given_at", "is_covered"),
    [
        ("c1 1.0", 1.0, True),
        ("c1 1.0", 2.0, False),
        ("", 1.0, False),
    ],
    ids=["the same account", "another one of this name", "a grant without the account"],
)
async def test_a_standing_approval_covers_no_other_account_of_the_same_label(
    granted: str, given_at: float, is_covered: bool
) -> None:
    spec = a_spec(effect=Effect.ADMIN, destructive=False)
    call = a_call({})
    call.arguments = {}
    call.credential = a_use(given_at=given_at)
    asking = a_kit()
    with pytest.raises(ApprovalRequired):
        await approve(a_target(spec), asking, Following())(call)
    (asked,) = (await asking.approvals.approvals(ApprovalQuery())).approvals
    grant = ConversationGrant(
        id="gr",
        tool=asked.tool,
        version=asked.version,
        definition_digest=asked.definition_digest,
        reason=asked.reason,
        approval=asked.id,
        granted_by="ada",
        granted_at=0.0,
        account=granted,
    )
    conversation = Conversation(id="c", principal=ADA.id, tenant=ADA.tenant, grants=(grant,))

    async def find(_run: str) -> Conversation:
        return conversation

    following = Following()
    outcome = approve(a_target(spec), a_kit(conversation_of=find), following)(call)
    if is_covered:
        await outcome
    else:
        with pytest.raises(ApprovalRequired):
            await outcome
    assert asked.account == f"c1 {given_at}"
    assert following.calls == int(is_covered)
