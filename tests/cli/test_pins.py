"""Definitions of upstreams on the command line, over a real data directory."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.features.pins.changing import BOARD, write

DATA = {"PEGBOARD_DATA": "data"}
LONG = "Send keys. " * 50


@pytest.fixture
def changed(pegboard: Command, folder: Path) -> Command:
    """A board whose upstream has changed two tools since they were pinned."""
    (folder / "board.yaml").write_text(BOARD)
    write(folder, "find", "show")
    pegboard("tools", **DATA)
    write(folder, "find", "show", summary="Send keys.")
    pegboard("tools", **DATA)
    return pegboard


def table(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()[1:]]


def test_what_is_approved_and_held_is_listed(changed: Command) -> None:
    pins = changed("pins", "list", "--data", "data")
    page = changed("pins", "list", "--limit", "1", **DATA)
    held = changed("pins", "held", "--source", "orders", "--state", "waiting", **DATA)
    as_json = json.loads(changed("pins", "held", "--json", **DATA).stdout)
    pins_json = json.loads(changed("pins", "list", "--json", **DATA).stdout)

    assert [row[:3] for row in table(pins.stdout)] == [
        ["orders", "find", "orders__find"],
        ["orders", "show", "orders__show"],
    ]
    assert "more with --cursor" in page.stderr
    assert [row[:4] for row in table(held.stdout)] == [
        ["orders", "find", "orders__find", "waiting"],
        ["orders", "show", "orders__show", "waiting"],
    ]
    assert [item["state"] for item in as_json["held"]] == ["waiting", "waiting"]
    assert len(pins_json["pins"]) == 2


def test_a_diff_is_shown_line_by_line(changed: Command) -> None:
    shown = changed("pins", "show", "orders", "find", **DATA)
    as_json = json.loads(changed("pins", "show", "orders", "find", "--json", **DATA).stdout)

    assert "title (wording)\n  - Look.\n  + Send keys.\n" in shown.stdout
    assert as_json["kind"] == "wording"


def test_schemas_and_long_texts_are_shown_in_part(pegboard: Command, folder: Path) -> None:
    (folder / "board.yaml").write_text(BOARD)
    write(folder, "find")
    pegboard("tools", **DATA)
    parameters: Any = [{"name": "q", "in": "query", "schema": {"type": "string"}}]
    write(folder, "find", summary="Look.", description=LONG, parameters=parameters)
    pegboard("tools", **DATA)

    shown = pegboard("pins", "show", "orders", "find", **DATA).stdout

    assert '  + {"type": "string"}' in shown
    assert "characters)" in shown
    assert LONG not in shown


def test_an_approved_tool_is_on_the_board_and_a_rejected_one_is_not(changed: Command) -> None:
    approved = changed("pins", "approve", "orders", "find", **DATA)
    rejected = json.loads(changed("pins", "reject", "orders", "show", "--json", **DATA).stdout)
    tools = json.loads(changed("tools", "--json", **DATA).stdout)

    assert "state: approved" in approved.stdout
    assert rejected["state"] == "rejected"
    said = {item["name"]: item["description"] for item in tools if item["source"] == "orders"}
    assert said == {"orders__find": "Send keys.", "orders__show": "Look."}


def test_all_that_waits_is_approved_at_once(changed: Command) -> None:
    done = changed("pins", "approve", "orders", "--all", **DATA)
    nothing = changed("pins", "approve", "orders", "--all", **DATA)

    assert done.stdout == "approved: orders find\napproved: orders show\n"
    assert (nothing.returncode, "No definition of the source" in nothing.stderr) == (2, True)


def test_all_that_waits_is_told_as_json(changed: Command) -> None:
    done = json.loads(changed("pins", "approve", "orders", "--all", "--json", **DATA).stdout)

    assert [item["state"] for item in done["held"]] == ["approved", "approved"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("approve", "orders"), "or use --all to approve everything that waits"),
        (("approve", "orders", "find", "--all"), "or use --all to approve everything that waits"),
        (("approve", "orders", "find", "--digest", "0"), "review its changes first"),
        (("show", "orders", "pay"), "No definition of 'pay'"),
    ],
    ids=["nothing named", "both", "another digest", "unknown"],
)
def test_wrong_use_is_told(changed: Command, arguments: tuple[str, ...], said: str) -> None:
    result = changed("pins", *arguments, **DATA)

    assert result.returncode == 2
    assert said in result.stderr


def test_without_a_data_directory_it_says_what_is_missing(pegboard: Command) -> None:
    result = pegboard("pins", "held")

    assert (result.returncode, "--data" in result.stderr) == (2, True)


def test_sources_and_doctor_say_how_many_wait(changed: Command) -> None:
    sources = changed("sources", **DATA)
    doctor = changed("doctor", **DATA)
    changed("pins", "approve", "orders", "show", **DATA)
    one = changed("sources", **DATA)

    assert "2 definitions wait for approval: pegboard pins held" in " ".join(sources.stdout.split())
    assert "2 definitions wait for approval: pegboard pins held" in " ".join(doctor.stdout.split())
    assert "1 definition waits for approval: pegboard pins held" in " ".join(one.stdout.split())
