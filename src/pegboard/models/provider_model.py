"""A chat model of a provider, over Pydantic AI's model layer."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs, to_builtins

from pegboard.core.model_messages import ModelPart, ModelRequest, TextDelta, ThinkingDelta
from pegboard.core.ports.http import HttpClient
from pegboard.errors import ConfigError, InvalidRequest
from pegboard.models.key_mask import KeyMask
from pegboard.models.message_conversion import from_theirs, to_theirs
from pegboard.models.model_price import UsagePrice
from pegboard.models.provider_errors import translate_error

_SECONDS = 600.0
_SETTINGS: Mapping[str, str] = {
    "max_output": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "stop": "stop_sequences",
    "seed": "seed",
}
"""Our settings, and what Pydantic AI calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEndpoint:
    """How a model is reached.

    Attributes:
        name: `provider:model`.
        api_key: The key; empty for a server at `base_url` that wants none.
        base_url: Of an OpenAI-compatible server; empty for the provider's own.
        context_window: Tokens; None when it is not known.
        retries: Requests beyond the first, with growing pauses or after `Retry-After`, where the
            provider is busy or fails.
        supports_tools: Whether it may be shown tools.
        supports_schema: Whether it takes a schema of its answer.
        price: As its operator says; None where the provider's library is asked.
    """

    name: str
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    context_window: int | None = None
    retries: int = 2
    supports_tools: bool = True
    supports_schema: bool = True
    price: UsagePrice | None = None


class ProviderModel:
    """A chat model of a provider.

    Failed requests are repeated by the provider's own client, as long as nothing was answered.

    Args:
        settings: How it is reached.
        http: The guarded client.

    Raises:
        ConfigError: There is no such provider.
    """

    def __init__(self, settings: ModelEndpoint, http: HttpClient) -> None:
        provider, colon, model = settings.name.partition(":")
        if not colon or not model:
            raise ConfigError(f"A model is named 'provider:name'; found '{settings.name}'.")
        if provider not in PROVIDERS:
            known = ", ".join(sorted(PROVIDERS))
            raise ConfigError(f"There is no provider '{provider}' of models; known are {known}.")
        self.name = settings.name
        self.context_window = settings.context_window
        self.supports_tools = settings.supports_tools
        self.supports_schema = settings.supports_schema
        self._settings = settings
        self._http = http
        self._make = PROVIDERS[provider]
        self._caches = provider in CACHES_ON_DEMAND
        self._mask = KeyMask(settings.api_key)
        self._model: Any = None

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        """Ask the model; errors as of `ChatModel`."""
        if not (self._settings.api_key or self._settings.base_url):
            raise ConfigError(_explain_missing_key(self.name))
        if self._model is None:
            self._model = await load_provider(lambda: self._make(self._settings, self._http))
        self._check_settings(request)
        if request.output_schema and not self._model.profile.get("supports_json_schema_output"):
            raise InvalidRequest(f"The model '{self.name}' takes no schema of its answer.")
        try:
            async for part in self._mask.clean_stream(self._stream(request)):
                yield part
        except Exception as error:
            if (ours := translate_error(error, self.name)) is not None:
                raise ours from self._mask.clean_cause(error)
            raise

    def _check_settings(self, request: ModelRequest) -> None:
        """Refuse settings that the provider's library would leave out.

        Raises:
            InvalidRequest: Names one.
        """
        profile = self._model.profile
        ignored = {*self._model.unsupported_settings}
        ignored |= {*profile.get("openai_unsupported_model_settings", ())}
        if profile.get("anthropic_disallows_sampling_settings"):
            ignored |= {"temperature", "top_p"}
        for name in to_builtins(request.settings):
            if _SETTINGS[name] in ignored:
                raise InvalidRequest(f"The model '{self.name}' takes no '{name}': leave it out.")

    async def _stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        from pydantic_ai import messages as theirs
        from pydantic_ai.direct import model_request_stream

        async with model_request_stream(
            self._model,
            to_theirs(request.messages),
            model_settings=_to_settings(request, caches=self._caches),
            model_request_parameters=_to_parameters(request),
        ) as answer:
            async for event in answer:
                if isinstance(event, theirs.PartStartEvent):
                    text = getattr(event.part, "content", "")
                    part: object = event.part
                elif isinstance(event, theirs.PartDeltaEvent):
                    text = getattr(event.delta, "content_delta", "")
                    part = event.delta
                else:
                    continue
                if text and isinstance(part, theirs.TextPart | theirs.TextPartDelta):
                    yield TextDelta(text)
                elif text and isinstance(part, theirs.ThinkingPart | theirs.ThinkingPartDelta):
                    yield ThinkingDelta(text)
            response = answer.get()
        done = from_theirs(response, model=self.name.partition(":")[2])
        if (price := self._settings.price) is not None:
            done = structs.replace(done, usage=price.apply(done.usage))
        yield done


