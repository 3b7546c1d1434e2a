"""The `models` section of `board.yaml`: language models by role and by name."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

_STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

ROLES = ("smart", "fast", "embed", "vision", "rerank")
"""What a board uses models for; no model of its own has one of these names."""


def _own_name(name: str) -> str:
    if name in ROLES:
        raise ValueError(f"'{name}' is a role; name the model otherwise")
    return name


def _base(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise ValueError("write it as http://host:port/v1, without credentials")
    return url.rstrip("/")


ModelName = Annotated[
    str, AfterValidator(_own_name), Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
]
_Reference = Annotated[str, Field(min_length=1, max_length=200)]


class ModelLimitsEntry(BaseModel):
    """Limits of a model, for all agents of this server together."""

    model_config = _STRICT

    requests_per_minute: Annotated[float | None, Field(gt=0)] = None
    tokens_per_minute: Annotated[
        float | None, Field(gt=0, description="Of input and output together.")
    ] = None
    concurrency: Annotated[int | None, Field(ge=1, description="Requests in flight at once.")] = (
        None
    )


class ModelPriceEntry(BaseModel):
    """What a model costs, in US dollars."""

    model_config = _STRICT

    input: Annotated[float, Field(ge=0, description="A million input tokens.")] = 0.0
    output: Annotated[float, Field(ge=0, description="A million output tokens.")] = 0.0
    request: Annotated[
        float,
        Field(ge=0, description="A request, as of a reranker that bills searches."),
    ] = 0.0


class LanguageModelEntry(BaseModel):
    """A language model with a name of its own."""

    model_config = _STRICT

    model: Annotated[
        str,
        Field(
            description="`provider:name`; providers are openai, anthropic; of rerankers cohere, "
            "jina, openai, tei."
        ),
    ]
    title: Annotated[
        str, Field(max_length=100, description="For people who choose; by default its name.")
    ] = ""
    base_url: Annotated[
        str,
        AfterValidator(_base),
        Field(
            description="Another server with the provider's API, which may be on this machine. It "
            "gets the key below, and never the one of the environment."
        ),
    ] = ""
    api_key: Annotated[
        SecretStr | None,
        Field(description='"${NAME}" of a variable; by default the one of the environment.'),
    ] = None
    context_window: Annotated[
        int | None,
        Field(ge=256, description="Tokens of input and output; by default as known of the model."),
    ] = None
    tools: Annotated[
        bool,
        Field(
            description="Whether its server knows calls of tools; else they are JSON in its text."
        ),
    ] = True
    schemas: Annotated[
        bool, Field(description="Whether its server holds an answer to a JSON Schema.")
    ] = True
    retries: Annotated[
        int,
        Field(
            ge=0,
            le=10,
            description="Requests beyond the first, with growing pauses or after `Retry-After`, "
            "where the provider is busy or fails.",
        ),
    ] = 2
    fallbacks: Annotated[
        tuple[_Reference, ...],
        Field(
            max_length=8,
            description="Models that are asked in this order where its provider fails before it "
            "has answered: names of this section, or `provider:name`.",
        ),
    ] = ()
    limits: Annotated[
        ModelLimitsEntry, Field(description="What exceeds them waits up to a minute.")
    ] = ModelLimitsEntry()
    price: Annotated[
        ModelPriceEntry | None,
        Field(description="By default as the provider's library knows it; else costs are unknown."),
    ] = None


class LanguageModels(BaseModel):
    """The language models of the board; variables such as `PEGBOARD_MODEL` prevail for roles."""

    model_config = _STRICT

    smart: Annotated[
        _Reference | None,
        Field(description="Answers; a name of `named`, or `provider:name`."),
    ] = None
    fast: Annotated[
        _Reference | None,
        Field(description="Summarises and selects; by default the smart one."),
    ] = None
    embed: Annotated[
        _Reference | None, Field(description="Turns texts into vectors; by default none does.")
    ] = None
    vision: Annotated[
        _Reference | None,
        Field(description="Reads pictures and scanned pages of documents; by default none does."),
    ] = None
    rerank: Annotated[
        _Reference | None,
        Field(
            description="Orders what was found in knowledge bases, by `POST /rerank`; by default "
            "none does."
        ),
    ] = None
    of_people: Annotated[
        bool,
        Field(
            description="Whether people add models with addresses and keys of their own, and those "
            "who see one choose it. Otherwise operators do."
        ),
    ] = True
    named: Annotated[
        dict[ModelName, LanguageModelEntry],
        Field(max_length=100, description="Models with settings of their own, by name."),
    ] = Field(default_factory=dict[str, LanguageModelEntry])
