"""`pegboard plan`, `run` and `runs`: for people, and through a real `kill -9`."""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.cli.conftest import Command

from pegboard.cli.commands import approvals, runs
from pegboard.core.principal import LOCAL
from pegboard.features.approvals import schemas as approval_schemas
from pegboard.features.runs import schemas as run_schemas
from pegboard.graphs.documents.read import read_graph
from pegboard.runtime import Pegboard, Settings

STEPS = '''
import time

from pegboard import tool


def _tell(line: str) -> None:
    with open("journal.txt", "a") as file:
        file.write(line + "\\n")


@tool(effect="write", capabilities=("beginning",))
def first(word: str = "one") -> dict[str, str]:
    """Write the first line."""
    _tell(f"first {word}")
    return {"word": word}


@tool(effect="read")
def slowly(word: str) -> str:
    """Take a while, unless the file `fast` is there."""
    import pathlib

    _tell("slowly")
    for _ in range(3_000):
        if pathlib.Path("fast").exists():
            return word
        time.sleep(0.02)
    return word


@tool(effect="write")
def last(word: str) -> str:
    """Write the last line."""
    _tell(f"last {word}")
    return word
'''
BOARD = "sources: [{kind: functions, name: my, config: {files: [steps.py]}}]\n"
PLAN = {
    "steps": [
        {"step_id": 1, "tool_id": "my__first", "input_mapping": {"word": "$.params.word"}},
        {
            "step_id": 2,
            "tool_id": "my__slowly",
            "input_mapping": {"word": "$.steps[0].output.word"},
            "depends_on": [1],
        },
        {
            "step_id": 3,
            "tool_id": "my__last",
            "input_mapping": {"word": "$.steps[1].output"},
            "depends_on": [2],
        },
    ]
}


@pytest.fixture
def planned(folder: Path) -> Path:
    (folder / "steps.py").write_text(STEPS)
    (folder / "board.yaml").write_text(BOARD)
    (folder / "plan.json").write_text(json.dumps(PLAN))
    (folder / "fast").touch()
    return folder


def test_a_plan_is_drawn_and_says_why(planned: Path, pegboard: Command) -> None:
    done = pegboard("plan", "--capability", "beginning", "--param", "word=x")

    assert done.returncode == 0
    assert "first: my__first" in done.stdout
    assert "capability 'beginning'" in done.stdout


def test_a_plan_is_json_or_a_chart_when_asked(planned: Path, pegboard: Command) -> None:
    told = json.loads(pegboard("plan", "my__first", "--param", "word=x", "--json").stdout)
    chart = pegboard("plan", "my__first", "--param", "word=x", "--mermaid").stdout

    assert told["steps"][0]["tool_id"] == "my__first_v1"
    assert chart.startswith("flowchart")


def test_a_check_ends_with_an_error_when_there_are_faults(planned: Path, pegboard: Command) -> None:
    faulty = pegboard("plan", "my__last", "--check")
    well = pegboard("plan", "my__last", "--check", "--param", "word=x")

    assert (faulty.returncode, well.returncode) == (1, 0)
    assert "fault: " in faulty.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("plan",), id="a plan of nothing"),
        pytest.param(("plan", "fly"), id="a goal that nobody answers"),
        pytest.param(("plan", "my__first", "--param", "word"), id="a param that is no pair"),
        pytest.param(("plan", "my__first", "--param", "word:={"), id="a param that is not JSON"),
        pytest.param(("plan", "list.json", "-p", "a=b"), id="a file with params beside it"),
        pytest.param(("run", "plan_of_nobody"), id="a plan that there is not"),
        pytest.param(("run", "none.json"), id="a file that there is not"),
        pytest.param(("run", "list.json"), id="a file without a plan"),
        pytest.param(("runs", "show", "none"), id="a run that there is not"),
    ],
)
def test_what_cannot_be_is_wrong_use(
    planned: Path, pegboard: Command, arguments: tuple[str, ...]
) -> None:
    (planned / "list.json").write_text("[1]")
    done = pegboard(*arguments)

    assert done.returncode == 2
    assert done.stderr.startswith("pegboard: ")


