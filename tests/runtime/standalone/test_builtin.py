import os
import subprocess
import sys

import pytest

from pegboard import ToolRegistry, builtin, discover_builtin_tools
from pegboard.errors import InvalidRequest


async def test_the_built_in_tools_work_without_a_board() -> None:
    registry = ToolRegistry(builtin.ALL_TOOLS)

    assert (await registry.call("calculator", {"expression": "6*7"})).unwrap() == 42


async def test_tools_of_the_web_have_their_guarded_client() -> None:
    result = await ToolRegistry(builtin.web).call("web_fetch", {"url": "http://127.0.0.1:9/"})

    assert result.error is not None
    assert result.error.code == "request_invalid"


def test_they_come_in_groups_and_all_at_once() -> None:
    names = {tool.spec.name for tool in discover_builtin_tools()}

    assert {"calculator", "echo", "web_fetch", "json_transform"} <= names
    assert [tool.spec.name for tool in builtin.computation] == ["calculator", "python_exec"]
    assert "computation" in dir(builtin)


def test_an_unknown_group_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = builtin.nonsense


def test_a_tool_is_called_as_a_function() -> None:
    [calculator] = [item for item in builtin.computation if item.spec.name == "calculator"]
    [fetch] = [item for item in builtin.web if item.spec.name == "web_fetch"]

    assert calculator(expression="6*7") == 42
    with pytest.raises(InvalidRequest):
        fetch(url="http://127.0.0.1:9/")


@pytest.mark.slow
def test_the_library_reads_the_settings_of_services_as_a_board_does() -> None:
    program = (
        "from pegboard import discover_builtin_tools as found; "
        "print(*(tool.spec.name for tool in found() if tool.spec.category == 'media' "
        "and not tool.spec.unavailable))"
    )
    environment = {**os.environ, "PEGBOARD_IMAGE_KEY": "k"}

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    )

    assert done.stdout.split() == ["generate_image"]
