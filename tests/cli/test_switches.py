"""Kill switches on the command line."""

import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.conftest import Command

DATA = {"PEGBOARD_DATA": "data"}


def test_a_tool_is_turned_off_listed_and_on_again(pegboard: Command) -> None:
    off = pegboard("switches", "off", "my__g*", "--reason", "it greets too much", **DATA)
    listed = pegboard("switches", "list", "--data", "data")
    refused = pegboard("call", "my__greet", '{"name": "Ada"}', **DATA)
    on = pegboard("switches", "on", "my__g*", **DATA)
    done = pegboard("call", "my__greet", '{"name": "Ada"}', **DATA)

    assert (off.returncode, off.stdout) == (0, "off: my__g*\n")
    assert listed.stdout.splitlines()[1].split()[:2] == ["tool", "my__g*"]
    assert listed.stdout.rstrip().endswith("/local  it greets too much")
    assert refused.returncode == 1
    assert "it greets too much" in refused.stderr
    assert on.stdout == "on: my__g*\n"
    assert done.stdout == "Hello Ada!\n"


def test_a_source_and_all_writes_are_turned_off(pegboard: Command) -> None:
    source = json.loads(pegboard("switches", "off", "--source", "my", "--json", **DATA).stdout)
    pegboard("switches", "off", "--writes", **DATA)
    listed = json.loads(pegboard("switches", "list", "--json", **DATA).stdout)["switches"]
    on = pegboard("switches", "on", "--writes", **DATA)

    assert (source["kind"], source["name"], source["state"], source["tools"]) == (
        *("source", "my", "off", None),
    )
    assert [(item["kind"], item["name"]) for item in listed] == [("source", "my"), ("writes", "")]
    assert on.stdout == "on: all writes\n"


def test_the_trail_says_who_has_thrown_what(pegboard: Command) -> None:
    pegboard("switches", "off", "--writes", "--reason", "an incident", **DATA)
    pegboard("switches", "on", "--writes", **DATA)
    lines = pegboard("audit", "export", "--kind", "switch", **DATA).stdout.splitlines()

    bodies = [json.loads(json.loads(line)["body"]) for line in lines]
    assert [(item["action"], item["subject"], item["by"]) for item in bodies] == [
        ("turned_off", "all writes", "local"),
        ("turned_on", "all writes", "local"),
    ]
    assert bodies[0]["detail"] == {"reason": "an incident"}


def test_nothing_is_off_of_an_empty_list(pegboard: Command) -> None:
    listed = pegboard("switches", "list", **DATA)

    assert "nothing is turned off" in listed.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("off",), "Name one of these"),
        (("off", "x", "--writes"), "Name one of these"),
        (("on", "x"), "Nothing is turned off as 'tool x'."),
        (("off", "a b"), "a glob such as"),
    ],
    ids=" ".join,
)
def test_what_means_nothing_is_wrong_use(
    pegboard: Command, arguments: tuple[str, ...], said: str
) -> None:
    refused = pegboard("switches", *arguments, **DATA)

    assert refused.returncode == 2
    assert said in refused.stderr


def test_without_a_place_to_keep_it_nothing_is_turned_off(pegboard: Command) -> None:
    refused = pegboard("switches", "off", "--writes")

    assert refused.returncode == 2
    assert "--data" in refused.stderr


def test_what_is_off_is_in_the_file(pegboard: Command, folder: Path) -> None:
    pegboard("switches", "off", "my__fail", **DATA)
    with sqlite3.connect(folder / "data" / "pegboard.db") as connection:
        rows = connection.execute("SELECT kind, name FROM switches").fetchall()
    connection.close()

    assert rows == [("tool", "my__fail")]
