"""What is said of agents."""

from pegboard import ToolRegistry
from pegboard.core.principal import LOCAL
from pegboard.features.agents import AgentProfile, Agents
from pegboard.features.agents.schemas import AgentListAnswer


async def test_the_schema_describes_what_the_service_lists() -> None:
    agents = Agents(ToolRegistry(), lambda _: [AgentProfile(name="a", tools=("x",))])
    listed = await agents.list(principal=LOCAL)
    read = AgentListAnswer.model_validate({"agents": listed})

    assert read.model_dump() == {"agents": listed}
    assert "no tool 'x'" in read.agents[0].unavailable
