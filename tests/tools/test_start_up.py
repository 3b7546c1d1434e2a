"""Making tools loads little: what is heavy is imported when a schema or a thread is first used."""

import json
import subprocess
import sys

import pytest

import pegboard.tools

HEAVY = {"asyncio", "docstring_parser", "jsonschema_rs", "yaml", "difflib", "ssl", "socket"}


def _loaded(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded for this."""
    script = f"import sys, json; before = {{*sys.modules}}\n{code}\n"
    script += "print(json.dumps([*{*sys.modules} - before]))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    return set(json.loads(done.stdout))


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import pegboard.tools", id="importing"),
        pytest.param(
            "from pegboard.tools import as_tool\n"
            "def f(a: int, b: list[str] | None = None) -> dict[str, int]:\n"
            "    'Does it.'\n"
            "as_tool(f).spec.description",
            id="registering a function",
        ),
        pytest.param(
            "from pegboard.tools import tool\n@tool(effect='read')\ndef f(a: int) -> int: ...",
            id="decorating one",
        ),
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_used(code: str) -> None:
    assert (
        _loaded(code) & (HEAVY | {"pydantic.fields", "pegboard.tools.signatures.function_schema"})
        == set()
    )


@pytest.mark.slow
def test_what_is_loaded_is_seen() -> None:
    code = (
        "from pegboard.tools import as_tool\ndef f(a: int): ...\nas_tool(f).arguments({'a': '5'})"
    )

    assert "pegboard.tools.signatures.function_schema" in _loaded(code)
    assert {"asyncio"} <= _loaded("import asyncio")


def test_the_front_door_of_the_room_is_a_list() -> None:
    assert [name for name in pegboard.tools.__all__ if not hasattr(pegboard.tools, name)] == []
