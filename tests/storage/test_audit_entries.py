"""What the audit trail keeps of what happens."""

import pytest
from tests.storage.made import a_record

from pegboard.core.event import ApprovalChanged, BoardChanged, NodeChanged, SourceChanged
from pegboard.core.ports.audit_store import AuditEntry
from pegboard.core.record_snapshot import RecordSnapshot, freeze
from pegboard.storage import Storage
from pegboard.storage.audit_entries import AuditEventFilter, call_entry, is_audited
from pegboard.storage.history_rows import redact_nothing


@pytest.mark.parametrize(
    ("effect", "decision", "kept"),
    [
        ("read", "allow", False),
        ("read", "deny", True),
        ("read", "ask", True),
        ("write", "allow", True),
        ("admin", "", True),
        ("", "", False),
    ],
)
def test_what_changes_something_or_was_refused_is_kept(
    effect: str, decision: str, kept: bool
) -> None:
    assert is_audited(effect=effect, decision=decision, handler="", reads="none") == kept
    assert is_audited(effect=effect, decision=decision, handler="", reads="all")


@pytest.mark.parametrize(
    ("handler", "expected"),
    [("openapi GET /orders", True), ("mcp", True), ("sql", True), ("function", False), ("", False)],
)
def test_reads_that_leave_the_process_can_be_audited_alone(handler: str, expected: bool) -> None:
    found = is_audited(effect="read", decision="allow", handler=handler, reads="remote")

    assert found == expected


def test_an_entry_says_who_did_what_and_keeps_no_arguments() -> None:
    entry = call_entry(freeze(a_record(arguments={"card": "4111"})), redact_nothing)

    assert (entry.kind, entry.tenant, entry.body["principal"]) == ("call", "acme", "ada")
    assert len(entry.body["arguments_digest"]) == 64
    assert "4111" not in str(entry.body)


APPROVAL = ApprovalChanged(
    approval_id="ap_1",
    state="denied",
    at=5.0,
    tool="pay",
    digest="d",
    principal="ada",
    tenant="acme",
    note="the hush price",
)


def test_a_decision_is_kept_without_secrets() -> None:
    audited = AuditEventFilter(lambda text: text.replace("hush", "***"), reads="none")

    entry = audited.entry_of(APPROVAL)

    assert isinstance(entry, AuditEntry)
    assert (entry.kind, entry.at, entry.tenant) == ("approval", 5.0, "acme")
    assert entry.body["note"] == "the *** price"
    assert entry.body["approval_id"] == "ap_1"


@pytest.mark.parametrize(("kind", "kept"), [("policy", "policy"), ("retention", "board")])
def test_a_change_of_the_rules_is_kept_and_never_as_a_gap(kind: str, kept: str) -> None:
    event = BoardChanged(
        kind=kind, action="changed", at=float("nan"), detail={"deny": ["pay"], "n": 1}
    )

    entry = AuditEventFilter(redact_nothing, reads="none").entry_of(event)

    assert isinstance(entry, AuditEntry)
    assert (entry.kind, entry.at) == (kept, 0.0)
    assert entry.body["detail"] == {"deny": ["pay"], "n": 1}


def test_of_a_source_it_is_kept_that_it_changed() -> None:
    audited = AuditEventFilter(redact_nothing, reads="none", now=lambda: 7.0)
    ok = SourceChanged(source="shop", status="ok", tools=3)
    failed = SourceChanged(source="shop", status="failed", reason="gone")

    kept = [audited.entry_of(event) for event in (ok, ok, failed, failed, ok)]

    entries = [entry for entry in kept if isinstance(entry, AuditEntry)]
    assert [entry.body["status"] for entry in entries] == ["ok", "failed", "ok"]
    assert {entry.at for entry in entries} == {7.0}
    assert kept.count(None) == 2


def test_the_stack_of_foreign_code_is_the_logs_alone() -> None:
    audited = AuditEventFilter(redact_nothing, reads="none")

    entry = audited.entry_of(SourceChanged(source="shop", status="failed", stack="at 0x1"))
    again = audited.entry_of(SourceChanged(source="shop", status="failed", stack="at 0x2"))

    assert isinstance(entry, AuditEntry)
    assert "stack" not in entry.body
    assert again is None


def test_calls_that_only_read_and_steps_of_runs_need_no_proof() -> None:
    audited = AuditEventFilter(redact_nothing, reads="none")

    assert audited.entry_of(a_record(effect="read", decision="allow")) is None
    assert audited.entry_of(NodeChanged(run_id="r1", node="a", state="ready", at=1.0)) is None
    assert isinstance(audited.entry_of(a_record(effect="write")), RecordSnapshot)


async def test_what_happens_is_in_the_chain_in_its_order(storage: Storage) -> None:
    events = [
        APPROVAL,
        a_record(call_id="c1", effect="write"),
        BoardChanged(kind="switch", action="turned_off", at=2.0, subject="tool pay"),
        SourceChanged(source="shop", status="ok"),
        a_record(call_id="c2", effect="write"),
    ]
    for event in events:
        storage.auditor.on_event(event)
    await storage.flush()

    records = await storage.audit.records()
    kinds = [record.kind for record in records]
    assert kinds == ["approval", "call", "switch", "source", "call"]
    assert (await storage.audit.verify()).is_intact
