"""The configuration of agents that are tools."""

from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.sources.agents.config import SubagentConfig, SubagentsConfig


def test_the_agent_config_of_the_rfc_is_read() -> None:
    config = SubagentConfig.model_validate(
        {"model": "gpt-4", "max_iterations": 10, "tools": ["web_search", "document_reader"]}
    )

    assert config == SubagentConfig(
        model="gpt-4", max_iterations=10, tools=("web_search", "document_reader")
    )


@pytest.mark.parametrize(
    "config",
    [{"max_iterations": 0}, {"memory": "for ever"}, {"tolls": []}],
    ids=["no turn", "a memory", "a key"],
)
def test_what_is_wrong_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SubagentConfig.model_validate(config)
    with pytest.raises(ValidationError):
        SubagentsConfig.model_validate({"agents": [{**config, "name": "a"}]})
