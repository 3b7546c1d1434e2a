import pytest

from pegboard import ToolRegistry, builtin, discover_builtin_tools


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
