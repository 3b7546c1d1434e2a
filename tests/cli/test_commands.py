import json
import re
from importlib.metadata import metadata
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.peers.disk import no_room


def test_tools_lists_what_may_be_seen(pegboard: Command) -> None:
    done = pegboard("tools")

    assert done.returncode == 0
    assert "my__greet" in done.stdout
    assert "Greet somebody." in done.stdout


def test_tools_searches_and_filters_as_json(pegboard: Command) -> None:
    found = json.loads(pegboard("tools", "--search", "greeting people", "--json").stdout)
    tagged = json.loads(pegboard("tools", "--tag", "nice", "--json").stdout)
    admin = json.loads(pegboard("tools", "--effect", "admin", "--json").stdout)

    assert found[0]["name"] == "my__greet"
    assert [tool["name"] for tool in tagged] == ["my__greet"]
    assert [tool["name"] for tool in admin] == ["my__wipe"]


def test_a_search_is_short_for_people_and_whole_for_scripts(
    pegboard: Command, folder: Path
) -> None:
    tools = folder / "tools.py"
    more = "".join(
        f'@tool(effect="read")\ndef wave{n}() -> str:\n    """Wave a flag."""\n    return ""\n\n'
        for n in range(25)
    )
    tools.write_text(f"{tools.read_text()}\n\n{more}")
    shown = pegboard("tools", "--search", "wave a flag")
    found = json.loads(pegboard("tools", "--search", "wave a flag", "--json").stdout)

    assert len(shown.stdout.splitlines()) == 21
    assert len(found) == 25


def test_show_has_the_whole_spec(pegboard: Command) -> None:
    spec = json.loads(pegboard("show", "my__greet", "--json").stdout)
    text = pegboard("show", "my__greet").stdout

    assert spec["input_schema"]["properties"]["name"] == {
        "description": "Whom.",
        "type": "string",
    }
    assert spec["input_schema"]["additionalProperties"] is False
    assert "input schema:" in text
    assert "output schema:" in text


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(('{"name": "Ada", "times": 2}',), id="json"),
        pytest.param(("--arg", "name=Ada", "--arg", "times=2"), id="pairs"),
        pytest.param(("-a", "name=Ada", "-a", "times:=2"), id="a json pair"),
    ],
)
def test_call_prints_the_result(arguments: tuple[str, ...], pegboard: Command) -> None:
    done = pegboard("call", "my__greet", *arguments)

    assert (done.returncode, done.stdout) == (0, "Hello Ada! Hello Ada!\n")
    assert "my__greet: 1/2 thinking" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("name=Ada",), "--arg name=Ada"),
        (("name=Ada B", "times:=2"), "--arg 'name=Ada B' --arg times:=2"),
        (("--name", "Ada"), "--arg name=Ada"),
        (("--sku", "pear"), "--arg sku=pear"),
        (("--name=Ada", "--times", "2", "--json"), "--arg name=Ada --arg times=2"),
    ],
)
def test_call_says_how_arguments_are_written(
    arguments: tuple[str, ...], meant: str, pegboard: Command
) -> None:
    done = pegboard("call", "my__greet", *arguments)

    assert done.returncode == 2
    assert done.stderr == f"pegboard: arguments of a tool need --arg; did you mean '{meant}'?\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tiemout", "3"), "there is no option --tiemout; did you mean --timeout?"),
        (("--name",), "'--name' is not a JSON object: write the arguments as JSON, or as --arg"),
        (("Ada", "Bob"), "'Ada Bob' is not a JSON object: write the arguments as JSON, or as"),
    ],
)
def test_call_knows_its_options_from_arguments_of_the_tool(
    arguments: tuple[str, ...], message: str, pegboard: Command
) -> None:
    done = pegboard("call", "my__greet", *arguments)

    assert done.returncode == 2
    assert done.stderr.startswith(f"pegboard: {message}")


def test_call_reads_stdin(pegboard: Command) -> None:
    assert pegboard("call", "my__greet", "-", stdin='{"name": "Bo"}').stdout == "Hello Bo!\n"