@pytest.mark.parametrize("what", ["runs", "approvals"])
def test_a_state_is_one_of_those_that_there_are(pegboard: Command, what: str) -> None:
    done = pegboard(what, "list", "--state", "on", "--data", "data")

    assert done.returncode == 2
    assert "Invalid value for '--state': 'on' is not one of 'pending'" in done.stderr


def test_the_states_of_the_command_line_are_those_of_the_api() -> None:
    assert get_args(runs.State) == get_args(run_schemas.State)
    assert get_args(approvals.State) == (*get_args(approval_schemas.State), "all")


def test_who_runs_a_goal_is_told_to_plan_it_first(planned: Path, pegboard: Command) -> None:
    alone = pegboard("run", "my__last")
    kept = pegboard("run", "my__last", "--data", "data")
    command = kept.stderr.strip().partition("plan and run it: ")[2]

    assert command == "pegboard plan my__last --run"
    assert "Without a data directory no plan is stored." in alone.stderr
    assert "No plan is kept" not in kept.stderr


def test_a_goal_is_planned_shown_and_run(planned: Path, pegboard: Command) -> None:
    done = pegboard("plan", "my__last", "-p", "word=hello", "--run")
    as_json = pegboard("plan", "my__last", "-p", "word=hello", "--run", "--json")

    told = json.loads(as_json.stdout)
    assert done.returncode == 0, done.stderr
    assert done.stdout.index("the goal names 'my__last'") < done.stdout.index("completed")
    assert (as_json.returncode, told["run"]["state"]) == (0, "completed")
    assert told["run"]["graph"] == told["plan"]["plan_id"]
    assert (planned / "journal.txt").read_text() == "last hello\n" * 2


def test_a_plan_with_faults_is_shown_and_not_run(planned: Path, pegboard: Command) -> None:
    done = pegboard("plan", "my__last", "--run")
    as_json = pegboard("plan", "my__last", "--run", "--json")

    assert (done.returncode, as_json.returncode) == (1, 1)
    assert done.stderr.endswith("the plan has faults, so it was not run\n")
    assert json.loads(as_json.stdout)["run"] is None
    assert not (planned / "journal.txt").exists()


def test_a_plan_in_a_file_is_run_with_its_params(planned: Path, pegboard: Command) -> None:
    done = pegboard("plan", "plan.json", "-p", "word=hello", "--run")

    assert done.returncode == 0, done.stderr
    assert "completed" in done.stdout


def test_a_file_is_run_and_drawn(planned: Path, pegboard: Command) -> None:
    done = pegboard("run", "plan.json", "--param", "word=hello")

    assert done.returncode == 0, done.stderr
    assert "completed" in done.stdout
    assert "█" in done.stdout
    assert '"3": "hello"' in done.stdout
    assert "completed    3" in done.stderr
    assert (planned / "journal.txt").read_text().split("\n") == [
        "first hello",
        "slowly",
        "last hello",
        "",
    ]


def test_a_plan_that_is_kept_is_run_by_its_id(planned: Path, pegboard: Command) -> None:
    made = json.loads(
        pegboard("plan", "my__last", "--param", "word=x", "--data", "data", "--json").stdout
    )
    run = json.loads(pegboard("run", made["plan_id"], "--data", "data", "--json").stdout)
    listed = pegboard("runs", "list", "--data", "data").stdout
    page = json.loads(pegboard("runs", "list", "--data", "data", "--json").stdout)
    shown = pegboard("runs", "show", run["run_id"], "--data", "data").stdout
    chart = pegboard("runs", "show", run["run_id"], "--data", "data", "--mermaid").stdout
    raw = json.loads(pegboard("runs", "show", run["run_id"], "--data", "data", "--json").stdout)

    assert (run["state"], run["output"]) == ("completed", {"last": "x"})
    assert f"  {made['plan_id']}" in listed.split(run["run_id"])[1]
    assert [item["run_id"] for item in page["runs"]] == [run["run_id"]]
    assert "✓ last" in shown
    assert "class n0 completed" in chart
    assert raw == run


