"""Approvals and the audit trail on the command line, over a real data directory."""

import asyncio
import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from pegboard.core.ports.audit_store import AuditEntry
from pegboard.storage import open_storage

SWAPPED = """
UPDATE {t} SET sequence = sequence - 5 WHERE sequence IN (2, 3);
UPDATE {t} SET sequence = -sequence WHERE sequence < 0;
"""


def asked(pegboard: Command, *arguments: str) -> str:
    """Make a call that is asked about; the approval's id."""
    result = pegboard("call", "my__wipe", "--data", "data", "--json", *arguments)
    return json.loads(result.stdout)["error"]["approval_id"]


def test_a_call_is_asked_about_approved_and_made_again(pegboard: Command) -> None:
    approval = asked(pegboard)
    listed = pegboard("approvals", "list", "--data", "data")
    shown = pegboard("approvals", "show", approval, "--data", "data")
    approved = pegboard(
        "approvals", "approve", approval, "--note", "fine", "--data", "data", "--json"
    )
    done = pegboard("call", "my__wipe", "--data", "data")
    again = pegboard("call", "my__wipe", "--data", "data")
    every = pegboard(
        "approvals", "list", "--state", "all", "--limit", "1", "--data", "data", "--json"
    )

    assert approval in listed.stdout
    assert "state: pending" in shown.stdout
    assert json.loads(approved.stdout)["note"] == "fine"
    assert (done.returncode, done.stdout.strip()) == (0, "gone")
    assert again.returncode == 1
    assert json.loads(every.stdout)["next_cursor"]


def test_a_denied_call_is_refused_with_the_note(pegboard: Command) -> None:
    pegboard("approvals", "deny", asked(pegboard), "--note", "not now", "--data", "data")

    refused = pegboard("call", "my__wipe", "--data", "data")

    assert refused.returncode == 1
    assert "refused it: not now" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [('{"x": 1}', "x"), ("[]", "a JSON object"), ("{", "not JSON")],
    ids=["it does not fit", "not an object", "not JSON"],
)
def test_a_wrong_edit_is_refused(pegboard: Command, arguments: str, said: str) -> None:
    result = pegboard(
        "approvals", "edit", asked(pegboard), "--arguments", arguments, "--data", "data"
    )

    assert result.returncode == 2
    assert said in result.stderr


def test_an_edit_approves(pegboard: Command) -> None:
    approval = asked(pegboard)
    edited = pegboard("approvals", "edit", approval, "--arguments", "{}", "--data", "data")

    assert edited.returncode == 0
    assert pegboard("call", "my__wipe", "--data", "data").stdout.strip() == "gone"


@pytest.mark.parametrize("command", [("approvals", "list"), ("audit", "verify")], ids=" ".join)
def test_without_a_data_directory_it_says_what_is_missing(
    pegboard: Command, command: tuple[str, ...]
) -> None:
    result = pegboard(*command)

    assert result.returncode == 2
    assert "--data" in result.stderr


def test_an_unknown_approval_is_wrong_use(pegboard: Command) -> None:
    result = pegboard("approvals", "show", "ap_none", "--data", "data")

    assert result.returncode == 2
    assert "There is no approval 'ap_none'" in result.stderr


def test_commands_that_only_look_write_nothing_into_the_trail(pegboard: Command) -> None:
    asked(pegboard)
    before = pegboard("audit", "export", "--data", "data").stdout
    for command in (("tools",), ("sources",), ("show", "my__wipe"), ("call", "my__greet", "{}")):
        pegboard(*command, PEGBOARD_DATA="data")

    assert [json.loads(line)["kind"] for line in before.splitlines()] == ["approval", "call"]
    assert pegboard("audit", "export", "--data", "data").stdout == before


def test_the_trail_is_listed_exported_and_checked(pegboard: Command) -> None:
    pegboard("approvals", "approve", asked(pegboard), "--data", "data")
    pegboard("call", "my__wipe", "--data", "data")
    listed = pegboard("audit", "list", "--kind", "approval", "--data", "data")
    page = pegboard("audit", "list", "--limit", "1", "--data", "data", "--json")
    exported = pegboard("audit", "export", "--data", "data")
    verified = pegboard("audit", "verify", "--data", "data")
    anchor = verified.stdout.split("anchor: ")[1].strip()

    lines = [json.loads(line) for line in exported.stdout.splitlines()]
    assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    assert listed.stdout.count("approval") == 3
    assert len(json.loads(page.stdout)["records"]) == 1
    assert verified.returncode == 0
    assert pegboard("audit", "verify", "--anchor", anchor, "--data", "data").returncode == 0
    assert pegboard("audit", "verify", "--anchor", "5", "--data", "data").returncode == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE {t} SET body = replace(body, 'local', 'nobody') WHERE sequence = 2", "record 2"),
        ("DELETE FROM {t} WHERE sequence = 2", "record 2 is missing"),
        (SWAPPED, "record 2"),
    ],
    ids=["changed", "missing", "reordered"],
)
def test_a_file_that_was_tampered_with_is_found_out(
    pegboard: Command, folder: Path, change: str, said: str
) -> None:
    pegboard("approvals", "approve", asked(pegboard), "--data", "data")
    pegboard("call", "my__wipe", "--data", "data")
    (file,) = (folder / "data").glob("*.db")
    with sqlite3.connect(file) as connection:
        connection.executescript(change.format(t="audit"))
    connection.close()

    result = pegboard("audit", "verify", "--data", "data")
    as_json = pegboard("audit", "verify", "--data", "data", "--json")

    assert result.returncode == 1
    assert result.stdout.startswith("NOT INTACT")
    assert said in result.stdout
    assert json.loads(as_json.stdout)["sequence"] == 2


def test_a_trail_that_was_cut_says_from_where_it_proves_what_happened(
    pegboard: Command, folder: Path
) -> None:
    async def cut() -> None:
        async with open_storage(folder / "data") as storage:
            entries = [AuditEntry(kind="call", at=float(at), body={}) for at in range(5)]
            await storage.audit.append(entries)
            await storage.audit.retain(since=3.0, by="ada")

    asyncio.run(cut())
    verified = pegboard("audit", "verify", "--data", "data")
    (said,) = json.loads(
        pegboard("audit", "list", "--kind", "retention", "--data", "data", "--json").stdout
    )["records"]

    assert verified.returncode == 0
    assert "3 records are intact" in verified.stdout
    assert "records before 4 were deleted by retention" in verified.stdout
    assert json.loads(said["body"])["last"] == 3
