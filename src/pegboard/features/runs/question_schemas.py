"""Requests and responses about questions of tools."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_CLOSED = ConfigDict(extra="forbid", frozen=True)


class QuestionAnswer(BaseModel):
    """A question of a tool that waits for its answer."""

    model_config = _CLOSED

    id: str
    step: Annotated[str, Field(description="The step whose call waits.")]
    tool: Annotated[str, Field(description="The tool that asks.")]
    source: Annotated[str, Field(description="The source of the tool; empty for a function.")]
    source_kind: Annotated[str, Field(description="The kind of the source, as `mcp`.")]
    text: Annotated[str, Field(description="As the tool wrote it: do not trust it.")]
    schema_: Annotated[
        dict[str, Any] | None,
        Field(
            alias="schema",
            description="JSON Schema of the answer, a flat object; null where a page is opened.",
        ),
    ]
    url: Annotated[str, Field(description="The page to open; empty for a form.")]
    asked_at: Annotated[float, Field(description="Unix seconds.")]
    expires_at: Annotated[
        float, Field(description="Unix seconds at which the tool is told that nobody answered.")
    ]


class QuestionReply(BaseModel):
    """An answer to a question of a tool."""

    model_config = _CLOSED

    action: Annotated[
        Literal["accept", "decline", "cancel"],
        Field(description="Answer the question, refuse to, or dismiss it."),
    ]
    content: Annotated[
        dict[str, Any] | None,
        Field(
            max_length=50,
            description="What the form asks for; left out for a page, and unless you accept.",
        ),
    ] = None


class QuestionState(BaseModel):
    """A question that you have answered."""

    model_config = _CLOSED

    id: str
    state: Literal["accepted", "declined", "cancelled"]
