"""The configuration of an agent node."""

import pytest

from pegboard.engines.agent import AgentConfig, read_config
from pegboard.errors import InvalidRequest


def test_a_configuration_is_read_with_its_defaults() -> None:
    assert read_config({"agent": "support"}) == AgentConfig(agent="support", steering="steer")


@pytest.mark.parametrize("config", [{"agnet": "x"}, {"agent": 7}])
def test_what_is_no_configuration_is_refused_with_its_place(config: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest, match="config: "):
        read_config(config)