def test_call_prints_everything_as_json(pegboard: Command) -> None:
    result = json.loads(pegboard("call", "my__greet", '{"name": "Ada"}', "--json").stdout)

    assert (result["structured"], result["is_error"]) == ("Hello Ada!", False)
    assert result["meta"]["attempts"] == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "says"),
    [
        pytest.param("my__fail", "", 1, "It cannot be done.", id="the tool says no"),
        pytest.param("my__crash", "", 1, "'my__crash' failed. (error id", id="the tool breaks"),
        pytest.param("my__wipe", "", 1, "Approval needed", id="asks"),
        pytest.param("my__greet", "{}", 2, "name: missing, required (Whom.)", id="arguments"),
        pytest.param("my__greet", "{nope", 2, "not valid JSON", id="malformed"),
        pytest.param("my__gret", "{}", 2, "Did you mean 'my__greet'", id="unknown"),
        pytest.param("my__busy", "", 3, "try again later", id="busy"),
    ],
)
def test_a_failed_call_has_its_exit_code(
    tool: str, arguments: str, code: int, says: str, pegboard: Command
) -> None:
    done = pegboard("call", tool, arguments)

    assert done.returncode == code
    assert says in done.stderr
    assert done.stdout == ""
    assert "hunter2" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("my__crash", r"  pegboard history --error e_\w+ --data data"),
        ("my__wipe", r"  pegboard approvals approve ap_\w+ --data data  # or deny"),
    ],
    ids=["a bug", "an approval"],
)
def test_a_failed_call_names_the_next_command(tool: str, command: str, pegboard: Command) -> None:
    said = pegboard("call", tool, "--data", "data").stderr

    assert re.fullmatch(command, said.splitlines()[-1])


def test_a_failed_call_as_json_says_why(pegboard: Command) -> None:
    done = pegboard("call", "my__greet", '{"nme": 1}', "--json")
    error = json.loads(done.stdout)["error"]

    assert done.returncode == 2
    assert error["code"] == "arguments_invalid"
    assert [problem["path"] for problem in error["problems"]] == ["name", "nme"]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("call", "my__greet", "{}", "--arg", "a=b"), id="both ways"),
        pytest.param(("call", "my__greet", "--arg", "nothing"), id="no equals sign"),
        pytest.param(("call", "my__greet", "--arg", "a:=nope"), id="not JSON"),
        pytest.param(("call",), id="no name"),
        pytest.param(("nonsense",), id="no such command"),
        pytest.param(("tools", "--limit", "0"), id="limit"),
        pytest.param(("tools", "--board", "no.yaml"), id="no board"),
        pytest.param(("show", "no_such_tool"), id="no tool"),
        pytest.param(("explain", "no_such_tool"), id="nothing to explain"),
        pytest.param(("history",), id="no data directory"),
        pytest.param(("history", "--data", "nowhere"), id="nothing recorded"),
    ],
)
def test_wrong_use_ends_with_2_and_says_what_to_do(
    arguments: tuple[str, ...], pegboard: Command
) -> None:
    done = pegboard(*arguments)

    assert done.returncode == 2
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_a_mistake_in_the_board_is_told_with_its_line(pegboard: Command, folder: Path) -> None:
    (folder / "board.yaml").write_text("sources:\n  - {kind: functionz}\n")
    done = pegboard("tools")

    assert done.returncode == 2
    assert "board.yaml:2: there is no source kind 'functionz'" in done.stderr


def test_a_wrong_variable_is_told(pegboard: Command) -> None:
    done = pegboard("tools", PEGBOARD_PROT="1")

    assert done.returncode == 2
    assert "PEGBOARD_PORT" in done.stderr


