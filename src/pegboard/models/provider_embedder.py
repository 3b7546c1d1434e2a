"""An embedder of a provider, over Pydantic AI's model layer."""

from collections.abc import Sequence
from typing import Any

from pegboard.core.ports.http import HttpClient
from pegboard.errors import ConfigError
from pegboard.models.provider_errors import translate_error
from pegboard.models.provider_model import ModelEndpoint, create_openai_provider, load_provider

_BATCH = 256
"""Texts in one request."""


class ProviderEmbedder:
    """Embeddings of a server that speaks OpenAI's API.

    Args:
        settings: How the model is reached.
        http: The guarded client.

    Raises:
        ConfigError: The provider has no embeddings.
    """

    def __init__(self, settings: ModelEndpoint, http: HttpClient) -> None:
        provider, _, model = settings.name.partition(":")
        if provider != "openai" or not model:
            raise ConfigError(
                f"A model for embeddings is named 'openai:name' (any server with OpenAI's API); "
                f"found '{settings.name}'."
            )
        self.name = settings.name
        self._settings = settings
        self._http = http
        self._model: Any = None

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text; errors as of `ChatModel`."""
        if self._model is None:
            self._model = await load_provider(self._load)
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            batch = list(texts[start : start + _BATCH])
            try:
                found = await self._model.embed(batch, input_type="document")
            except Exception as error:
                if (ours := translate_error(error, self.name)) is not None:
                    raise ours from error
                raise
            vectors += [list(vector) for vector in found.embeddings]
        return vectors

    def _load(self) -> Any:
        from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel

        provider = create_openai_provider(self._settings, self._http)
        return OpenAIEmbeddingModel(self.name.partition(":")[2], provider=provider)
