"""Responses about agents, and the models that they may use."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class AgentAnswer(BaseModel):
    """An agent that can be chosen; its instructions are not shown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    description: str
    model: Annotated[str, Field(description="`provider:name`; empty for the board's model.")]
    engine: str
    tools: Annotated[
        list[str] | None,
        Field(description="Names and globs; null for what categories and connectors leave."),
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


class ModelChoiceAnswer(BaseModel):
    """A language model that can be chosen to answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(description="By which it is chosen.")]
    title: str
    provider: Annotated[str, Field(description="Of its API; empty when it is not known.")]
    role: Annotated[
        Literal["", "smart", "fast"],
        Field(description="What the board uses it for by default; empty for nothing."),
    ]


class ModelListAnswer(BaseModel):
    """The models that can be chosen, the one that answers by default first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: list[ModelChoiceAnswer]
