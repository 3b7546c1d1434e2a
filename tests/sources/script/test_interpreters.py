import sys
from pathlib import Path

import pytest

from pegboard.errors import SourceUnavailable
from pegboard.sources.script.interpreters import PATH, command_of, is_python, needs_to_read


def run_by(name: str, head: str = "", command: tuple[str, ...] = ()) -> tuple[str, ...]:
    return command_of(Path("/x") / name, head, command=command, search=PATH)


@pytest.mark.parametrize(
    ("name", "head", "command", "rest"),
    [
        pytest.param("a.sh", "", (), ("/x/a.sh",), id="by extension"),
        pytest.param("a", "#!/bin/sh\n", (), ("/x/a",), id="by first line"),
        pytest.param("a", "#!/bin/sh -e -u\n", (), ("-e", "-u", "/x/a"), id="with options"),
        pytest.param("a.py", "#!/usr/bin/env sh\n", (), ("/x/a.py",), id="by env"),
        pytest.param("a", "#!/usr/bin/env -S sh -e\n", (), ("-e", "/x/a"), id="by env -S"),
        pytest.param("a.py", "#!/x", ("sh", "-e"), ("-e", "/x/a.py"), id="by command"),
        pytest.param("a", "", ("sh", "{script}", "-"), ("/x/a", "-"), id="by command, placed"),
    ],
)
def test_what_runs_a_script(
    name: str, head: str, command: tuple[str, ...], rest: tuple[str, ...]
) -> None:
    program, *found = run_by(name, head, command)

    assert (Path(program).name, tuple(found)) == ("sh", rest)


def test_a_command_alone_runs_itself() -> None:
    assert command_of(None, "", command=("sh", "-c", "true"), search=PATH)[1:] == ("-c", "true")


def test_what_is_executable_runs_itself(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o755)

    assert command_of(program, "\x7fELF", command=(), search=PATH) == (str(program),)


@pytest.mark.parametrize(
    ("name", "head", "reason"),
    [
        pytest.param("a.txt", "", "nothing says what runs 'a.txt'", id="no hint"),
        pytest.param("a", "#!\n", "nothing says what runs 'a'", id="an empty first line"),
        pytest.param("a", "#!/no/such", "needs the program '/no/such'", id="no such program"),
        pytest.param("a", "#!/usr/bin/env nix9", "needs the program 'nix9'", id="not in the PATH"),
    ],
)
def test_a_script_that_nothing_runs_says_why(name: str, head: str, reason: str) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        run_by(name, head)

    assert reason in str(caught.value)


def test_python_is_recognised_by_its_name() -> None:
    assert is_python(("/usr/bin/python3.12", "x"))
    assert not is_python(("/usr/bin/node", "x"))


def test_programs_of_the_system_need_nothing_more() -> None:
    assert needs_to_read(Path("/usr/bin/env")) == ()


def test_a_python_elsewhere_needs_its_whole_home() -> None:
    needed = needs_to_read(Path(sys.prefix) / "bin" / "python")

    assert Path(sys.prefix) in needed


def test_any_other_program_elsewhere_needs_itself_alone(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "thing"
    program.parent.mkdir()
    program.touch()

    assert needs_to_read(program) == (program,)


def test_a_program_is_preferred_to_a_shim_of_it(tmp_path: Path) -> None:
    for folder, name in (("shims", "thing"), ("bin", "thing"), ("shims", "only")):
        program = tmp_path / folder / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh")
        program.chmod(0o755)
    search = f"{tmp_path}/shims:{tmp_path}/bin"

    assert command_of(None, "", command=("thing",), search=search) == (f"{tmp_path}/bin/thing",)
    assert command_of(None, "", command=("only",), search=search) == (f"{tmp_path}/shims/only",)