def test_explain_tells_of_hidden_tools(pegboard: Command, folder: Path) -> None:
    board = folder / "board.yaml"
    board.write_text(board.read_text().replace("*crash_not*", "my__w*"))

    listed = pegboard("tools").stdout
    text = pegboard("explain", "my__wipe").stdout
    answer = json.loads(pegboard("explain", "my__wipe", "--json").stdout)

    assert "my__wipe" not in listed
    assert "deny, hidden" in text
    assert (answer["verdict"], answer["rule"]) == ("deny", "policy.deny[0]")
    assert text.endswith(
        "what would let the caller in:\n"
        "  policy: the operator changes the policy (policy.deny[0])\n"
    )
    assert [step["check"] for step in answer["remedies"]] == ["policy"]


def test_explain_takes_the_arguments_of_a_call(pegboard: Command, folder: Path) -> None:
    board = folder / "board.yaml"
    rule = "{when: \"tool.name == 'my__greet' && args.name == 'Bob'\", then: deny}"
    board.write_text(board.read_text().replace('*crash_not*"]', f'*crash_not*"], rules: [{rule}]'))

    of_ada = json.loads(pegboard("explain", "my__greet", "-a", "name=Ada", "--json").stdout)
    of_bob = json.loads(pegboard("explain", "my__greet", "-a", "name=Bob", "--json").stdout)

    assert (of_ada["verdict"], of_bob["verdict"]) == ("allow", "deny")
    assert of_bob["rule"] == "policy.rules[0]"


def test_sources_tells_what_is_wrong(pegboard: Command, folder: Path) -> None:
    board = folder / "board.yaml"
    board.write_text(
        board.read_text().replace(
            "policy:", "  - {kind: functions, name: bad, config: {files: [no.py]}}\npolicy:"
        )
    )

    done = pegboard("sources", "--check")
    found = {item["name"]: item for item in json.loads(pegboard("sources", "--json").stdout)}

    assert done.returncode == 3
    assert "there is no file 'no.py'" in done.stdout
    assert (found["my"]["status"], found["my"]["tools"]) == ("ok", 5)
    assert found["bad"]["status"] == "failed"


def test_history_shows_what_was_called(pegboard: Command) -> None:
    pegboard("call", "my__greet", '{"name": "Ada"}', "--data", "data")
    crashed = json.loads(pegboard("call", "my__crash", "--data", "data", "--json").stdout)
    error_id = crashed["error"]["error_id"]

    text = pegboard("history", "--data", "data").stdout
    page = json.loads(pegboard("history", "--data", "data", "--limit", "1", "--json").stdout)
    failed = json.loads(
        pegboard("history", "--status", "completed", "--json", PEGBOARD_DATA="data").stdout
    )
    detail = pegboard("history", "--data", "data", "--error", error_id)
    unknown = pegboard("history", "--data", "data", "--error", "e_nothing")
    empty = pegboard("history", "--data", "data", "--status", "faild")

    assert "my__greet" in text
    assert error_id in text
    assert page["calls"][0]["tool"] == "my__crash"
    assert page["next_cursor"]
    assert [call["tool"] for call in failed["calls"]] == ["my__greet"]
    assert "hunter2" in detail.stdout  # the operator sees the cause
    assert unknown.returncode == 2
    assert empty.stderr == "no recorded call matches\n"


def test_history_shows_in_whose_place_a_call_of_a_run_was_made(pegboard: Command) -> None:
    greet = {"tool_id": "my__greet", "input_mapping": {"name": "Ada"}}
    step = {"step_id": "greet", "tool_id": "my__crash", "fallbacks": [greet]}
    Path("plan.json").write_text(json.dumps({"steps": [step]}))
    run = json.loads(pegboard("run", "plan.json", "--data", "data", "--json").stdout)

    text = pegboard("history", "--data", "data", "--run", run["run_id"]).stdout
    page = pegboard("history", "--data", "data", "--instead-of", "my__crash", "--json").stdout
    other = pegboard("history", "--data", "data", "--instead-of", "my__greet", "--json").stdout

    assert "my__greet (for my__crash)" in text
    assert [call["tool"] for call in json.loads(page)["calls"]] == ["my__greet"]
    assert json.loads(other)["calls"] == []


