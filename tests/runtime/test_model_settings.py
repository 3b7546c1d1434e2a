"""The settings of models."""

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.model_settings import BoardModelSettings
from pegboard.runtime.settings import Settings


def test_a_process_without_settings_has_no_model_and_shows_few_tools() -> None:
    found = Settings.from_environment({})

    assert isinstance(found, BoardModelSettings)
    assert not any(
        (found.model, found.fast_model, found.embed_model, found.rerank_model, found.vision_model)
    )
    assert found.selected_tools < found.max_listed_tools
    assert found.search_by_meaning is None


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PEGBOARD_MAX_LISTED_TOOLS", "129", "less than or equal to 128"),
        ("PEGBOARD_SELECTED_TOOLS", "-1", "greater than or equal to 0"),
        ("PEGBOARD_MCP_TOOL_MODE", "inline", "'progressive' or 'direct'"),
        ("PEGBOARD_SEARCH_BY_MEANING", "perhaps", "true or false"),
    ],
)
def test_a_wrong_value_is_refused_with_what_may_be_written(
    name: str, value: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=f"{name}: .*{says}"):
        Settings.from_environment({name: value})


def test_skills_alone_may_stand_in_the_prompt() -> None:
    found = Settings.from_environment({"PEGBOARD_SKILL_TOOL_MODE": "inline"})

    assert found.skill_tool_mode == "inline"
