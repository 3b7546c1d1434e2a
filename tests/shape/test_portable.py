"""The tree is the same on every machine: no addresses, no paths, no lock files."""

import json
import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.shape import tree

LOCK_FILES = re.compile(r".+\.lockb?|pylock.*\.toml|pnpm-lock\.yaml|npm-shrinkwrap\.json")
MACHINE_PATHS = re.compile(r"/(?:home|root|Users|work)/\w|\b[A-Z]:\\Users\\")
REGISTRIES = re.compile(
    r"pypi\.org|pythonhosted\.org|registry\.npmjs|registry\.yarnpkg|--(?:extra-)?index-url|--find-links"
)
PATHS_THAT_ARE_MEANT: dict[str, str] = {}


def test_there_is_no_lock_file() -> None:
    locks = [tree.name(path) for path in tree.files(tree.ROOT) if LOCK_FILES.fullmatch(path.name)]

    assert locks == []


def test_a_lock_of_npm_has_hashes_and_no_addresses() -> None:
    locks = [path for path in tree.files(tree.ROOT) if path.name == "package-lock.json"]
    packages = [
        (name, fields)
        for path in locks
        for name, fields in json.loads(path.read_text(encoding="utf-8"))["packages"].items()
        if name
    ]

    assert [name for name, fields in packages if "resolved" in fields] == []
    assert [name for name, fields in packages if "integrity" not in fields] == []


def test_no_file_names_a_registry() -> None:
    assert [name for name, text in _texts() if REGISTRIES.search(text)] == []


def test_no_file_names_a_path_of_one_machine() -> None:
    named = [name for name, text in _texts() if MACHINE_PATHS.search(text)]

    assert tree.ratchet(named, PATHS_THAT_ARE_MEANT) == []


def test_every_pin_has_a_hash_and_no_address() -> None:
    loose: list[str] = []
    for path in tree.files(tree.ROOT / "requirements", suffix=".txt"):
        text = path.read_text(encoding="utf-8").replace("\\\n", "")
        pins = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
        loose += [line[:60] for line in pins if "==" not in line or "--hash=sha256:" not in line]
        loose += [line[:60] for line in pins if "://" in line]

    assert loose == []


@pytest.mark.parametrize("extra", ["dev", "bench"])
def test_every_dependency_that_is_declared_is_pinned(extra: str) -> None:
    project = tomllib.loads((tree.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras[extra]]
    wanted += [each for name in ("sql", "server", "otel") for each in extras[name]]
    pins = (tree.ROOT / "requirements" / f"{extra}.txt").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==", pins, re.MULTILINE))

    assert {_project_of(each) for each in wanted} - pinned == {"pegboard"}


def test_the_extras_that_packages_ask_of_each_other_are_pinned() -> None:
    # pip before 23.3 takes the newest `coverage` for `coverage[toml]`, whatever else is pinned
    lines = (tree.ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8").splitlines()
    pins = [
        Requirement(line.removesuffix("\\"))
        for line in lines
        if re.match(r"[\w.-]+(\[.+\])?==", line)
    ]
    pinned = {pin.name: pin.extras for pin in pins if pin.marker is None or pin.marker.evaluate()}
    missing = [
        f"{name} needs {needed}"
        for name, extras in pinned.items()
        for needed in map(Requirement, metadata.requires(name) or [])
        if needed.extras - pinned.get(canonicalize_name(needed.name), set())
        and any(
            needed.marker is None or needed.marker.evaluate({"extra": extra})
            for extra in extras | {""}
        )
    ]

    assert missing == []


def _project_of(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0].lower()


def _texts() -> Iterator[tuple[str, str]]:
    for path in tree.files(tree.ROOT):
        if path != Path(__file__):
            yield tree.name(path), path.read_bytes().decode("utf-8", "ignore")
