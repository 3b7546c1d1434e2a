import re
from pathlib import Path
from typing import Any

import pytest
from tests.sources.script.conftest import Write

from pegboard.errors import SourceUnavailable
from pegboard.sources.script.config import ScriptConfig
from pegboard.sources.script.discovery import Script, find_scripts, list_files

BLOCK = "# /// tool\n# description: x\n# ///\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def find(folder: Path, *paths: str, **config: Any) -> list[Script]:
    return find_scripts(ScriptConfig.model_validate({"paths": paths, **config}), folder)


def stems(scripts: list[Script]) -> list[str]:
    return [script.stem for script in scripts]


def test_a_folder_means_what_looks_like_a_script(folder: Path, write: Write) -> None:
    write("s/a.sh", f"#!/bin/sh\n{BLOCK}")
    write("s/b.py", BLOCK)
    write("s/c.bin", "", mode=0o755)
    write("s/d.rb", "")
    write("s/d.tool.yaml", "description: x")
    write("s/lib.py", "x = 1")
    write("s/_part.sh", "#!/bin/sh")
    write("s/.hidden.sh", "#!/bin/sh")
    write("s/README.md", "# Read me")
    write("s/deep/e.sh", "#!/bin/sh")

    assert stems(find(folder, "s")) == ["a", "b", "c", "d"]


def test_a_glob_and_a_file_mean_all_that_they_name(folder: Path, write: Write) -> None:
    write("s/lib.py", "x = 1")
    write("s/deep/e.sh", f"#!/bin/sh\n{BLOCK}")

    scripts = find(folder, "s/**/*", "s/lib.py", str(folder / "s" / "*.py"))

    assert sorted(stems(scripts)) == ["e", "lib"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("scripts", "there is no folder 'scripts'"),
        ("scripts/*.sh", "nothing matches 'scripts/*.sh'"),
    ],
)
def test_a_folder_that_does_not_exist_fails_the_source(
    folder: Path, write: Write, path: str, reason: str
) -> None:
    write("a.sh", f"#!/bin/sh\n{BLOCK}")

    with pytest.raises(SourceUnavailable, match=re.escape(reason)):
        find(folder, "a.sh", path)


def test_the_files_to_watch_are_those_that_are_or_could_be_scripts(
    folder: Path, write: Write
) -> None:
    write("s/a.sh", BLOCK)
    write("t/b.py", BLOCK)
    config = ScriptConfig.model_validate({"paths": ["s", "t/*.py", "missing.sh"]})

    found = {str(path.relative_to(folder)) for path in list_files(config, folder)}

    assert found >= {"s/a.sh", "s/a.tool.yaml", "t/b.py", "missing.sh"}


def test_a_script_is_listed_once(folder: Path, write: Write) -> None:
    write("a.sh", "#!/bin/sh")
    write("a.tool.yaml", "description: x")

    assert stems(find(folder, ".", "a.sh", "*.sh", "a.tool.yaml")) == ["a"]


@pytest.mark.parametrize("sidecar", ["a.sh.tool.yaml", "a.tool.yaml"])
def test_a_script_is_described_beside_it(folder: Path, write: Write, sidecar: str) -> None:
    write("a.sh", "#!/bin/sh")
    write(sidecar, "description: From beside.")

    (script,) = find(folder, "a.sh")

    assert script.description is not None
    assert script.description.description == "From beside."
    assert script.path == folder / "a.sh"


def test_a_script_is_described_within_it(folder: Path, write: Write) -> None:
    write("a.sh", f"#!/bin/sh\n{BLOCK}")

    (script,) = find(folder, "a.sh")

    assert script.description is not None
    assert script.description.description == "x"


def test_a_script_is_described_by_the_board(folder: Path, write: Write) -> None:
    write("a.sh", "#!/bin/sh")

    (script,) = find(folder, "a.sh", descriptions={"./a.sh": {"description": "From the board."}})

    assert script.description is not None
    assert script.description.description == "From the board."


def test_a_fault_in_the_boards_description_is_named(folder: Path, write: Write) -> None:
    write("a.sh", "#!/bin/sh")

    (script,) = find(folder, "a.sh", descriptions={"a.sh": {"descriptoin": "x"}})

    assert script.fault.startswith("descriptions of a.sh: ")


