"""What is kept in a PostgreSQL is read from there by every command, with or without a board."""

import json
import sqlite3
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.storage.conftest import postgres, postgres_server

__all__ = ["postgres", "postgres_server"]
pytestmark = pytest.mark.timeout(60)  # the first test pays for the start of the server

PLAN = '{"steps": [{"step_id": "a", "tool_id": "my__greet", "input_mapping": {"name": "Ada"}}]}'


@pytest.fixture
def shared(pegboard: Command, postgres: str, folder: Path) -> Command:
    """Commands over a database, beside a data directory in which nothing is recorded."""
    (folder / "data").mkdir()

    def run(*arguments: str, **environment: str):
        return pegboard(
            *arguments, **{"PEGBOARD_DATABASE": postgres, "PEGBOARD_DATA": "data"} | environment
        )

    return run


def test_calls_and_their_errors_are_read_from_the_database(shared: Command) -> None:
    shared("call", "my__greet", '{"name": "Ada"}')
    error_id = json.loads(shared("call", "my__crash", "--json").stdout)["error"]["error_id"]
    page = json.loads(shared("history", "--json").stdout)

    assert [call["tool"] for call in page["calls"]] == ["my__crash", "my__greet"]
    assert "hunter2" in shared("history", "--error", error_id).stdout


def test_approvals_and_the_trail_are_there_too(shared: Command) -> None:
    asked = json.loads(shared("call", "my__wipe", "--json").stdout)["error"]["approval_id"]
    pending = json.loads(shared("approvals", "list", "--json").stdout)["approvals"]
    approved = shared("approvals", "approve", asked)
    done = shared("call", "my__wipe")
    verified = shared("audit", "verify")
    kinds = [
        line["kind"] for line in map(json.loads, shared("audit", "export").stdout.split("\n")[:-1])
    ]

    assert [item["id"] for item in pending] == [asked]
    assert (approved.returncode, done.stdout.strip()) == (0, "gone")
    assert verified.returncode == 0, verified.stdout
    assert kinds.count("approval") == 3
    assert "source" not in kinds  # how they open for one command proves nothing


def test_runs_are_there_too(shared: Command, folder: Path) -> None:
    (folder / "plan.json").write_text(PLAN)
    shared("run", "plan.json")
    (listed,) = json.loads(shared("runs", "list", "--json").stdout)["runs"]
    shown = json.loads(shared("runs", "show", listed["run_id"], "--json").stdout)

    assert (listed["state"], shown["output"]) == ("completed", {"a": "Hello Ada!"})


@pytest.mark.slow
def test_nothing_of_it_is_in_the_data_directory(shared: Command, folder: Path) -> None:
    shared("call", "my__greet", '{"name": "Ada"}')

    assert not (folder / "data" / "pegboard.db").exists()
    with pytest.raises(sqlite3.OperationalError):
        sqlite3.connect(f"file:{folder}/data/pegboard.db?mode=ro", uri=True)


@pytest.mark.parametrize("command", [("history",), ("audit", "list"), ("approvals", "list")])
def test_without_either_both_are_named(command: tuple[str, ...], pegboard: Command) -> None:
    done = pegboard(*command)

    assert done.returncode == 2
    assert "PEGBOARD_DATA" in done.stderr
    assert "PEGBOARD_DATABASE" in done.stderr