def test_an_idempotency_key_gives_the_first_outcome_again(pegboard: Command) -> None:
    options = ("--idempotency-key", "k", "--data", "data", "--json", "--timeout", "5")
    first = json.loads(pegboard("call", "my__greet", '{"name": "Ada"}', *options).stdout)
    second = json.loads(pegboard("call", "my__greet", '{"name": "Ada"}', *options).stdout)
    other = json.loads(pegboard("call", "my__greet", '{"name": "Bo"}', *options).stdout)

    assert (first["meta"]["replayed"], second["meta"]["replayed"]) == (False, True)
    assert other["error"]["code"] == "idempotency_conflict"


def test_init_writes_a_board_that_works_and_overwrites_nothing(pegboard: Command) -> None:
    wrote = pegboard("init", "new")
    again = pegboard("init", "new")
    called = pegboard("call", "mine__greet", "--arg", "name=Ada", "--board", "new/board.yaml")

    assert wrote.returncode == 0
    assert "pegboard serve" in wrote.stdout
    assert again.returncode == 2
    assert "does not overwrite files. Name another folder: 'pegboard init DIR'" in again.stderr
    assert called.stdout == "Hello Ada!\n"


def test_init_leaves_nothing_behind_where_there_is_no_room(pegboard: Command) -> None:
    with no_room():  # the command inherits it
        full = pegboard("init", "new")
    wrote = pegboard("init", "new")

    assert full.returncode == 2
    assert full.stderr.startswith("pegboard: new/board.yaml: ")
    assert "Nothing was written" in full.stderr
    assert wrote.returncode == 0


def test_tools_warns_of_rules_that_protect_nothing(pegboard: Command) -> None:
    done = pegboard("tools")

    assert "There is no board.yaml" not in done.stderr
    warning = "warning: deny rule '*crash_not*': board.yaml:4: it matches no tool"
    assert warning in done.stderr.splitlines()
    assert "crash_not" not in done.stdout


def test_a_list_of_tools_says_that_it_is_cut(pegboard: Command) -> None:
    cut = pegboard("tools", "--limit", "1")
    whole = pegboard("tools", "--search", "greet")

    assert len(cut.stdout.splitlines()) == 2
    assert "only the first 1 are shown; '--limit 10' shows more" in cut.stderr
    assert "are shown" not in whole.stderr


def test_doctor_checks_everything(pegboard: Command, folder: Path) -> None:
    well = pegboard("doctor")
    as_json = json.loads(pegboard("doctor", "--json", PEGBOARD_TOKEN="s3cret-token").stdout)
    (folder / "tools.py").unlink()
    failed = pegboard("doctor")
    (folder / "board.yaml").write_text("nonsense: 1\n")
    wrong = pegboard("doctor")

    assert well.returncode == 0
    assert "deny rule '*crash_not*'" in well.stdout
    assert "board.yaml:4: it matches no tool" in well.stdout
    assert "sandbox landlock" in well.stdout
    extras = {item["check"].removeprefix("extra ") for item in as_json if "extra " in item["check"]}
    assert extras | {"all", "bench", "demo", "dev"} == set(
        metadata("pegboard").get_all("Provides-Extra") or ()
    )
    assert {"check": "setting token", "status": "ok", "detail": "**********"} in as_json
    assert (failed.returncode, wrong.returncode) == (3, 2)
    assert "there is no file" in failed.stdout
    assert "unknown key" in wrong.stdout


def test_the_version_is_told(pegboard: Command) -> None:
    from pegboard import __version__

    assert pegboard("--version").stdout.strip() == __version__


def test_without_a_board_the_built_in_tools_are_there(pegboard: Command, folder: Path) -> None:
    (folder / "board.yaml").unlink()

    assert pegboard("call", "builtin__calculator", "-a", "expression=2*21").stdout == "42\n"
    assert "There is no board.yaml here" in pegboard("tools").stderr
