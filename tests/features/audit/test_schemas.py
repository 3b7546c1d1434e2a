"""What is said of the trail."""

import pytest
from msgspec import structs

from pegboard.core.ports.audit_store import AuditRecord, AuditReport
from pegboard.features.audit.schemas import (
    AuditRecordAnswer,
    AuditReportAnswer,
    anchor_of,
    body_of,
    record_to_dict,
    report_to_dict,
)

RECORD = AuditRecord(
    sequence=1, at=2.0, kind="call", tenant="", body='{"tool":"pay"}', previous="0", hash="1"
)


def test_answers_are_as_they_are_described() -> None:
    report = report_to_dict(AuditReport(checked=1, first=1, last=1, head="1"))

    assert AuditRecordAnswer(**record_to_dict(RECORD)).hash == "1"
    assert AuditReportAnswer(**report).intact
    assert body_of(RECORD) == {"tool": "pay"}


@pytest.mark.parametrize(
    "body", ["", "no JSON", "[1]", '"text"', "null", pytest.param("[" * 100_000, id="deep")]
)
def test_a_body_that_somebody_has_changed_says_nothing(body: str) -> None:
    assert body_of(structs.replace(RECORD, body=body)) == {}


def test_an_anchor_is_a_sequence_and_its_hash() -> None:
    assert anchor_of("") is None
    assert anchor_of("12:ab") == (12, "ab")
