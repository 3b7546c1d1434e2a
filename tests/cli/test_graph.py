"""`pegboard graph`, and how `graph_drawing` draws."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from pegboard.cli.output.dependency_graph import as_mermaid, as_tree

GRAPH = """
graph:
  edges: [[fetch, clean], [clean, analyse], [clean, draw], [analyse, draw], [my__greet, draw]]
"""


@pytest.fixture
def chain(folder: Path) -> None:
    """A board file with a graph."""
    path = folder / "board.yaml"
    path.write_text(path.read_text() + GRAPH)


def test_a_graph_is_drawn_as_a_tree(chain: None, pegboard: Command) -> None:
    done = pegboard("graph", "around", "clean", "--depth", "3")

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "fetch (missing)",
        "└─ clean (missing)",
        "   ├─ analyse (missing)",
        "   │  └─ draw (missing)",
        "   └─ draw (missing)",
        "my__greet_v1",
        "└─ draw (missing)",
    ]


def test_a_graph_is_drawn_as_mermaid(chain: None, pegboard: Command) -> None:
    done = pegboard("graph", "around", "fetch", "--mermaid")

    assert done.stdout.splitlines() == [
        "graph LR",
        '    n0["clean"]:::missing',
        '    n1["fetch"]:::missing',
        "    n1 --> n0",
        "    classDef missing stroke-dasharray: 4",
    ]


def test_what_breaks_is_told_with_the_reason(chain: None, pegboard: Command) -> None:
    found = json.loads(pegboard("graph", "breaks", "clean", "--json").stdout)

    assert found["breaks"] == [
        {"tool": "analyse", "name": "", "because": "clean"},
        {"tool": "draw", "name": "", "because": "clean"},
    ]
    assert (found["tool"], found["stand_ins"]) == ("clean", [])
    assert "2 tools" in pegboard("graph", "breaks", "clean").stderr


def test_one_direction_alone_can_be_shown(chain: None, pegboard: Command) -> None:
    needs = pegboard("graph", "around", "clean", "--direction", "prerequisites")

    assert needs.stdout.splitlines() == ["fetch (missing)", "└─ clean (missing)"]


STAND_INS = '''
from pegboard import tool


@tool(effect="read", capabilities=("greeting",))
def hello(name: str) -> str:
    """Greet."""
    return name


@tool(effect="read", capabilities=("greeting",))
def salute(name: str) -> str:
    """Greet too."""
    return name


@tool(effect="read", capabilities=("greeting",))
def nod(whom: str) -> str:
    """Greet without a word."""
    return whom
'''


@pytest.fixture
def greetings(folder: Path) -> None:
    """A board on which one tool can do what another does."""
    (folder / "tools.py").write_text(STAND_INS)
    path = folder / "board.yaml"
    path.write_text(path.read_text() + "graph:\n  edges: [[my__hello, party]]\n")


def test_stand_ins_are_proposed_with_their_reasons(greetings: None, pegboard: Command) -> None:
    shown = pegboard("graph", "replacements", "my__hello")
    found = json.loads(pegboard("graph", "replacements", "my__hello", "--json").stdout)

    assert shown.returncode == 0, shown.stderr
    assert "takes 'name' as 'whom'" in " ".join(shown.stdout.split())
    assert "2 proposals" in shown.stderr
    assert [(it["name"], it["is_certain"]) for it in found["proposals"]] == [
        ("my__salute", True),
        ("my__nod", False),
    ]


def test_what_another_tool_would_serve_does_not_break(greetings: None, pegboard: Command) -> None:
    plain = pegboard("graph", "breaks", "my__hello")
    served = pegboard("graph", "breaks", "my__hello", "--alternatives")

    assert "party" in plain.stdout
    assert "party" not in served.stdout
    assert "my__salute_v1 would substitute my__hello_v1" in served.stderr


def test_a_change_is_kept_with_a_data_directory(chain: None, pegboard: Command) -> None:
    made = pegboard("graph", "update", "--add-node", "x", "--add-edge", "draw,x", "--data", "d")
    shown = json.loads(pegboard("graph", "show", "--data", "d", "--json").stdout)

    assert made.returncode == 0, made.stderr
    assert {"prerequisite": "draw", "dependant": "x", "origins": ["cli"]} in shown["edges"]
    assert pegboard("graph", "show", "--data", "d", "--version", "0").stdout.strip() == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("update", "--add-edge", "draw,fetch"), "would need each other"),
        (("update", "--add-edge", "draw"), "is not an edge"),
        (("around", "claen"), "Did you mean 'clean'?"),
        (("breaks", "claen"), "Did you mean 'clean'?"),
        (("replacements", "my__gret"), "Did you mean 'my__greet'"),
    ],
)
def test_what_is_wrong_is_told(
    chain: None, pegboard: Command, arguments: tuple[str, ...], says: str
) -> None:
    done = pegboard("graph", *arguments)

    assert done.returncode == 2
    assert says in done.stderr


def test_a_cycle_in_the_board_file_names_its_line(folder: Path, pegboard: Command) -> None:
    path = folder / "board.yaml"
    path.write_text(path.read_text() + "graph:\n  edges:\n    - [a, b]\n    - [b, a]\n")

    done = pegboard("graph", "show")

    assert done.returncode == 2
    assert "board.yaml:8: These tools would need each other" in done.stderr


def test_text_that_mermaid_would_read_is_taken_out() -> None:
    node = {"id": 'a"<b>', "is_missing": False}
    drawn = as_mermaid({"nodes": [node], "edges": []})

    assert 'n0["a\'(b)"]' in drawn
    assert as_tree({"nodes": [node], "edges": []}) == 'without an edge: a"<b>'


def test_a_graph_is_drawn_as_a_picture(chain: None, pegboard: Command, folder: Path) -> None:
    done = pegboard("graph", "around", "clean", "--svg", "graph.svg")

    assert done.returncode == 0, done.stderr
    assert "analyse" in (folder / "graph.svg").read_text()