async def load_provider(make: Callable[[], Any]) -> Any:
    """What a function makes that imports the provider's client, in a thread.

    Raises:
        ConfigError: The extra is not installed.
    """
    try:
        return await asyncio.to_thread(make)
    except ImportError as error:
        raise ConfigError(
            "Language models need the extra 'models': pip install 'pegboard[models]'"
        ) from error


def find_context_window(name: str) -> int | None:
    """The tokens that a model takes, by the table of prices that comes with the provider's library.

    Args:
        name: `provider:model`.
    """
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    provider, _, model = name.partition(":")
    try:
        return get_snapshot().find_provider_model(model, None, provider, None)[1].context_window
    except LookupError:
        return None


def _explain_missing_key(name: str) -> str:
    provider = name.partition(":")[0].upper()
    return (
        f"The model '{name}' has no key: set {provider}_API_KEY, or {provider}_BASE_URL for a "
        "server that wants none."
    )


def _to_settings(request: ModelRequest, *, caches: bool) -> Any:
    settings: dict[str, Any] = {"timeout": _SECONDS}
    if caches and request.is_continued:
        settings["cache"] = True
    settings |= {_SETTINGS[name]: value for name, value in to_builtins(request.settings).items()}
    if request.tools and request.tool_choice != "auto":
        choice = request.tool_choice
        settings["tool_choice"] = choice if choice in {"none", "required"} else [choice]
    return settings


def _to_parameters(request: ModelRequest) -> Any:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    schema = request.output_schema
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.parameters),
                strict=False,
            )
            for tool in request.tools
        ],
        output_mode="text" if schema is None else "native",
        output_object=None
        if schema is None
        else OutputObjectDefinition(json_schema=dict(schema), name="answer"),
        allow_text_output=schema is None or bool(request.tools),  # else a tool has to be called
    )


def _create_openai_provider(settings: ModelEndpoint, http: HttpClient) -> Any:
    """Pydantic AI's provider for a server with OpenAI's API, over the guarded client."""
    from openai import AsyncOpenAI
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        api_key=settings.api_key or "none",
        base_url=settings.base_url or "https://api.openai.com/v1",
        http_client=_client_of(http, settings),
        max_retries=settings.retries,
    )
    return OpenAIProvider(openai_client=client)


def _make_openai(settings: ModelEndpoint, http: HttpClient) -> Any:
    from pydantic_ai.models.openai import OpenAIChatModel

    name = settings.name.partition(":")[2]
    return OpenAIChatModel(name, provider=_create_openai_provider(settings, http))


def _make_anthropic(settings: ModelEndpoint, http: HttpClient) -> Any:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        api_key=settings.api_key or "none",
        base_url=settings.base_url or "https://api.anthropic.com",
        http_client=_client_of(http, settings),
        max_retries=settings.retries,
    )
    name = settings.name.partition(":")[2]
    return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))


def _client_of(http: HttpClient, settings: ModelEndpoint) -> Any:
    import httpx2

    from pegboard.models.provider_transport import ProviderTransport

    transport = ProviderTransport(http, upstream=f"model {settings.name}")
    return httpx2.AsyncClient(transport=transport)


PROVIDERS: Mapping[str, Callable[[ModelEndpoint, HttpClient], Any]] = {
    "anthropic": _make_anthropic,
    "openai": _make_openai,
}
"""Providers by name; `openai` is also every server that speaks its chat completions API."""

CACHES_ON_DEMAND = frozenset({"anthropic"})
"""Providers that keep the beginning of a request in their cache only where it is marked."""
