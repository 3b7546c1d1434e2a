"""The front door: a list of names that one can read, each imported when it is first asked for."""

import ast
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import pegboard

HOMES = pegboard._HOMES


def test_what_is_public_is_listed_once() -> None:
    assert len(pegboard.__all__) == len(set(pegboard.__all__))
    assert sorted(HOMES) == sorted(pegboard.__all__)
    assert dir(pegboard) == sorted([*pegboard.__all__, "__version__"])
    assert len(pegboard.__all__) <= 30


@pytest.mark.parametrize("name", pegboard.__all__)
def test_a_public_name_is_the_object_of_its_home(name: str) -> None:
    home: Any = import_module(HOMES[name])
    found = getattr(home, name, home)

    assert getattr(pegboard, name) is found
    assert vars(pegboard)[name] is found


def test_type_checkers_are_told_the_same_names() -> None:
    tree = ast.parse(Path(pegboard.__file__).read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    told = {
        alias.asname or alias.name
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert told == set(pegboard.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'pegboard' has no attribute 'Tols'"):
        getattr(pegboard, "Tols")  # noqa: B009 - pyright knows that it is not there


def test_the_version_is_that_of_the_distribution() -> None:
    assert pegboard.__version__ == version("pegboard")


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    code = "import sys, pegboard; print([name for name in sys.modules if 'pegboard.' in name])"

    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert printed.strip() == "[]"


def test_the_example_of_the_front_door_runs() -> None:
    example = (pegboard.__doc__ or "").split("```python")[1].split("```")[0]

    namespace: dict[str, Any] = {}
    exec(example, namespace)

    result = namespace["registry"].call_sync("letter_counter", '{"word": "pear", "letter": "e"}')
    assert result.unwrap() == 1
