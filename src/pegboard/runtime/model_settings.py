"""The settings of models: which ones answer, and which tools they are shown."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class BoardModelSettings(BaseModel):
    """The models of the process, and how many tools they are shown in which way."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Annotated[
        str,
        Field(
            description="The language model of agents, as `provider:name`; a name alone is one of "
            "OpenAI, or of the server at `OPENAI_BASE_URL`. Or a model of `models.named` in "
            "`board.yaml`."
        ),
    ] = ""
    fast_model: Annotated[
        str,
        Field(
            description="The language model that summarises and selects; a name alone takes the "
            "provider of `PEGBOARD_MODEL`. By default that model."
        ),
    ] = ""
    embed_model: Annotated[
        str,
        Field(
            description="The model that turns texts into vectors, as "
            "`openai:text-embedding-3-small`; by default none does."
        ),
    ] = ""
    rerank_model: Annotated[
        str,
        Field(
            description="The model that orders what was found in knowledge bases, as "
            "`cohere:rerank-v3.5`; by default none does."
        ),
    ] = ""
    vision_model: Annotated[
        str,
        Field(description="The model that reads pictures and scanned pages; by default none does."),
    ] = ""
    max_listed_tools: Annotated[
        int,
        Field(
            ge=0,
            le=128,
            description="Up to so many tools are all shown to the model of an agent; of more, "
            "those that fit the question.",
        ),
    ] = 12
    selected_tools: Annotated[
        int,
        Field(
            ge=0,
            le=128,
            description="How many tools fit the question, where there are more than "
            "`PEGBOARD_MAX_LISTED_TOOLS`; the model finds and calls the others by `find_tools` "
            "and `call_tool`.",
        ),
    ] = 6
    search_by_meaning: Annotated[
        bool | None,
        Field(
            description="Whether tools are found by their meaning as well, where "
            "`PEGBOARD_EMBED_MODEL` or `models.embed` names a model; needs "
            "`pegboard[knowledge]`. By default as `search_by_meaning` of the board file says."
        ),
    ] = None
    rerank_tools: Annotated[
        bool | None,
        Field(
            description="Whether the fast model re-orders the tools that were found for a message, "
            "before the model of the agent is shown `PEGBOARD_SELECTED_TOOLS` of them: one more "
            "request for each message. By default as `rerank_tools` of the board file says."
        ),
    ] = None
    rerank_timeout: Annotated[
        float,
        Field(
            gt=0,
            le=60,
            description="Seconds that the fast model may take for `PEGBOARD_RERANK_TOOLS`; after "
            "them the tools stay in the order of the search.",
        ),
    ] = 3.0
    connector_tool_mode: Annotated[
        Literal["progressive", "direct"],
        Field(
            description="How models reach the tools of APIs that are not listed: by the meta-tool "
            "`connector`, or `direct`, as all others."
        ),
    ] = "progressive"
    database_tool_mode: Annotated[
        Literal["progressive", "direct"],
        Field(description="The same for databases, by the meta-tool `database`."),
    ] = "progressive"
    mcp_tool_mode: Annotated[
        Literal["progressive", "direct"],
        Field(description="The same for MCP servers, by the meta-tool `mcp`."),
    ] = "progressive"
    skill_tool_mode: Annotated[
        Literal["progressive", "direct", "inline"],
        Field(
            description="How models read skills: by `read_skill`, `direct` by a tool for each, or "
            "`inline`: their texts stand in the system prompt."
        ),
    ] = "progressive"
