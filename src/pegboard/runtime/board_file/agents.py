"""The `agents:` section of a board file."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

_STRICT = ConfigDict(frozen=True, extra="forbid")
_AUTO = "auto"
_ALIASED = {"skill_tool_mode"}


def _check_name(name: str) -> str:
    if name == _AUTO:
        raise ValueError("'auto' means that no agent is chosen; write another name")
    return name


class AgentLimitsEntry(BaseModel):
    """When one answer of an agent stops."""

    model_config = _STRICT

    turns: Annotated[int, Field(ge=1, le=1000, description="Turns of the model.")] = 50
    calls: Annotated[int | None, Field(ge=1, description="Calls of tools.")] = None
    tokens: Annotated[
        int | None, Field(ge=1, description="Tokens of input and output together.")
    ] = None
    cost: Annotated[
        float | None, Field(gt=0, description="US dollars, where prices are known.")
    ] = None
    seconds: Annotated[
        float | None, Field(gt=0, description="From its start, waits for people included.")
    ] = None


class ToolModesEntry(BaseModel):
    """How the model of an agent reaches what it is not shown; None for the setting of the board."""

    model_config = _STRICT

    connector: Annotated[
        Literal["progressive", "direct"] | None,
        Field(description="APIs: by the meta-tool `connector`, or as all other tools."),
    ] = None
    database: Annotated[
        Literal["progressive", "direct"] | None,
        Field(description="Databases: by the meta-tool `database`, or as all other tools."),
    ] = None
    mcp: Annotated[
        Literal["progressive", "direct"] | None,
        Field(description="MCP servers: by the meta-tool `mcp`, or as all other tools."),
    ] = None
    skill: Annotated[
        Literal["progressive", "direct", "inline"] | None,
        Field(
            description="Skills: by `read_skill`, by a tool for each, or in the system prompt; "
            "`model_config: {skill_tool_mode: ...}` means the same."
        ),
    ] = None


class AgentEntry(BaseModel):
    """An agent that people and programs can choose."""

    model_config = _STRICT

    name: Annotated[
        str,
        AfterValidator(_check_name),
        Field(
            pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$",
            description="By which it is chosen: letters, digits, `_` and `-`.",
        ),
    ]
    description: Annotated[str, Field(max_length=2000, description="What it is for.")] = ""
    instructions: Annotated[
        str,
        Field(
            max_length=100_000,
            description="The system prompt; by default that of a helpful assistant. Never shown.",
        ),
    ] = ""
    model: Annotated[
        str, Field(max_length=200, description="`provider:name`; by default the board's model.")
    ] = ""
    tools: Annotated[
        tuple[str, ...] | None,
        Field(
            description="Names and globs of the only tools that it may use; by default those of "
            "its `tool_categories` and `connector_ids`, and all MCP servers. A name that no tool "
            "has makes the agent unavailable."
        ),
    ] = None
    tool_categories: Annotated[
        tuple[str, ...],
        Field(
            description="Categories of the built-in tools, functions, scripts and LangChain tools "
            "that it may use; by default all. They do not count where it has `tools`."
        ),
    ] = ()
    connector_ids: Annotated[
        tuple[str, ...],
        Field(
            description="Names and globs of the APIs and databases that it may use; by default "
            'none, `["*"]` for all. They do not count where it has `tools`.'
        ),
    ] = ()
    kb_ids: Annotated[
        tuple[str, ...],
        Field(
            description="Names and globs of the knowledge bases that it may ask; by default none, "
            '`["*"]` for all.'
        ),
    ] = ()
    retrieval_mode: Annotated[
        Literal["simple", "grounding"],
        Field(
            description="How it asks them: for the best pieces (`simple`), or for checked quotes, "
            "their conflicts and whether they are enough (`grounding`)."
        ),
    ] = "simple"
    tool_modes: Annotated[
        ToolModesEntry, Field(description="How its model reaches what it is not shown.")
    ] = ToolModesEntry()
    always_listed: Annotated[
        tuple[str, ...],
        Field(
            description="Names and globs of tools that the model is always shown, beside those "
            "that fit the question; names in `tools` are."
        ),
    ] = ()
    accounts: Annotated[
        dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=100)]],
        Field(
            max_length=100,
            description="By source, the name of the credential of its caller that it calls with, "
            "as `{github: work}`; a conversation that chooses one comes first. Others use the "
            "default. A caller who has none of that name is asked to connect one.",
        ),
    ] = {}
    engine: Annotated[
        Literal["auto", "react", "dag"],
        Field(
            description="Whether one agent works on a message (`react`), it is planned as a goal "
            "whose steps run at the same time (`dag`), or a model decides that (`auto`)."
        ),
    ] = "react"
    limits: Annotated[AgentLimitsEntry, Field(description="When one answer stops.")] = (
        AgentLimitsEntry()
    )
    temperature: Annotated[
        float | None, Field(ge=0, le=2, description="By default the provider's.")
    ] = None
    concurrent_tool_calls: Annotated[
        bool, Field(description="Whether the calls of a turn are made at once.")
    ] = True
    completion_check: Annotated[
        bool,
        Field(
            description="Whether a model that has used tools is sent on, at most once an answer, "
            "when its answer is empty, only announces a further step, or does not say that a "
            "change failed. Judged by rules, without asking a model."
        ),
    ] = True

    @model_validator(mode="before")
    @classmethod
    def _read_model_config(cls, data: Any) -> Any:
        """Accept `model_config.skill_tool_mode`, whose name pydantic keeps for itself."""
        given = dict(cast("Mapping[str, Any]", data)) if isinstance(data, Mapping) else {}
        if "model_config" not in given:
            return cast("Any", data)
        alias = given.pop("model_config")
        if not isinstance(alias, Mapping) or set(cast("Mapping[str, Any]", alias)) != _ALIASED:
            raise ValueError("model_config has 'skill_tool_mode' alone; write tool_modes")
        modes = dict(given.get("tool_modes") or {})
        modes.setdefault("skill", cast("Mapping[str, Any]", alias)["skill_tool_mode"])
        return {**given, "tool_modes": modes}


def _check_unique(entries: Sequence[AgentEntry]) -> Sequence[AgentEntry]:
    names = [entry.name for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"each agent has a name of its own; more than one is {twice[0]!r}")
    return entries


AgentEntries = Annotated[tuple[AgentEntry, ...], AfterValidator(_check_unique)]
