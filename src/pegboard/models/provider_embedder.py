"""An embedder behind `POST /embeddings`, the API of OpenAI and of most servers of models.

    {"model": ..., "input": [...], "encoding_format": "base64"}
    -> {"data": [{"index": 0, "embedding": "..."}, ...], "usage": {"prompt_tokens": 9}}

It is spoken over plain HTTP: the provider's own client takes a second to import, which the first
question after a start would wait for, and several milliseconds of each question. An embedding is
the base64 of 32-bit floats, or a list of numbers from servers that do not know the format.
"""

import asyncio
import math
import random
import sys
from array import array
from base64 import b64decode
from collections.abc import Sequence

from msgspec import DecodeError, Struct, ValidationError, json

from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.embedder import EmbeddedTexts
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.errors import ConfigError, InvalidRequest, Unavailable
from pegboard.models.limited_model import RequestLimiter
from pegboard.models.model_price import PriceList
from pegboard.models.provider_model import ModelEndpoint
from pegboard.models.provider_status import encode_text, translate_status

_BATCH = 256
"""Texts in one request."""
_LONGEST_WAIT = 60.0
"""Seconds until a request has its turn, and between two tries of one."""
_SECONDS = 300.0
_MAX_BYTES = 64_000_000
"""Of an answer: 256 vectors of 4,096 numbers as decimals."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
"""Seconds between two tries, where the server does not say how long to wait."""


class ProviderEmbedder:
    """Embeddings of a server that speaks OpenAI's API.

    A request that fails for a while is repeated, as often as its endpoint says.

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
        address = settings.base_url or "https://api.openai.com/v1"
        self.name = settings.name
        self._model = model
        self._url = f"{address.rstrip('/')}/embeddings"
        self._key = settings.api_key
        self._retries = settings.retries
        self._http = http
        self._requests = requests
        self._price = PriceList(settings.name, settings.price)

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text; errors as of `ChatModel`."""
        return [*(await self.embed_metered(texts)).vectors]

    async def embed_metered(self, texts: Sequence[str], /) -> EmbeddedTexts:
        """The same with what it used.

        Raises:
            RateLimited: Its turn would come later than in a minute.
        """
        vectors: list[list[float]] = []
        usage = ModelUsage()
        for start in range(0, len(texts), _BATCH):
            found = await self._embed(texts[start : start + _BATCH])
            vectors += found.vectors
            usage += found.usage
        return EmbeddedTexts(vectors, usage)

    async def _embed(self, batch: Sequence[str]) -> EmbeddedTexts:
        if self._requests is not None:
            await self._requests.enter(_LONGEST_WAIT)
        try:
            answer = await self._send(batch)
        finally:
            if self._requests is not None:
                self._requests.leave()
        return await self._read(answer, len(batch))

    async def _send(self, batch: Sequence[str]) -> HttpResponse:
        headers = {"content-type": "application/json", "accept": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        texts = [encode_text(text) for text in batch]
        body = {"model": self._model, "input": texts, "encoding_format": "base64"}
        request = HttpRequest(
            method="POST",
            url=self._url,
            headers=headers,
            content=json.encode(body),
            timeout=_SECONDS,
            max_bytes=_MAX_BYTES,
            follow_redirects=False,
            upstream=f"model {self.name}",
        )
        for attempt in range(self._retries):
            try:
                return await self._try(request)
            except Unavailable as error:
                await asyncio.sleep(_choose_pause(attempt, error))
        return await self._try(request)

    async def _try(self, request: HttpRequest) -> HttpResponse:
        try:
            answer = await self._http.send(request)
        except InvalidRequest as error:
            raise ConfigError(
                f"The address of the model '{self.name}' is not allowed: {error}"
            ) from error
        except Unavailable as error:
            raise Unavailable(
                f"The provider of '{self.name}' cannot be reached, or was cut off."
            ) from error
        if answer.status != 200:
            raise translate_status(answer, self.name, role="model")
        return answer

    async def _read(self, answer: HttpResponse, count: int) -> EmbeddedTexts:
        """The vectors in the order of the texts.

        Raises:
            Unavailable: There is not exactly one vector for each text.
        """
        try:
            found = json.decode(answer.content, type=_Answer)
            vectors = {
                at if item.index is None else item.index: _read_vector(item.embedding)
                for at, item in enumerate(found.data)
            }
        except (DecodeError, ValidationError, RecursionError, ValueError) as error:
            raise self._refuse() from error
        if len(found.data) != count or vectors.keys() != set(range(count)):
            raise self._refuse()
        tokens = max(0, (found.usage and found.usage.prompt_tokens) or 0)
        usage = await self._price.apply(ModelUsage(requests=1, input_tokens=tokens))
        return EmbeddedTexts([vectors[index] for index in range(count)], usage)

    def _refuse(self) -> Unavailable:
        return Unavailable(f"The model '{self.name}' gave an answer that cannot be read.")


class _Vector(Struct):
    """The vector of a text; without an index they are in the order of the texts."""

    embedding: str | list[float]
    index: int | None = None


class _Usage(Struct):
    """What a provider says that it has used."""

    prompt_tokens: int | None = None


class _Answer(Struct):
    """The answer of OpenAI's API."""

    data: list[_Vector]
    usage: _Usage | None = None


def _read_vector(embedding: str | list[float]) -> list[float]:
    """The numbers of a vector.

    Raises:
        ValueError: They are not.
    """
    if isinstance(embedding, str):
        numbers = array("f")
        numbers.frombytes(b64decode(embedding, validate=True))
        if sys.byteorder == "big":
            numbers.byteswap()
        embedding = numbers.tolist()
    if not embedding or not all(map(math.isfinite, embedding)):
        raise ValueError
    return embedding


def _choose_pause(attempt: int, error: Unavailable) -> float:
    """Seconds before another try: as long as the server says, else a growing time."""
    if error.retry_after is not None:
        return min(error.retry_after, _LONGEST_WAIT)
    pause = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
    return pause * random.uniform(0.75, 1.0)  # noqa: S311 - so that clients do not come back at once
