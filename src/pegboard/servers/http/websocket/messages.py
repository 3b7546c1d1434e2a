"""Messages that a client may send: JSON objects with an `id` and a `type`."""

from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, Strict, TypeAdapter, ValidationError

from pegboard.core.tool import JsonSchema
from pegboard.errors import InvalidRequest
from pegboard.features.approvals.schemas import DecisionRequest
from pegboard.features.runs.schemas import AnswerBody, MessageBody, RunBody
from pegboard.servers.http.json_body import decode_json
from pegboard.servers.http.models.requests import ExecuteRequest
from pegboard.servers.http.validation_messages import schema_of_type

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_MAX_ID_LENGTH = 128
_MAX_SEQUENCE = 2**53

Id = str | int
"""Chosen by the client; unique among its running requests."""

_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Key = Annotated[str, Field(max_length=255, description="Same as the header `Idempotency-Key`.")]
_Id = Annotated[
    Annotated[str, Strict(), Field(min_length=1, max_length=_MAX_ID_LENGTH)]
    | Annotated[int, Strict(), Field(ge=-_MAX_SEQUENCE, le=_MAX_SEQUENCE)],
    Field(description="Repeated in every answer to the message."),
]

_FORMS_OF_ID = ("constrained-str", "constrained-int")
_WANTED_ID = f"Write a text of 1 to {_MAX_ID_LENGTH} characters, or an integer up to 2^53"


class _Message(BaseModel):
    """Fields of every message."""

    model_config = _CLOSED

    id: _Id


class CallMessage(_Message):
    """Call a tool; `progress` comes while it runs."""

    type: Literal["call"]
    body: Annotated[ExecuteRequest, Field(description="The body of `POST /execute`.")]


class StartRunMessage(_Message):
    """Start a run of a stored plan, or of a graph in the message."""

    type: Literal["start_run"]
    body: Annotated[RunBody, Field(description="The body of `POST /runs`.")]
    key: _Key = ""


class _RunMessage(_Message):
    run_id: _Name


class ShowRunMessage(_RunMessage):
    """Show the current state of a run."""

    type: Literal["show_run"]


class FollowRunMessage(_RunMessage):
    """Follow a run until it has ended; everything that happens is sent as an `event`."""

    type: Literal["follow_run"]
    after: Annotated[
        int,
        Strict(),
        Field(ge=0, le=_MAX_SEQUENCE, description="Only events with a greater number."),
    ] = 0


class SteerRunMessage(_RunMessage):
    """Cancel, pause or resume a run."""

    type: Literal["cancel_run", "pause_run", "resume_run"]


class AnswerRunMessage(_RunMessage):
    """Answer a question of a run."""

    type: Literal["answer_run"]
    body: Annotated[AnswerBody, Field(description="The body of `POST /runs/{run_id}/answers`.")]


class MessageRunMessage(_RunMessage):
    """Send a run a message that one of its steps waits for."""

    type: Literal["message_run"]
    body: Annotated[MessageBody, Field(description="The body of `POST /runs/{run_id}/messages`.")]


class DecideMessage(_Message):
    """Decide an approval."""

    type: Literal["decide_approval"]
    approval_id: _Name
    body: Annotated[DecisionRequest, Field(description="The body of `POST /approvals/{approval}`.")]


class SubscribeMessage(_Message):
    """Get events when sources, and tools that you may see, change, until it is cancelled."""

    type: Literal["subscribe"]


class CancelMessage(_Message):
    """Cancel a running request: its call is cancelled, or its events end."""

    type: Literal["cancel"]
    request: Annotated[_Id, Field(description="The `id` of that request.")]


class PingMessage(_Message):
    """Ask for a `pong`."""

    type: Literal["ping"]


Work = (
    CallMessage
    | StartRunMessage
    | ShowRunMessage
    | FollowRunMessage
    | SteerRunMessage
    | AnswerRunMessage
    | MessageRunMessage
    | DecideMessage
    | SubscribeMessage
)
"""Messages that start a request."""

_Every = Work | CancelMessage | PingMessage
Message = Annotated[_Every, Field(discriminator="type")]
READER: TypeAdapter[Message] = TypeAdapter(Message)
_MODELS: dict[str, type[BaseModel]] = {
    name: model
    for model in get_args(_Every)
    for name in get_args(model.model_fields["type"].annotation)
}
TYPES = tuple(_MODELS)
"""Values of `type`, in the order of their documentation."""


def read_object(text: str, *, max_values: int) -> dict[str, Any]:
    """Decode the JSON object of a message.

    Raises:
        InvalidRequest: The message is not JSON, nested too deeply, has too many values, or is not
            an object.
    """
    try:
        content = text.encode()
    except UnicodeEncodeError as error:  # possible only with other servers than uvicorn
        raise InvalidRequest("The message is not UTF-8.") from error
    value = decode_json(content, max_values=max_values)
    if not isinstance(value, dict):
        raise InvalidRequest("A message is a JSON object with an 'id' and a 'type'.")
    return cast("dict[str, Any]", value)


def id_of(message: dict[str, Any]) -> Id | None:
    """The id of a message, if it is valid."""
    given = message.get("id")
    if isinstance(given, str):
        return given if 0 < len(given) <= _MAX_ID_LENGTH else None
    if not isinstance(given, int) or isinstance(given, bool):
        return None
    return given if abs(given) <= _MAX_SEQUENCE else None


def faults_of(error: ValidationError) -> list[dict[str, Any]]:
    """The faults of a message, with paths as the client knows them."""
    faults: list[dict[str, Any]] = []
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        place = item["loc"]
        if not place and item["type"].startswith("union_tag"):
            kinds = ", ".join(TYPES)
            faults.append({"type": "value", "loc": ("type",), "msg": f"Write one of {kinds}"})
        else:
            faults.append({**item, "loc": place[1:] if place[:1] != ("id",) else place})
    return _with_one_of_each_id(faults)


def schema_for(message: dict[str, Any]) -> JsonSchema:
    """The schema of messages of this type; empty for an unknown type."""
    model = _MODELS.get(str(message.get("type")))
    return {} if model is None else schema_of_type(model)


def _with_one_of_each_id(faults: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge the two faults of an id that is neither a string nor a number."""
    merged: dict[Any, dict[str, Any]] = {}
    for item in faults:
        *place, form = item["loc"] or ("",)
        if form in _FORMS_OF_ID:
            item = {"type": "value", "loc": tuple(place), "msg": _WANTED_ID}  # noqa: PLW2901 - instead of it
        merged.setdefault((item["loc"], item["msg"]), item)
    return list(merged.values())
