"""Responses about agents."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class AgentAnswer(BaseModel):
    """An agent that can be chosen; its instructions are not shown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    description: str
    model: Annotated[str, Field(description="`provider:name`; empty for the board's model.")]
    engine: str
    tools: Annotated[
        list[str] | None, Field(description="Names and globs; null for all tools of the board.")
    ]
    tool_count: Annotated[int, Field(description="Tools that you and the agent may use now.")]
    missing: Annotated[
        dict[str, str], Field(description="Why a tool of the list is missing now, by name.")
    ]
    unavailable: Annotated[
        str, Field(description="Why the agent cannot answer; empty when it can.")
    ]


class AgentListAnswer(BaseModel):
    """The agents of the board, in the order of the board file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agents: list[AgentAnswer]