def test_a_description_may_bring_a_command_instead_of_a_script(folder: Path, write: Write) -> None:
    write("log.tool.yaml", "description: x\ncommand: [git, log]")

    (script,) = find(folder, "log.tool.yaml")

    assert (script.stem, script.path, script.fault) == ("log", None, "")


@pytest.mark.parametrize(
    ("files", "path", "fault"),
    [
        pytest.param({}, "/dev/zero", "'/dev/zero' is a device, a pipe or a socket", id="a device"),
        pytest.param({}, "no.sh", "there is no file or folder 'no.sh'", id="nothing there"),
        pytest.param(
            {"a.sh": "#!/bin/sh"},
            "a.sh",
            "'a.sh' has no description: write a.sh.tool.yaml beside it, or a '# /// tool' block",
            id="no description",
        ),
        pytest.param(
            {"a.sh": BLOCK, "a.tool.yaml": "description: x"},
            "a.sh",
            "'a.sh' has two descriptions, a.tool.yaml and its '/// tool' block: keep one",
            id="two descriptions",
        ),
        pytest.param(
            {"a.sh": "", "a.sh.tool.yaml": "description: x", "a.tool.yaml": "description: x"},
            "a.sh",
            "two descriptions, a.sh.tool.yaml and a.tool.yaml",
            id="two files",
        ),
        pytest.param(
            {"a.sh": "", "a.py": "", "a.tool.yaml": "description: x"},
            "a.sh",
            "a.tool.yaml may mean a.py or a.sh: call it a.py.tool.yaml",
            id="one description for two",
        ),
        pytest.param(
            {"a.sh": "", "a.tool.yaml": "description: x\n\nefect: read"},
            "a.sh",
            "a.tool.yaml:3: unknown key 'efect'",
            id="a faulty description",
        ),
        pytest.param(
            {"a.sh": "#!/bin/sh\n# /// tool\n# description: x\n# efect: read\n# ///"},
            "a.sh",
            "a.sh:4: unknown key 'efect'",
            id="a faulty block",
        ),
        pytest.param(
            {"a.tool.yaml": "description: x"},
            "a.tool.yaml",
            "a.tool.yaml describes 'a', which is not beside it",
            id="a description of nothing",
        ),
        pytest.param(
            {"a.tool.yaml": "description: ["}, "a.tool.yaml", "not valid YAML", id="broken YAML"
        ),
    ],
)
def test_a_faulty_script_says_why(
    folder: Path, write: Write, files: dict[str, str], path: str, fault: str
) -> None:
    for name, text in files.items():
        write(name, text)

    (script,) = find(folder, path)

    assert fault in script.fault
    assert script.description is None


def test_a_description_that_is_no_text_is_named(folder: Path) -> None:
    (folder / "a.sh").touch()
    (folder / "a.tool.yaml").write_bytes(b"description: \xff")

    assert find(folder, "a.sh")[0].fault == "a.tool.yaml is not UTF-8"


def test_a_description_that_is_too_long_is_named(folder: Path) -> None:
    (folder / "a.sh").touch()
    (folder / "a.tool.yaml").write_bytes(b"#" * (1024 * 1024 + 1))

    assert "cannot be read: it has more than 1,048,576 bytes" in find(folder, "a.sh")[0].fault


def test_a_folder_lists_a_script_whose_block_is_broken(folder: Path, write: Write) -> None:
    write("a.lua", "-- /// tool\n-- description: x\n")

    (script,) = find(folder, ".")

    assert "a.lua:1: the '/// tool' block does not end" in script.fault


def test_a_script_that_cannot_be_read_is_named(folder: Path) -> None:
    (script,) = find(folder, "/proc/self/mem")

    assert script.fault == "'mem' cannot be read: Input/output error"


@pytest.mark.parametrize("path", ["a.tool.yaml", "."])
def test_a_description_that_cannot_be_read_is_named(folder: Path, path: str) -> None:
    (folder / "a.tool.yaml").symlink_to("/proc/self/mem")

    assert find(folder, path)[0].fault == "'a.tool.yaml' cannot be read: Input/output error"


def test_a_folder_lists_what_cannot_be_read(folder: Path) -> None:
    (folder / "a.sh").symlink_to("/proc/self/mem")

    assert "cannot be read" in find(folder, ".")[0].fault
