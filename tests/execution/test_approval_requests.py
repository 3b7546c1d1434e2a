"""What makes a call the one that was approved."""

from tests.execution.made import BOB, a_call, a_spec

from pegboard.core.ports.approval_store import Approval
from pegboard.execution.approval_requests import digest_call, digest_edited_call

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
