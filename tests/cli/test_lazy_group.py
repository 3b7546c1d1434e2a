"""What is listed is told without being loaded; what is loaded is what was listed."""

import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_group

from pegboard.cli.app import Commands, app
from pegboard.cli.commands.graph import Direction
from pegboard.registry.dependencies.graph import Direction as GraphDirection

HEAVY = {
    "asyncio",
    "fastapi",
    "httpx2",
    "mcp",
    "pegboard.execution",
    "pegboard.features",
    "pegboard.graphs",
    "pegboard.planning",
    "pegboard.registry",
    "pegboard.runtime",
    "pegboard.servers",
    "pegboard.tools",
    "pydantic",
    "rich",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "yaml",
}
LISTED = list(Commands.listed)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["--help"], 0, id="help"),
        pytest.param([], 2, id="nothing"),
        pytest.param(["--version"], 0, id="version"),
        pytest.param(["tols"], 2, id="no such command"),
        pytest.param(["--wrong"], 2, id="no such option"),
    ],
)
def test_what_needs_no_command_loads_none(arguments: list[str], code: int) -> None:
    done, loaded = _started(*arguments)

    assert done.returncode == code
    assert {name for name in loaded if name.startswith("pegboard.cli.commands.")} == set()
    assert loaded & HEAVY == set()


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", LISTED)
def test_the_help_of_a_command_loads_it_alone_and_nothing_heavy(name: str) -> None:
    done, loaded = _started(name, "--help")

    here = re.compile(r"pegboard\.cli\.commands\.(?:accounts\.)?(?!accounts$)(\w+)")
    commands = {match[1] for item in loaded if (match := here.match(item))}
    assert done.returncode == 0
    assert commands == {name}
    assert loaded & HEAVY == set()


@pytest.mark.slow
def test_a_wrong_word_for_a_command_of_a_group_loads_nothing_heavy() -> None:
    done, loaded = _started("runs", "paus")

    assert done.returncode == 2
    assert "Did you mean 'pause'?" in done.stderr
    assert loaded & HEAVY == set()


@pytest.mark.slow
def test_what_a_command_does_is_seen_as_loaded(tmp_path: Path) -> None:
    done, loaded = _started("tools", "--board", str(tmp_path / "none.yaml"))

    assert done.returncode == 2
    assert {"pegboard.runtime", "pydantic"} <= loaded


def test_a_command_that_is_misspelt_is_guessed() -> None:
    done, _ = _started("tols")

    assert "No such command 'tols'. Did you mean 'tools', 'roles'?" in done.stderr


@pytest.mark.slow
def test_an_unknown_command_of_a_group_names_those_that_there_are() -> None:
    done, _ = _started("people", "invite")

    known = "The commands are: list, link, disable, enable, operator, sessions, sign-out."
    assert f"No such command 'invite'. {known}" in done.stderr


def test_the_help_has_each_command_once_and_cuts_no_line() -> None:
    done, _ = _started("--help", COLUMNS="80")

    names = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert [name for name in names if name in LISTED] == LISTED
    assert not [line for line in done.stdout.splitlines()[1:] if line.endswith("...")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        pytest.param("pegboard ", LISTED, id="all commands"),
        pytest.param("pegboard r", ["run", "runs", "roles", "resources"], id="some commands"),
        pytest.param("pegboard --v", ["--version"], id="an option"),
        pytest.param("pegboard runs c", ["cancel"], id="a command of a group"),
        pytest.param("pegboard tools --eff", ["--effect"], id="an option of a command"),
        pytest.param("pegboard graph around x --direction d", ["dependants"], id="a choice"),
    ],
)
def test_the_shell_completes_without_loading_anything_heavy(words: str, wanted: list[str]) -> None:
    count = len(words.split()) - (not words.endswith(" "))
    done, loaded = _started(
        _PEGBOARD_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(count)
    )

    assert done.stdout.split() == wanted
    assert loaded & HEAVY <= {"pydantic"}  # typer reads with it what stands before


@pytest.mark.parametrize("name", LISTED)
def test_what_is_listed_is_what_the_command_says_of_itself(name: str) -> None:
    command = _group().commands[name]

    said = inspect.cleandoc(command.help).partition("\n\n")[0].replace("\n", " ")
    assert said == Commands.listed[name]
    assert command.name == name


def test_every_module_of_commands_is_listed() -> None:
    import pegboard.cli.commands as package

    folder = Path(str(package.__file__)).parent
    people = set(Commands.sections["People"])

    assert _modules(folder) == {*LISTED, "accounts"} - people
    assert _modules(folder / "accounts") == people


def test_a_command_is_loaded_once_and_counts_as_the_others_of_a_mapping() -> None:
    group = _group()

    assert list(group.commands) == LISTED
    assert group.commands["tools"] is group.commands["tools"]
    assert group.commands.get("none") is None


def test_the_directions_of_the_command_are_those_of_the_graph() -> None:
    assert Direction == GraphDirection


def _modules(folder: Path) -> set[str]:
    modules = {path.stem for path in folder.glob("[!_]*.py")}
    return modules | {path.parent.name for path in folder.glob("*/__init__.py")}


def _group() -> Any:
    return get_group(app)


def _started(
    *arguments: str, **environment: str
) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """How a command of its own ended, and the modules that were loaded then."""
    with tempfile.NamedTemporaryFile() as file:
        code = (
            "import atexit, json, sys\n"
            "before = set(sys.modules)\n"
            f"file = open({file.name!r}, 'w')\n"
            "atexit.register(lambda: json.dump(sorted(set(sys.modules) - before), file))\n"
            f"sys.argv = {['pegboard', *arguments]!r}\n"
            "from pegboard.cli import main\n"
            "main()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done, set(json.load(file))