def test_a_question_ends_with_its_own_code_and_is_answered(
    planned: Path, pegboard: Command
) -> None:
    graph = {
        "nodes": [
            {"id": "ask", "kind": "wait", "wait": {"question": "Which word?"}},
            {
                "id": "say",
                "tool": "my__last",
                "input": {"word": "$.steps.ask.output"},
                "edges": [{"node": "ask"}],
            },
        ]
    }
    (planned / "ask.json").write_text(json.dumps(graph))
    asked = pegboard("run", "ask.json", "--key", "k", "--data", "data")
    run = json.loads(pegboard("runs", "list", "--data", "data", "--json").stdout)["runs"][0]
    pending = run["pending"][0]["id"]
    answered = pegboard("runs", "answer", run["run_id"], pending, "well", "--data", "data")

    assert asked.returncode == 3
    assert "Which word?" in asked.stderr
    assert answered.returncode == 0, answered.stderr
    assert (planned / "journal.txt").read_text() == "last well\n"


def test_a_run_that_waits_is_cancelled(planned: Path, pegboard: Command) -> None:
    run_id = _waiting(planned, pegboard)
    done = pegboard("runs", "cancel", run_id, "--data", "data")

    assert (done.returncode, done.stdout.split()) == (0, [run_id, "cancelled"])


def test_a_run_that_waits_is_paused_and_says_how_to_go_on(planned: Path, pegboard: Command) -> None:
    run_id = _waiting(planned, pegboard)
    paused = pegboard("runs", "pause", run_id, "--data", "data")
    again = json.loads(pegboard("runs", "pause", run_id, "--data", "data", "--json").stdout)
    command = paused.stderr.partition("resume it: pegboard ")[2]
    resumed = json.loads(pegboard(*shlex.split(command), "--json").stdout)

    assert (paused.returncode, paused.stdout.split()) == (0, [run_id, "paused"])
    assert (again["run_id"], again["state"]) == (run_id, "paused")
    assert (resumed["run_id"], resumed["state"]) == (run_id, "waiting")


@pytest.mark.parametrize("moment", [{"seconds": 3600}, {"event": "never", "seconds": 3600}])
def test_a_run_that_waits_for_a_moment_is_paused_before_it(
    moment: dict[str, Any], planned: Path, pegboard: Command
) -> None:
    run_id = asyncio.run(_begun({"id": "sleep", "kind": "wait", "wait": moment}, planned))

    paused = pegboard("runs", "pause", run_id, "--data", "data")

    assert (paused.returncode, paused.stdout.split()) == (0, [run_id, "paused"])


def test_a_run_that_has_ended_is_not_paused(planned: Path, pegboard: Command) -> None:
    run_id = _waiting(planned, pegboard)
    pegboard("runs", "cancel", run_id, "--data", "data")

    done = pegboard("runs", "pause", run_id, "--data", "data")

    assert (done.returncode, done.stdout.split()) == (0, [run_id, "cancelled"])
    assert done.stderr == "it has ended and cannot be paused\n"


def test_what_steers_a_run_stands_side_by_side(pegboard: Command) -> None:
    lines = pegboard("runs", "--help").stdout.partition("Commands:")[2].splitlines()
    names = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]

    assert names == ["list", "show", "pause", "resume", "cancel", "answer", "send"]


@pytest.mark.parametrize("wish", ["show", "pause", "resume", "cancel"])
def test_a_run_that_is_not_there_is_told(wish: str, planned: Path, pegboard: Command) -> None:
    done = pegboard("runs", wish, "r_none", "--data", "data")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "pegboard: There is no run 'r_none'.\n"


