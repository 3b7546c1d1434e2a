import pytest
from pydantic import ValidationError

from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.errors import ConfigError
from pegboard.sources import builtin
from pegboard.sources.builtin import KIND, BuiltinConfig, discover_builtin_tools
from pegboard.testing import SourceContract


class TestBuiltinSource(SourceContract):
    kind = KIND
    least_tools = len(discover_builtin_tools())

    async def open_source(self) -> Source:
        return await KIND.open("tools", BuiltinConfig(), Services())


class TestBuiltinSourceWithAChoice(SourceContract):
    kind = KIND

    async def open_source(self) -> Source:
        return await KIND.open("builtin", BuiltinConfig(include=("calculator",)), Services())


async def actions(config: BuiltinConfig, services: Services | None = None) -> list[str]:
    source = await KIND.open("b", config, services or Services())
    return [tool.spec.action for tool in await source.tools()]


async def test_tools_and_categories_are_included_and_excluded() -> None:
    config = BuiltinConfig(include=("general", "calculator"), exclude=("echo",))

    found = await actions(config)

    assert "calculator" in found
    assert "datetime" in found
    assert "echo" not in found


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (BuiltinConfig(include=("calculater",)), "include names 'calculater'.* write 'calculator'"),
        (BuiltinConfig(exclude=("genral",)), "exclude names 'genral'.* write 'general'"),
        (BuiltinConfig(include=("zzz",)), "known are .*calculator"),
    ],
)
async def test_an_unknown_name_is_a_config_error_that_names_the_nearest(config, reason) -> None:
    with pytest.raises(ConfigError, match=reason):
        await KIND.open("builtin", config, Services())


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(ValidationError, match="includes"):
        BuiltinConfig.model_validate({"includes": ["echo"]})


def test_groups_hold_the_decorated_functions_by_category() -> None:
    names = [function.__name__ for function in builtin.computation]

    assert names == ["calculator"]
    assert builtin.computation[0]("6 * 7") == 42
    assert set(builtin.computation) < set(builtin.ALL_TOOLS)


def test_what_is_no_category_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = builtin.nothing
