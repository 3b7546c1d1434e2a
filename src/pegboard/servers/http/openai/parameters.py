"""Parameters of requests in OpenAI's formats: which are used, and the refusal of all others.

Formats: https://platform.openai.com/docs/api-reference/chat and .../responses.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.model_messages import ModelSettings
from pegboard.core.tool import JsonSchema
from pegboard.engines import AnswerSchema
from pegboard.errors import InvalidRequest

_OWN_TOOLS = (
    "The agents of this server call its own tools: leave 'tools' out, or choose an agent with them."
)
_STORED = "Each answer of this server is a run, which is stored: leave 'store' out."
_SHARED: Mapping[str, tuple[Any, ...]] = {
    "context_management": ([],),
    "logprobs": (False,),
    "moderation": (),
    "parallel_tool_calls": (True,),
    "reasoning": (),
    "service_tier": ("auto", "default"),
    "tool_choice": ("auto",),
    "tools": ([],),
    "top_logprobs": (0,),
    "verbosity": ("medium",),
}
CHAT: Mapping[str, tuple[Any, ...]] = {
    **_SHARED,
    "audio": (),
    "frequency_penalty": (0,),
    "function_call": ("auto",),
    "functions": ([],),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "n": (1,),
    "prediction": (),
    "presence_penalty": (0,),
    "reasoning_effort": (),
    "store": (False,),
    "web_search_options": (),
}
"""Parameters of chat completions that are not used, with the values that ask for nothing."""
RESPONSES: Mapping[str, tuple[Any, ...]] = {
    **_SHARED,
    "access_programs": (),
    "background": (False,),
    "background_options": (),
    "conversation": (),
    "image": (),
    "include": ([],),
    "max_tool_calls": (),
    "prompt": (),
    "store": (True,),
    "stream_options": ({}, {"include_obfuscation": False}),
    "truncation": ("auto",),
}
"""The same of responses."""
CHAT_STREAM: Mapping[str, tuple[Any, ...]] = {"include_obfuscation": (False,)}
"""The same of the options of a stream of a chat completion."""
HINTS = frozenset(
    {"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"}
    | {"metadata", "safety_identifier", "user"}
)
"""Labels, and hints to a provider's cache: they ask for nothing that an answer would show."""
_REASONS: Mapping[str, str] = {"tools": _OWN_TOOLS, "store": _STORED}

_OPEN = ConfigDict(extra="ignore", frozen=True)
_Name = Annotated[str, Field(max_length=200)]
Temperature = Annotated[float | None, Field(ge=0, le=2)]
TopP = Annotated[float | None, Field(ge=0, le=1)]
Limit = Annotated[int | None, Field(ge=1, le=2**31)]
FormatType = Literal["text", "json_object", "json_schema"]
Seed = Annotated[int | None, Field(ge=-(2**63), lt=2**63)]
_StopText = Annotated[str, Field(min_length=1, max_length=1_000)]
Stop = _StopText | Annotated[tuple[_StopText, ...], Field(max_length=4)] | None


class NamedSchema(BaseModel):
    """The schema of an answer. It is enforced, also where it is not `strict`; no name is needed."""

    model_config = _OPEN

    name: _Name = ""
    description: str = ""
    schema_: Annotated[dict[str, Any] | None, Field(alias="schema")] = None


class OutputFormat(BaseModel):
    """The format of the answer of a chat completion."""

    model_config = _OPEN

    type: FormatType
    json_schema: NamedSchema | None = None


class TextFormat(NamedSchema):
    """The format of the text of a response."""

    type: FormatType


class TextOptions(BaseModel):
    """How the text of a response is written."""

    model_config = ConfigDict(extra="allow", frozen=True)

    format: TextFormat | None = None


def refuse_others(
    given: Mapping[str, Any] | None, known: Mapping[str, tuple[Any, ...]], *, within: str = ""
) -> None:
    """Refuse parameters that are not used, rather than answer as if they had been.

    Args:
        given: Those that the model of the request does not name.
        known: Those of the format, with the values that ask for nothing.
        within: The parameter that they are part of.

    Raises:
        InvalidRequest: Names the first.
    """
    for name, value in (given or {}).items():
        if value is None or name in HINTS or value in known.get(name, ()):
            continue
        path = f"{within}{name}"[:100]
        if name not in known:
            reason = f"There is no parameter '{path}'."
        elif name in _REASONS:
            reason = _REASONS[name]
        else:
            reason = f"The agents of this server do not support '{path}' with this value."
            reason += " Leave it out, or set it to " + _list_values(known[name]) + "."
        raise InvalidRequest(reason, parameter=path)


def make_settings(body: BaseModel, names: Mapping[str, str]) -> ModelSettings:
    """The settings that a request gives.

    Args:
        body: The request.
        names: What its parameters are in settings.

    Raises:
        InvalidRequest: Two parameters contradict each other.
    """
    found: dict[str, Any] = {}
    for name, setting in names.items():
        value = getattr(body, name)
        if value is None:
            continue
        if setting in found and found[setting] != value:
            message = f"Two limits contradict each other: leave '{name}' out."
            raise InvalidRequest(message, parameter=name)
        found[setting] = (value,) if setting == "stop" and isinstance(value, str) else value
    return ModelSettings(**found)


def read_schema(
    kind: FormatType, named: NamedSchema | None, *, parameter: str
) -> JsonSchema | None:
    """The schema to which an answer is held; None for text.

    Args:
        kind: The type of the format.
        named: Its schema.
        parameter: Where the schema stands in the request.

    Raises:
        InvalidRequest: There is none, or it cannot be used.
    """
    if kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    if named is None or named.schema_ is None:
        raise InvalidRequest("The format 'json_schema' needs a schema.", parameter=parameter)
    about = {"description": named.description} if named.description else {}
    try:
        return AnswerSchema({**about, **named.schema_}).schema
    except InvalidRequest as error:
        raise InvalidRequest(error.message, parameter=parameter) from error


def _list_values(values: tuple[Any, ...]) -> str:
    return " or ".join(["null", *(repr(value) for value in values)])