def test_where_no_run_is_kept_the_option_that_is_missing_is_named(pegboard: Command) -> None:
    listed, done = pegboard("runs", "list"), pegboard("runs", "pause", "r_none")

    assert listed.returncode == 0
    assert listed.stderr.startswith("Without a data directory no run is stored:")
    assert done.returncode == 2
    assert "There is no run 'r_none'. Without a data directory no run is stored:" in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(90)
def test_a_killed_run_is_gone_on_with_and_nothing_is_repeated(planned: Path) -> None:
    (planned / "fast").unlink()
    command = [sys.executable, "-m", "pegboard"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    playing = subprocess.Popen(
        [*command, "run", "plan.json", "-p", "word=x", "--data", "data", "--json"],
        cwd=planned,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    journal = planned / "journal.txt"
    until = time.monotonic() + 40
    while not journal.exists() or "slowly" not in journal.read_text():
        assert time.monotonic() < until
        time.sleep(0.05)
    time.sleep(0.3)
    playing.send_signal(signal.SIGKILL)
    assert playing.wait(30) == -signal.SIGKILL

    def done(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments, "--data", "data", "--json"],
            cwd=planned,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    (planned / "fast").touch()
    left = json.loads(done("runs", "list").stdout)["runs"][0]
    ended = done("runs", "resume", left["run_id"])

    assert left["state"] == "in_progress"
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["output"] == {"3": "x"}
    assert journal.read_text().split("\n") == ["first x", "slowly", "slowly", "last x", ""]


def test_plans_and_runs_are_drawn_into_files(planned: Path, pegboard: Command) -> None:
    plan = pegboard("plan", "my__first", "--param", "word=x", "--svg", "plan.svg")
    pictures = ("--svg", "pictures/run.svg", "--timeline", "pictures/line.svg")
    ran = pegboard("run", "plan.json", "--param", "word=x", "--data", "data", *pictures)
    run_id = ran.stdout.split()[0]
    shown = pegboard("runs", "show", run_id, "--data", "data", "--timeline", "again.svg")
    nowhere = pegboard("runs", "show", run_id, "--data", "data", "--svg", "plan.json/no.svg")

    assert [plan.returncode, ran.returncode, shown.returncode] == [0, 0, 0], shown.stderr
    for name in ("plan.svg", "pictures/run.svg", "pictures/line.svg", "again.svg"):
        assert (planned / name).read_text().startswith("<svg ")
    assert (planned / "again.svg").read_bytes() == (planned / "pictures/line.svg").read_bytes()
    assert nowhere.returncode == 2
    assert "plan.json" in nowhere.stderr


ASKED = """
from pegboard import Unavailable, tool


@tool(effect="read", capabilities=("price",))
def courier() -> float:
    \"\"\"It is down.\"\"\"
    raise Unavailable("No answer.", nothing_done=True)


@tool(effect="read", capabilities=("price",))
def post() -> float:
    \"\"\"It is up.\"\"\"
    return 5.34


@tool(effect="write")
def pay(price: float) -> str:
    \"\"\"Pay.\"\"\"
    return f"paid {price}"
"""
ASKING = {
    "steps": [
        {"step_id": "price", "tool_id": "my__courier", "fallbacks": ["my__post"]},
        {
            "step_id": "pay",
            "tool_id": "my__pay",
            "input_mapping": {"price": "$.steps.price.output"},
            "depends_on": ["price"],
        },
    ]
}


@pytest.fixture
def asking(folder: Path) -> Path:
    (folder / "steps.py").write_text(ASKED)
    (folder / "board.yaml").write_text(f"{BOARD}policy: {{ask: [my__pay]}}\n")
    (folder / "plan.json").write_text(json.dumps(ASKING))
    return folder


def test_who_answers_as_told_hears_only_what_is_new(asking: Path, pegboard: Command) -> None:
    waiting = pegboard("run", "plan.json", "--data", "data")
    command = shlex.split(waiting.stderr.splitlines()[-1], comments=True)

    done = pegboard(*command[1:])

    assert waiting.returncode == 3
    assert "waiting      pay  a person is asked: the policy's ask rule" in waiting.stderr
    assert "Call it again" not in waiting.stderr
    assert done.returncode == 0, done.stderr
    assert done.stderr == "in_progress  pay\ncompleted    pay  my__pay\n"


def test_a_plan_that_is_run_says_how_to_approve_its_steps(asking: Path, pegboard: Command) -> None:
    done = pegboard("plan", "plan.json", "--run", "--data", "data")

    assert done.returncode == 3
    assert "waits for approval at pay" in done.stderr
    assert "  pegboard runs answer r_" in done.stderr


def test_a_run_that_is_gone_on_with_tells_only_what_is_new(asking: Path, pegboard: Command) -> None:
    pegboard("run", "plan.json", "--data", "data", "--key", "k")
    approvals = json.loads(pegboard("approvals", "list", "--data", "data", "--json").stdout)
    approval = approvals["approvals"][0]
    again = pegboard("run", "plan.json", "--data", "data", "--key", "k")
    pegboard("approvals", "approve", approval["id"], "--data", "data")
    done = pegboard("runs", "resume", approval["run_id"], "--data", "data")

    assert again.stderr.startswith("waits for approval at pay")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "in_progress  pay\ncompleted    pay  my__pay\n"


def test_a_message_is_sent_to_a_run(planned: Path, pegboard: Command) -> None:
    graph = {"nodes": [{"id": "wait", "kind": "wait", "wait": {"event": "paid"}}]}
    (planned / "wait.yaml").write_text(json.dumps(graph))
    run_id = json.loads(pegboard("run", "wait.yaml", "--data", "data", "--json").stdout)["run_id"]

    done = pegboard("runs", "send", run_id, "paid", '{"cents": 5}', "--data", "data")

    assert done.returncode == 0, done.stderr
    assert '"cents": 5' in done.stdout


def test_a_plan_that_was_printed_runs_as_it_is(planned: Path, pegboard: Command) -> None:
    made = pegboard("plan", "my__last", "--param", "word=well", "--json").stdout
    (planned / "made.json").write_text(made)

    checked = pegboard("plan", "made.json", "--check")
    done = pegboard("run", "made.json")

    assert (checked.returncode, checked.stderr) == (0, "")
    assert done.returncode == 0, done.stderr
    assert '"last": "well"' in done.stdout


def test_a_file_is_checked_and_says_which_steps_are_wrong(planned: Path, pegboard: Command) -> None:
    (planned / "wrong.json").write_text('{"steps": [{"step_id": "say", "tool_id": "my__last"}]}')
    (planned / "none.json").write_text('{"steps": 5}')

    wrong = pegboard("plan", "wrong.json", "--check", "--svg", "wrong.svg")
    none = pegboard("plan", "none.json", "--check")

    assert (wrong.returncode, none.returncode) == (1, 1)
    assert "fault: steps.say.input_mapping.word: 'my__last' needs 'word'" in wrong.stderr
    assert (planned / "wrong.svg").exists()
    assert none.stderr.startswith("fault: steps: ")


async def _begun(node: dict[str, Any], planned: Path) -> str:
    """The id of a run of this step alone, left by whoever played it."""
    settings = Settings(board=planned / "board.yaml", data=planned / "data")
    async with Pegboard(settings=settings) as board:
        return (await board.runs.start_graph(read_graph({"nodes": [node]}), principal=LOCAL)).id


def _waiting(planned: Path, pegboard: Command) -> str:
    """The id of a run that waits for what never comes."""
    graph = {"nodes": [{"id": "ask", "kind": "wait", "wait": {"event": "never"}}]}
    (planned / "wait.yaml").write_text(json.dumps(graph))
    begun = json.loads(pegboard("run", "wait.yaml", "--data", "data", "--json").stdout)
    assert begun["state"] == "waiting"
    return begun["run_id"]
