"""An embedder of a provider, over Pydantic AI's model layer."""

from collections.abc import Sequence
from typing import Any

from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.embedder import EmbeddedTexts
from pegboard.core.ports.http import HttpClient
from pegboard.errors import ConfigError
from pegboard.models.key_mask import KeyMask
from pegboard.models.limited_model import RequestLimiter
from pegboard.models.provider_errors import translate_error
from pegboard.models.provider_model import ModelEndpoint, create_openai_provider, load_provider

_BATCH = 256
"""Texts in one request."""
_LONGEST_WAIT = 60.0
"""Seconds until a request has its turn."""


class ProviderEmbedder:
    """Embeddings of a server that speaks OpenAI's API.

    Args:
        settings: How the model is reached.
        http: The guarded client.
        requests: Limits the requests; None for no limit.

    Raises:
        ConfigError: The provider has no embeddings.
    """

    def __init__(
        self, settings: ModelEndpoint, http: HttpClient, *, requests: RequestLimiter | None = None
    ) -> None:
        provider, _, model = settings.name.partition(":")
        if provider != "openai" or not model:
            raise ConfigError(
                f"A model for embeddings is named 'openai:name' (any server with OpenAI's API); "
                f"found '{settings.name}'."
            )
        self.name = settings.name
        self._settings = settings
        self._mask = KeyMask(settings.api_key)
        self._http = http
        self._requests = requests
        self._model: Any = None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text; errors as of `ChatModel`."""
        return [*(await self.embed_metered(texts)).vectors]

    async def embed_metered(self, texts: Sequence[str], /) -> EmbeddedTexts:
        """The same with what it used.

        Raises:
            RateLimited: Its turn would come later than in a minute.
        """
        if self._model is None:
            self._model = await load_provider(self._load)
        vectors: list[list[float]] = []
        usage = ModelUsage()
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            found = await self._send(batch)
            vectors += [list(vector) for vector in found.embeddings]
            usage += _read_usage(found)
        return EmbeddedTexts(vectors, usage)

    async def _send(self, batch: list[str]) -> Any:
        if self._requests is not None:
            await self._requests.enter(_LONGEST_WAIT)
        try:
            return await self._model.embed(batch, input_type="document")
        except Exception as error:
            if (ours := translate_error(error, self.name)) is not None:
                raise ours from self._mask.clean_cause(error)
            raise
        finally:
            if self._requests is not None:
                self._requests.leave()

    def _load(self) -> Any:
        from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel

        provider = create_openai_provider(self._settings, self._http)
        return OpenAIEmbeddingModel(self.name.partition(":")[2], provider=provider)


def _read_usage(found: Any) -> ModelUsage:
    """What one request used; its cost where the price of the model is known."""
    try:
        cost: float | None = float(found.cost().total_price)
    except (LookupError, ValueError, TypeError, AssertionError):  # its price is not known
        cost = None
    return ModelUsage(requests=1, input_tokens=found.usage.input_tokens, cost=cost)
