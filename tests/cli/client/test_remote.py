"""Every command beside a real server, over its HTTP API."""

import json
import socket
from pathlib import Path

import pytest
from tests.cli.client.conftest import TOKEN
from tests.cli.conftest import Command
from tests.durability.served import Server

pytestmark = pytest.mark.timeout(60)

PLAN = {"steps": [{"step_id": 1, "tool_id": "my__greet", "input_mapping": {"name": "Ada"}}]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("tools",), "my__greet"),
        (("tools", "--search", "greeting", "--tag", "nice"), "Greet somebody."),
        (("tools", "--unavailable"), "why it is unavailable"),
        (("show", "my__greet"), "input schema:"),
        (("explain", "my__wipe"), "my__wipe for local: ask"),
        (("explain", "my__greet", "--arg", "name=Ada"), "my__greet for local: allow"),
        (("call", "my__greet", "--arg", "name=Ada", "--arg", "times=2"), "Hello Ada! Hello Ada!"),
        (("sources",), "functions"),
        (("doctor",), "6 tools"),
        (("history",), "tool"),
        (("plan", "my__greet", "-p", "name=Ada"), "my__greet"),
        (("plan", "my__greet", "-p", "name=Ada", "--mermaid"), "flowchart"),
        (("runs", "list"), "begun"),
        (("runs", "list", "--assigned"), "question"),
        (("graph", "show"), "my__greet"),
        (("graph", "around", "my__greet"), "my__greet"),
        (("graph", "breaks", "my__greet"), "because it needs"),
        (("graph", "replacements", "my__greet"), "score"),
        (("graph", "update", "--add-edge", "my__greet,my__fail"), "my__greet"),
        (("approvals", "list"), "caller"),
        (("pins", "list"), "digest"),
        (("pins", "held"), "changes"),
        (("switches", "list"), "reason"),
        (("market", "list"), "good for"),
        (("audit", "list"), "sequence"),
        (("audit", "verify"), "records are intact"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_shows_what_the_server_has(
    arguments: tuple[str, ...], says: str, remote: Command, tmp_path: Path
) -> None:
    done = remote(*arguments)

    assert (done.returncode, done.stderr if done.returncode else "") == (0, "")
    assert says in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [("tools",), ("show", "my__greet"), ("tools", "--effect", "admin")],
    ids=" ".join,
)
def test_json_is_the_same_as_on_a_board_that_is_opened(
    arguments: tuple[str, ...], remote: Command, server_folder: Path
) -> None:
    over_http = json.loads(remote(*arguments, "--json").stdout)
    board = str(server_folder / "board.yaml")
    opened = json.loads(remote(*arguments, "--json", "--board", board).stdout)

    assert _sorted(over_http) == _sorted(opened)


def _sorted(found: object) -> object:
    return sorted(found, key=lambda item: item["name"]) if isinstance(found, list) else found


def test_a_call_is_the_same_result(remote: Command, server_folder: Path) -> None:
    call = ("call", "my__greet", '{"name": "Ada"}', "--json")
    over_http = json.loads(remote(*call).stdout)
    opened = json.loads(remote(*call, "--board", str(server_folder / "board.yaml")).stdout)

    assert over_http.keys() == opened.keys()
    assert over_http["meta"].keys() == opened["meta"].keys()
    assert (over_http["content"], over_http["structured"]) == ("Hello Ada!", "Hello Ada!")


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "exit_code"),
    [
        ("my__fail", "", "tool_failed", 1),
        ("my__crash", "", "tool_failed", 1),
        ("my__wipe", "", "approval_required", 1),
        ("my__greet", "{}", "arguments_invalid", 2),
        ("my__gret", "{}", "tool_not_found", 2),
        ("my__busy", "", "unavailable", 3),
    ],
)
def test_a_failed_call_keeps_its_code_message_and_exit_code(
    tool: str, arguments: str, code: str, exit_code: int, remote: Command, server_folder: Path
) -> None:
    call = ("call", tool, arguments, "--json")
    over_http = remote(*call)
    opened = remote(*call, "--board", str(server_folder / "board.yaml"))

    error, known = (json.loads(done.stdout)["error"] for done in (over_http, opened))
    assert (over_http.returncode, error["code"]) == (exit_code, code) == (opened.returncode, code)
    assert _without_ids(error) == _without_ids(known)


def _without_ids(error: dict[str, object]) -> dict[str, object]:
    message = str(error["message"]).partition(" (error id")[0].partition(" Call it again")[0]
    return {**error, "message": message, "error_id": None, "approval_id": None}


def test_an_error_of_a_command_keeps_its_exit_code(remote: Command) -> None:
    unknown = remote("show", "my__gret")
    approval = remote("approvals", "show", "ap_none")

    assert (unknown.returncode, approval.returncode) == (2, 2)
    assert unknown.stderr == "pegboard: Tool 'my__gret' not found. Did you mean 'my__greet'?\n"
    assert approval.stderr.startswith("pegboard: There is no approval 'ap_none'")


def test_the_cause_of_a_failure_is_shown_to_the_operator(remote: Command) -> None:
    failed = json.loads(remote("call", "my__crash", "--json").stdout)["error"]
    detail = remote("history", "--error", failed["error_id"])
    unknown = remote("history", "--error", "e_none")

    assert "ValueError" in detail.stdout
    assert (unknown.returncode, unknown.stderr) == (2, "pegboard: there is no error e_none\n")


