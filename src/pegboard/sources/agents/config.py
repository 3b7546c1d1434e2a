"""The `config:` section of an agents source."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.ports.source_services.subagents import Memory

_STRICT = ConfigDict(frozen=True, extra="forbid")
_INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {"task": {"type": "string", "description": "What the agent has to do."}},
    "required": ["task"],
    "additionalProperties": False,
}


class SubagentConfig(BaseModel):
    """What an agent works with; the `agent_config` of RFC-0003."""

    model_config = _STRICT

    model: Annotated[
        str, Field(max_length=200, description="`provider:name`; by default the board's model.")
    ] = ""
    max_iterations: Annotated[
        int, Field(ge=1, le=1000, description="Turns of its model, at most.")
    ] = 10
    tools: Annotated[
        tuple[str, ...],
        Field(description="Names of the tools that it may call; none of them may be an agent."),
    ] = ()
    instructions: Annotated[
        str,
        Field(max_length=100_000, description="The system prompt; by default the description."),
    ] = ""
    memory: Annotated[
        Memory,
        Field(
            description="`conversation`: it remembers its earlier answers to the caller, within a "
            "run, or under the same `conversation` of its input, until the server restarts."
        ),
    ] = "none"


class NamedSubagent(SubagentConfig):
    """An agent of a source."""

    name: Annotated[
        str,
        Field(pattern=r"^[a-zA-Z][a-zA-Z0-9_]{0,30}$", description="The action of its tool."),
    ]
    description: Annotated[str, Field(max_length=20_000, description="What it does.")] = ""
    input_schema: Annotated[
        dict[str, Any], Field(description="JSON Schema of its input; by default a `task`.")
    ] = _INPUT
    output_schema: Annotated[
        dict[str, Any] | None, Field(description="JSON Schema of its answer; by default text.")
    ] = None


class SubagentsConfig(BaseModel):
    """The agents, which API, plans and graphs call; models never get them as tools.

    ```yaml
    {kind: agents, name: staff, config: {agents: [{name: researcher, tools: [web_search]}]}}
    ```
    """

    model_config = _STRICT

    agents: Annotated[tuple[NamedSubagent, ...], Field(min_length=1, description="The agents.")]
