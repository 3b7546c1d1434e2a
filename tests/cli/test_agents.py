"""`pegboard agents list`, and `pegboard chat --agent`."""

import json
from pathlib import Path

from tests.cli.conftest import Command

AGENTS = """
agents:
  - {name: greeter, description: Greets people., tools: [my__greet]}
  - {name: lost, tools: [my__gret]}
"""


def test_the_agents_are_listed_with_what_is_wrong(pegboard: Command) -> None:
    _add_agents()
    shown = pegboard("agents", "list")
    data = json.loads(pegboard("agents", "list", "--json").stdout)["agents"]

    assert shown.returncode == 0
    assert [line.split()[:2] for line in shown.stdout.splitlines()] == [
        ["name", "tools"], ["greeter", "1"], ["lost", "-"],
    ]  # fmt: skip
    assert "lost is unavailable: There is no tool 'my__gret'" in shown.stderr
    assert [item["name"] for item in data] == ["greeter", "lost"]


def test_a_board_without_agents_says_how_to_have_some(pegboard: Command) -> None:
    shown = pegboard("agents", "list")

    assert (shown.returncode, shown.stdout) == (0, "")
    assert "under 'agents:'" in shown.stderr


def test_an_unknown_agent_is_refused(pegboard: Command) -> None:
    _add_agents()
    asked = pegboard("chat", "hi", "--agent", "greter")

    assert asked.returncode != 0
    assert "no agent 'greter'; did you mean 'greeter'?" in asked.stderr


def test_the_doctor_names_what_an_agent_misses(pegboard: Command) -> None:
    _add_agents()
    found = json.loads(pegboard("doctor", "--json").stdout)
    checks = {item["check"]: (item["status"], item["detail"]) for item in found}

    assert checks["agent greeter"] == ("ok", "1 tool")
    assert checks["agent lost"][0] == "missing"
    assert "There is no tool 'my__gret'" in checks["agent lost"][1]


def _add_agents() -> None:
    path = Path("board.yaml")
    path.write_text(path.read_text() + AGENTS)
