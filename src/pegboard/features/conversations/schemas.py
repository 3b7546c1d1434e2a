"""Requests and responses about conversations."""

from base64 import b64decode
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from pegboard.core.model_messages import Finish
from pegboard.features.citation_schemas import CitationAnswer, ConflictAnswer
from pegboard.features.conversations.message_files import FILE_NAME

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_NAME = Field(max_length=200)
EngineName = Literal["", "auto", "react", "dag"]

MAX_MESSAGE = 200_000
"""Characters of a message."""


_BASE64 = r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"


def _decode(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return b64decode(value, validate=True)
    except ValueError as error:
        raise ValueError("write it as Base64") from error


_Accounts = dict[Annotated[str, Field(max_length=64)], Annotated[str, Field(max_length=100)]]
_ACCOUNTS = Field(
    max_length=100,
    description="By source, the name of your credential to call with; others use the default.",
)


class ChatFile(BaseModel):
    """A file that comes with a message."""

    model_config = _CLOSED

    name: Annotated[str, Field(pattern=FILE_NAME, description="Without folders.")]
    data: Annotated[
        bytes,
        BeforeValidator(_decode),
        WithJsonSchema({"type": "string", "contentEncoding": "base64", "pattern": _BASE64}),
        Field(description="The content, as Base64."),
    ]


class ChatUpload(BaseModel):
    """A stored file that comes with a message."""

    model_config = _CLOSED

    upload: Annotated[
        str, Field(min_length=1, max_length=64, description="Id of a finished upload.")
    ]
    name: Annotated[
        str | None,
        Field(pattern=FILE_NAME, description="Without folders; by default that of the file."),
    ] = None


class ChatBody(BaseModel):
    """A message to an agent."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"anyOf": [{"required": [key]} for key in ("message", "instead_of")]},
    )

    message: Annotated[
        str,
        Field(
            max_length=MAX_MESSAGE,
            pattern=r"\S",
            description="The message; left out to answer the one of `instead_of` again.",
        ),
    ] = ""
    conversation: Annotated[
        str, Field(max_length=200, description="Which it continues; empty for a new one.")
    ] = ""
    agent: Annotated[
        str | None,
        Field(max_length=200, description="The agent that answers from now on; `auto` for none."),
    ] = None
    model: Annotated[
        str | None,
        Field(
            max_length=200,
            description="The model that answers from now on, one of `GET /chat/models`; empty for "
            "the agent's own.",
        ),
    ] = None
    engine: Annotated[
        EngineName | None,
        Field(
            description="How it is worked on from now on: by one agent (`react`), as a goal that "
            "is planned (`dag`), or as the message suggests (`auto`); empty for the agent's own."
        ),
    ] = None
    accounts: Annotated[_Accounts | None, _ACCOUNTS] = None
    instead_of: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="The last message of the conversation, which this one replaces. The old "
            "branch stays readable.",
        ),
    ] = ""
    when: Annotated[
        Literal["queue", "steer", "stop"],
        Field(
            description="While another message is being answered: wait for that answer, reach the "
            "agent at its next step, or stop it and be answered before all others that wait."
        ),
    ] = "queue"
    files: Annotated[
        list[ChatFile | ChatUpload],
        Field(
            max_length=20,
            description="Put into the workspace of the conversation, where its tools find them; "
            "one of the same name is replaced. The limit of the request is theirs too, so large "
            "ones are uploaded first.",
        ),
    ] = []
    stream: Annotated[
        bool,
        Field(description="Whether the answer comes as server-sent events, or whole at its end."),
    ] = True

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set & {"message", "instead_of"}:
            raise ValueError("Give a 'message', or the message to answer again as 'instead_of'")
        return self


class ConversationChange(BaseModel):
    """Changes of a conversation; what is left out stays."""

    model_config = _CLOSED

    title: Annotated[str | None, Field(min_length=1, max_length=200)] = None
    agent: Annotated[str | None, _NAME] = None
    model: Annotated[str | None, _NAME] = None
    engine: EngineName | None = None
    accounts: Annotated[_Accounts | None, _ACCOUNTS] = None


class ConversationFilter(BaseModel):
    """Query of `GET /conversations`; empty means any."""

    model_config = _CLOSED

    text: Annotated[
        str,
        Field(max_length=200, description="Stands in the title, a message or an answer."),
    ] = ""
    limit: Annotated[int, Field(ge=1, le=500, description="Conversations on a page.")] = 50
    cursor: Annotated[
        str, Field(max_length=200, description="`next_cursor` of the page before; empty at first.")
    ] = ""


class MessageFileAnswer(BaseModel):
    """A file that came with a message."""

    model_config = _CLOSED

    name: str
    size: Annotated[int, Field(description="Bytes, as it came.")]


class ExchangeAnswer(BaseModel):
    """A message, and the answer to it."""

    model_config = _CLOSED

    id: str
    conversation: str
    parent: Annotated[str, Field(description="The message before it; empty for the first.")]
    state: Literal["queued", "working", "completed", "failed", "cancelled", "withdrawn", "steered"]
    text: str
    files: list[MessageFileAnswer]
    answer: str
    finish: Annotated[
        Finish,
        Field(
            description="Why the answer ended: `length` at the model's limit of output, "
            "`content_filter` by its provider."
        ),
    ]
    messages: Annotated[
        list[dict[str, Any]],
        Field(description="Calls, results and texts of the answer, each with its `role`."),
    ]
    usage: dict[str, Any]
    error: dict[str, Any] | None
    citations: Annotated[
        list[CitationAnswer],
        Field(description="What the numbers of the answer stand for; each was checked."),
    ]
    conflicts: Annotated[
        list[ConflictAnswer], Field(description="Citations that contradict each other.")
    ]
    left_out: Annotated[int, Field(description="Numbers that no quote carries, and were dropped.")]
    steers: Annotated[
        bool,
        Field(description="Whether it was sent to reach the agent at its next step, not to wait."),
    ]
    run_id: str
    created_at: Annotated[float, Field(description="Unix seconds.")]
    finished_at: float | None
    position: Annotated[
        str, Field(description="`Last-Event-ID` to follow this answer from its beginning.")
    ]


class ConversationSummary(BaseModel):
    """A conversation in a list."""

    model_config = _CLOSED

    id: str
    title: str
    agent: str
    model: str
    engine: Annotated[EngineName, Field(description="Empty for that of the agent.")]
    accounts: Annotated[
        dict[str, str], Field(description="By source, the name of your credential to call with.")
    ]
    head: Annotated[str, Field(description="The last message of the branch that is shown.")]
    created_at: Annotated[float, Field(description="Unix seconds.")]
    updated_at: Annotated[float, Field(description="Unix seconds of the last message or answer.")]


class GrantAnswer(BaseModel):
    """A standing approval: calls that need no further one for the rest of the conversation."""

    model_config = _CLOSED

    id: str
    tool: Annotated[str, Field(description="Wire name of the tool.")]
    version: str
    scope: Annotated[
        Literal["arguments", "tool"], Field(description="Calls with these arguments, or all.")
    ]
    arguments: Annotated[Any, Field(description="These arguments, redacted; null for any.")]
    reason: Annotated[str, Field(description="Why the policy asks.")]
    approval: Annotated[str, Field(description="The approval that it was given with.")]
    granted_by: str
    granted_at: Annotated[float, Field(description="Unix seconds.")]


class ConversationAnswer(ConversationSummary):
    """A conversation with its messages and answers, those of other branches included."""

    grants: Annotated[
        list[GrantAnswer], Field(description="Approvals that stand until they are revoked.")
    ]
    exchanges: list[ExchangeAnswer]


class ConversationListAnswer(BaseModel):
    """One page of conversations, the last changed first."""

    model_config = _CLOSED

    conversations: list[ConversationSummary]
    next_cursor: Annotated[
        str | None, Field(description="For the next page; null when this was the last.")
    ]


class ConversationFileAnswer(BaseModel):
    """A file in the workspace of a conversation."""

    model_config = _CLOSED

    path: Annotated[str, Field(description="From the root of the workspace, with `/`.")]
    size: Annotated[int, Field(description="Bytes.")]
    modified_at: Annotated[float, Field(description="Unix seconds.")]


class ConversationFilesAnswer(BaseModel):
    """The files of a conversation, by their paths."""

    model_config = _CLOSED

    files: list[ConversationFileAnswer]
    has_more: Annotated[bool, Field(description="Whether there are more than these.")]


class StopAnswer(BaseModel):
    """Whether an answer was in progress."""

    model_config = _CLOSED

    stopped: bool
