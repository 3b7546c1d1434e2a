"""What is said of an approval: all but what says nothing, and never the arguments as they are."""

from pegboard.core.ports.approval_store import Approval, ApprovalPage
from pegboard.features.approvals.schemas import ApprovalList, page_to_dict

APPROVAL = Approval(
    id="a1",
    digest="d",
    tool="pay",
    principal="ada",
    created_at=1.0,
    arguments={"card": "4111"},
    shown={"card": "[redacted]"},
)


def test_a_page_is_as_it_is_described() -> None:
    page = page_to_dict(ApprovalPage(approvals=[APPROVAL]))

    assert ApprovalList.model_validate(page).approvals[0].arguments == {"card": "[redacted]"}
    assert "4111" not in str(page)
    assert "note" not in page["approvals"][0]
    assert page["next_cursor"] is None
