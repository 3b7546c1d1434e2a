"""The configuration of a language model that a person adds."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from pegboard.errors import InvalidRequest
from pegboard.runtime.config_fault import describe_fault

_Provider = Literal["openai", "anthropic"]
_PROVIDERS = get_args(_Provider)
_CLOSED = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def _base(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_server = bool(parts.scheme in {"http", "https"} and parts.hostname)
    except ValueError:
        parts, is_server = urlsplit(""), False
    if not is_server or "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("write it as https://host/v1, without credentials and a query")
    return url.rstrip("/")


class ModelPrice(BaseModel):
    """What a model costs, where the provider's price is not known or does not hold."""

    model_config = _CLOSED

    input: Annotated[
        float, Field(ge=0, le=1_000_000, description="US dollars for a million tokens.")
    ]
    output: Annotated[
        float, Field(ge=0, le=1_000_000, description="US dollars for a million tokens.")
    ]


class ModelConfig(BaseModel):
    """How a language model is reached; its key is a credential, and stands nowhere in it."""

    model_config = _CLOSED

    provider: Annotated[
        _Provider,
        Field(description="Whose API it speaks; `openai` is also every server with that API."),
    ] = "openai"
    model: Annotated[
        str,
        Field(
            pattern=r"^[!-~]+( [!-~]+)*$", max_length=200, description="As its provider names it."
        ),
    ]
    base_url: Annotated[
        str, AfterValidator(_base), Field(max_length=500, description="Of another server.")
    ] = ""
    context_window: Annotated[int | None, Field(ge=256, le=100_000_000)] = None
    tools: Annotated[bool, Field(description="Whether its server knows calls of tools.")] = True
    schemas: Annotated[
        bool, Field(description="Whether its server holds an answer to a JSON Schema.")
    ] = True
    price: ModelPrice | None = None

    @model_validator(mode="before")
    @classmethod
    def _split_name(cls, given: object) -> object:
        """Read `openai:gpt-5.2`, as models are named everywhere else, as provider and model."""
        if not isinstance(given, Mapping):
            return given
        config = dict(cast("Mapping[str, Any]", given))
        provider, colon, name = str(config.get("model", "")).partition(":")
        if colon and provider in _PROVIDERS and config.get("provider", provider) == provider:
            config |= {"provider": provider, "model": name}
        return config


def read_model_config(config: Mapping[str, Any]) -> ModelConfig:
    """The configuration of a model.

    Raises:
        InvalidRequest: It is wrong; what was given is not repeated.
    """
    try:
        return ModelConfig.model_validate(config)
    except ValidationError as error:
        # what pydantic says may quote a secret, so its error is not kept as the cause
        raise InvalidRequest(f"config.{describe_fault(error)}") from None