def test_a_run_is_started_watched_drawn_and_shown(remote: Command, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    ran = remote("run", "plan.json", "--svg", "run.svg", "--timeline", "time.svg")
    again = remote("run", "plan.json", "--key", "k1", "--json")
    replayed = remote("run", "plan.json", "--key", "k1")
    run_id = json.loads(again.stdout)["run_id"]
    shown = remote("runs", "show", run_id)
    chart = remote("runs", "show", run_id, "--mermaid")

    assert ran.returncode == 0, ran.stderr
    assert '"Hello Ada!"' in ran.stdout
    assert "completed    1  my__greet" in ran.stderr
    assert "in_progress" not in replayed.stderr
    assert (tmp_path / "run.svg").read_text().startswith("<svg")
    assert (tmp_path / "time.svg").read_text().startswith("<svg")
    assert run_id in shown.stdout
    assert chart.stdout.startswith("flowchart")


def test_a_stored_plan_is_run_by_its_id(remote: Command) -> None:
    made = json.loads(remote("plan", "my__greet", "-p", "name=Bo", "--json").stdout)
    ran = remote("run", made["plan_id"])
    unknown = remote("run", "my__greet")

    assert '"Hello Bo!"' in ran.stdout
    assert unknown.returncode == 2
    assert "pegboard plan my__greet --run" in unknown.stderr


def test_a_run_waits_for_an_approval_and_goes_on(remote: Command, tmp_path: Path) -> None:
    plan = {"steps": [{"step_id": 1, "tool_id": "my__wipe", "input_mapping": {}}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    waiting = remote("run", "plan.json", "--json")
    run = json.loads(waiting.stdout)
    pending = run["pending"][0]
    shown = remote("approvals", "show", pending["approval_id"])
    answered = remote("runs", "answer", run["run_id"], pending["id"], "approve")
    paused = remote("runs", "pause", run["run_id"])

    assert waiting.returncode == 3
    assert "my__wipe" in shown.stdout
    assert answered.returncode == 0, answered.stderr
    assert '"gone"' in answered.stdout
    assert "it has ended and cannot be paused" in paused.stderr


def test_an_approval_is_decided_with_other_arguments(remote: Command) -> None:
    failed = json.loads(remote("call", "my__erase", "--json").stdout)["error"]
    denied = remote("approvals", "deny", failed["approval_id"], "--note", "no")
    again = remote("approvals", "edit", failed["approval_id"], "--arguments", "{}")

    assert "state: denied" in denied.stdout
    assert again.returncode == 2


def test_a_tool_is_turned_off_and_on(remote: Command) -> None:
    off = remote("switches", "off", "my__busy", "--reason", "r")
    unmatched = remote("switches", "off", "my__nothing")
    refused = remote("call", "my__busy")
    on = remote("switches", "on", "my__busy")
    remote("switches", "on", "my__nothing")

    assert (off.stdout, on.stdout) == ("off: my__busy\n", "on: my__busy\n")
    assert "there is no tool 'my__nothing' now" in unmatched.stderr
    assert refused.returncode == 1


def test_every_record_of_the_trail_is_exported(remote: Command) -> None:
    remote("switches", "off", "--writes")
    remote("switches", "on", "--writes")
    lines = remote("audit", "export", "--kind", "switch").stdout.splitlines()

    assert [json.loads(json.loads(line)["body"])["by"] for line in lines[-2:]] == ["local"] * 2


def test_the_option_names_the_server_too(remote: Command, server: Server) -> None:
    done = remote("tools", "--url", str(server.client.base_url), PEGBOARD_URL="")

    assert "my__greet" in done.stdout


def test_a_wrong_token_says_what_to_set(remote: Command) -> None:
    wrong = remote("tools", PEGBOARD_TOKEN="guessed")
    missing = remote("call", "my__greet", PEGBOARD_TOKEN="")

    assert (wrong.returncode, missing.returncode) == (2, 2)
    assert "refuses the token" in wrong.stderr
    assert "or got none" in missing.stderr
    assert "Set PEGBOARD_TOKEN" in missing.stderr
    assert "arguments of a process" in missing.stderr
    assert "guessed" not in wrong.stderr


def test_a_server_that_is_not_there_is_unavailable(remote: Command) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        done = remote("tools", "--url", url)

    assert done.returncode == 3
    assert f"The server at {url} cannot be reached" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("tools", "--board", "board.yaml"),
        ("tools", "--data", "data"),
    ],
    ids=" ".join,
)
def test_a_server_is_not_named_beside_a_board(
    arguments: tuple[str, ...], remote: Command, server: Server
) -> None:
    done = remote(*arguments, "--url", str(server.client.base_url))

    assert done.returncode == 2
    assert "leave --board and --data out" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("init", "."),
        ("add", "sql", "sqlite:///my.db"),
        ("market", "add", "a/b"),
    ],
    ids=" ".join,
)
def test_what_edits_a_file_of_this_machine_refuses_a_server(
    arguments: tuple[str, ...], remote: Command, tmp_path: Path
) -> None:
    done = remote(*arguments)

    assert done.returncode == 2
    assert "unset PEGBOARD_URL" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_no_command_shows_the_token(remote: Command) -> None:
    for command in (("doctor",), ("doctor", "--json"), ("sources", "--json")):
        done = remote(*command)
        assert TOKEN not in done.stdout + done.stderr
