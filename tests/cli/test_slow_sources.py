"""Commands beside sources that hang or fail: each waits for what it needs, and tells the rest."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from pegboard.storage.databases.directory_lock import DirectoryLock

_HUNG = """
network: {allow_hosts: [127.0.0.1]}
sources:
  - {kind: functions, name: my, config: {files: [tools.py]}}
  - {kind: openapi, name: hung, config: {document: "http://127.0.0.1:PORT/openapi.json"}}
"""
_ENTRIES = """
sources:
  - {kind: functions, name: my, config: {files: [tools.py]}}
  - {kind: functions, name: broken, config: {files: [broken.py]}}
tools:
  - {tool_id: ask_v1, type: Workflow, url: "flow://x"}
  - {tool_id: nothing_v1, type: RestAPI}
"""


@pytest.fixture
def silent() -> Iterator[int]:
    """A port that accepts connections and says nothing, ever."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(50)
        yield listening.getsockname()[1]


@pytest.mark.parametrize(
    "command",
    [
        ("call", "my__greet", "--arg", "name=Ada"),
        ("call", "my__greet_v1", "--arg", "name=Ada"),
        ("show", "my__greet"),
        ("explain", "my__greet"),
        ("run", "plan.json"),
    ],
    ids=["call", "call by id", "show", "explain", "run"],
)
def test_a_command_about_one_tool_waits_for_no_other_source(
    command: tuple[str, ...], pegboard: Command, folder: Path, silent: int
) -> None:
    (folder / "board.yaml").write_text(_HUNG.replace("PORT", str(silent)))
    step = {"id": "a", "tool": "my__greet", "input": {"name": "Ada"}}
    (folder / "plan.json").write_text(json.dumps({"nodes": [step]}))

    began = time.monotonic()
    done = pegboard(*command, PEGBOARD_LIST_TIMEOUT="60")

    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began < 40  # the other source has a minute


def test_a_command_about_one_tool_opens_no_other_source(pegboard: Command, folder: Path) -> None:
    source = "  - {kind: functions, name: other, config: {files: [other.py]}}\n"
    board = folder / "board.yaml"
    board.write_text(_HUNG.split("  - {kind: openapi", maxsplit=1)[0] + source)
    (folder / "other.py").write_text("import pathlib\npathlib.Path('opened').touch()\n")

    done = pegboard("call", "my__greet", "--arg", "name=Ada")

    assert done.returncode == 0, done.stderr
    assert not (folder / "opened").exists()


def test_a_call_of_a_source_that_hangs_ends_with_its_deadline_and_the_reason(
    pegboard: Command, folder: Path, silent: int
) -> None:
    (folder / "board.yaml").write_text(_HUNG.replace("PORT", str(silent)))

    began = time.monotonic()
    done = pegboard("call", "hung__pay", "--timeout", "0.5", PEGBOARD_LIST_TIMEOUT="60")

    assert done.returncode == 3
    assert "its source 'hung' is pending: no answer yet after " in done.stderr
    assert time.monotonic() - began < 40  # the other source has a minute


@pytest.mark.timeout(60)
@pytest.mark.parametrize("command", [("show", "hung__pay"), ("explain", "hung__pay")])
def test_a_tool_of_a_hung_source_is_waited_for_and_then_told(
    command: tuple[str, ...], pegboard: Command, folder: Path, silent: int
) -> None:
    (folder / "board.yaml").write_text(_HUNG.replace("PORT", str(silent)))

    done = pegboard(*command, PEGBOARD_LIST_TIMEOUT="1")

    assert done.returncode == 3
    assert "its source 'hung' failed: no answer within 1 s" in done.stderr


@pytest.mark.parametrize("command", [("show", "my_greet"), ("run", "plan.json")])
def test_a_wrong_name_is_told_with_the_nearest_of_all_sources(
    command: tuple[str, ...], pegboard: Command, folder: Path
) -> None:
    step = {"id": "a", "tool": "my_greet", "input": {"name": "Ada"}}
    (folder / "plan.json").write_text(json.dumps({"nodes": [step]}))

    done = pegboard(*command)

    assert done.returncode == 2
    assert "'my__greet'" in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_lists_wait_for_all_and_tell_what_is_missing(
    pegboard: Command, folder: Path, silent: int
) -> None:
    (folder / "board.yaml").write_text(_HUNG.replace("PORT", str(silent)))

    done = pegboard("tools", PEGBOARD_LIST_TIMEOUT="6")

    assert "my__greet" in done.stdout
    assert "source 'hung' failed: no answer within 6 s" in done.stderr


def test_tools_that_cannot_be_used_are_counted_and_listed_with_the_reason(
    pegboard: Command, folder: Path
) -> None:
    (folder / "broken.py").write_text("raise ValueError('foreign text')\n")
    (folder / "board.yaml").write_text(_ENTRIES)

    plain = pegboard("tools")
    listed = pegboard("tools", "--unavailable")
    as_json = json.loads(pegboard("tools", "--unavailable", "--json").stdout)
    sources = pegboard("sources")
    doctor = json.loads(pegboard("doctor", "--json").stdout)

    assert "6 tools, 2 unavailable; 'pegboard tools --unavailable' says why" in plain.stderr
    assert "ask" not in plain.stdout
    assert "this version cannot run tools of type Workflow" in " ".join(listed.stdout.split())
    assert {item["name"]: item["unavailable"] for item in as_json} == {
        "ask": "this version cannot run tools of type Workflow",
        "nothing": "its handler is not named: write 'url' beside its type RestAPI",
    }
    assert "Traceback" not in plain.stderr + sources.stderr
    assert "source 'broken' failed: 'broken.py' failed to import (ValueError)" in plain.stderr
    assert sources.stderr == "Set PEGBOARD_LOG=stderr to show the log.\n"
    checks = {check["check"]: (check["status"], check["detail"]) for check in doctor}
    assert checks["tool ask"] == ("missing", "this version cannot run tools of type Workflow")


def test_where_all_can_be_used_it_says_so(pegboard: Command) -> None:
    done = pegboard("tools", "--unavailable")

    assert done.stderr.startswith("6 tools, none unavailable\n")


def test_a_filter_that_nothing_passes_names_the_nearest(pegboard: Command) -> None:
    done = pegboard("tools", "--source", "mu")

    assert done.returncode == 0
    assert done.stdout.split() == ["name", "effect", "category", "description"]
    assert "no tool has the source 'mu'; there are board, my" in done.stderr


def test_doctor_goes_on_where_a_server_has_the_data(pegboard: Command, folder: Path) -> None:
    (folder / "data").mkdir()
    lock = DirectoryLock(folder / "data")
    done = pegboard("doctor", "--data", "data", "--json")
    lock.release()

    checks = {check["check"]: check for check in json.loads(done.stdout)}
    assert done.returncode == 0
    assert checks["data"]["status"] == "unchecked"
    assert " is in use by " in checks["data"]["detail"]
    assert checks["source my"]["detail"] == "5 tools"


def test_doctor_tells_of_a_wrong_board_although_a_server_has_the_data(
    pegboard: Command, folder: Path
) -> None:
    (folder / "data").mkdir()
    (folder / "board.yaml").write_text("tools: [{tool_id: x_v1, type: Nonsense}]")
    lock = DirectoryLock(folder / "data")
    done = pegboard("doctor", "--data", "data", "--json")
    lock.release()

    found = {check["check"]: check["status"] for check in json.loads(done.stdout)}
    assert done.returncode == 2
    assert found["board"] == "wrong"
