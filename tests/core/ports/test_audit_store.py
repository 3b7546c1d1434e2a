"""What a check of the audit trail says."""

from pegboard.core.ports.audit_store import AuditReport


def test_a_report_without_a_fault_says_that_all_is_well() -> None:
    well = AuditReport(checked=2, first=1, last=2, head="h")
    ill = AuditReport(checked=2, first=1, last=2, head="h", fault="record 2 was changed")

    assert (well.is_intact, ill.is_intact) == (True, False)
