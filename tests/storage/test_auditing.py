"""Which calls the audit trail keeps."""

import pytest
from tests.storage.made import a_record

from pegboard.core.frozen import freeze
from pegboard.storage.auditing import call_entry, is_audited
from pegboard.storage.rows import unchanged


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
    record = a_record(effect=effect, decision=decision)

    assert is_audited(record, reads=False) == kept
    assert is_audited(record, reads=True)


def test_an_entry_says_who_did_what_and_keeps_no_arguments() -> None:
    entry = call_entry(freeze(a_record(arguments={"card": "4111"})), unchanged)

    assert (entry.kind, entry.tenant, entry.body["principal"]) == ("call", "acme", "ada")
    assert len(entry.body["arguments_digest"]) == 64
    assert "4111" not in str(entry.body)
