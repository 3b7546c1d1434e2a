"""A reranker behind `POST /rerank`: the API of Cohere and Jina, and that of TEI.

Servers that speak the former: Cohere (v2), Jina, vLLM, llama.cpp, Infinity, OpenVINO and others:

    {"model": ..., "query": ..., "documents": [...], "top_n": n}
    -> {"results": [{"index": 0, "relevance_score": 0.98}, ...], "usage": {"total_tokens": 9}}

Cohere says `"meta": {"billed_units": {"search_units": 1}}` in place of the tokens.

Text Embeddings Inference (TEI) has another one: `{"query": ..., "texts": [...]}`, answered by
`[{"index": 0, "score": 0.98}, ...]`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import DecodeError, Struct, ValidationError, json

from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.core.ports.knowledge.reranker import RerankScores
from pegboard.errors import ConfigError, InvalidRequest, Unavailable
from pegboard.models.limited_model import RequestLimiter
from pegboard.models.model_price import PriceList
from pegboard.models.provider_model import ModelEndpoint
from pegboard.models.provider_status import encode_text, translate_status

RERANKERS: Mapping[str, str] = {
    "cohere": "https://api.cohere.com/v2",
    "jina": "https://api.jina.ai/v1",
    "openai": "",
    "tei": "",
}
"""Providers, and their addresses; empty for those whose server has to be named."""
_SECONDS = 10.0
"""Of a request, and of the wait for its turn: a question is answered without it rather than late.
"""
_MAX_BYTES = 8_000_000


class ProviderReranker:
    """Rates texts by a model of a provider. A request that fails is not repeated.

    Args:
        settings: How the model is reached.
        http: The guarded client.
        requests: Limits the requests; None for no limit.

    Raises:
        ConfigError: The provider is unknown, or its server is not named.
    """

    def __init__(
        self, settings: ModelEndpoint, http: HttpClient, *, requests: RequestLimiter | None = None
    ) -> None:
        provider, _, model = settings.name.partition(":")
        if provider not in RERANKERS or not model:
            raise ConfigError(
                f"A reranker is named 'provider:name', of {', '.join(RERANKERS)}; "
                f"found '{settings.name}'."
            )
        address = settings.base_url or RERANKERS[provider]
        if not address:
            raise ConfigError(
                f"The reranker '{settings.name}' needs a 'base_url': the address before '/rerank'."
            )
        self.name = settings.name
        self._model = model
        self._is_tei = provider == "tei"
        self._url = f"{address.rstrip('/')}/rerank"
        self._key = settings.api_key
        self._http = http
        self._requests = requests
        self._price = PriceList(settings.name, settings.price)

    async def rerank(self, question: str, texts: Sequence[str], /) -> RerankScores:
        """Rate each text; errors as of `ChatModel`."""
        if not texts:
            return RerankScores(())
        if self._requests is not None:
            await self._requests.enter(_SECONDS)
        try:
            answer = await self._send(question, texts)
        finally:
            if self._requests is not None:
                self._requests.leave()
        if answer.status != 200:
            raise translate_status(answer, self.name, role="reranker")
        return await self._read(answer, len(texts))

    async def _send(self, question: str, texts: Sequence[str]) -> HttpResponse:
        headers = {"content-type": "application/json", "accept": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        question, *texts = (encode_text(text) for text in (question, *texts))
        body: dict[str, Any] = {"query": question}
        if self._is_tei:
            body |= {"texts": texts, "truncate": True}
        else:
            body |= {"model": self._model, "documents": texts, "top_n": len(texts)}
        request = HttpRequest(
            method="POST",
            url=self._url,
            headers=headers,
            content=json.encode(body),
            timeout=_SECONDS,
            max_bytes=_MAX_BYTES,
            follow_redirects=False,
            upstream=self.name,
        )
        try:
            return await self._http.send(request)
        except InvalidRequest as error:
            raise ConfigError(
                f"The address of the reranker '{self.name}' is not allowed: {error}"
            ) from error

    async def _read(self, answer: HttpResponse, count: int) -> RerankScores:
        """The scores in the order of the texts.

        Raises:
            Unavailable: There is not exactly one number for each text.
        """
        try:
            found: _Answer | list[_Score] = json.decode(answer.content, type=_ANSWERS)
        except (DecodeError, ValidationError, RecursionError) as error:
            raise self._refuse() from error
        results = found if isinstance(found, list) else found.results
        scores = {item.index: item.number for item in results}
        if len(results) != count or scores.keys() != set(range(count)):
            raise self._refuse()
        if not all(math.isfinite(score) for score in scores.values()):
            raise self._refuse()
        said = found if isinstance(found, _Answer) else _Answer([])
        usage = ModelUsage(requests=1, input_tokens=said.tokens)
        usage = await self._price.apply(usage, requests=said.searches)
        return RerankScores(tuple(scores[index] for index in range(count)), usage)

    def _refuse(self) -> Unavailable:
        return Unavailable(f"The reranker '{self.name}' gave an answer that cannot be read.")


class _Score(Struct):
    """The number of a text; `score` is what TEI calls it."""

    index: int
    relevance_score: float = math.nan
    score: float = math.nan

    @property
    def number(self) -> float:
        return self.score if math.isnan(self.relevance_score) else self.relevance_score


class _Usage(Struct):
    """What a provider says that it has used."""

    total_tokens: int | None = None


class _BilledUnits(Struct):
    """What Cohere bills: a search unit is a question with up to a hundred texts."""

    search_units: float | None = None


class _Meta(Struct):
    billed_units: _BilledUnits | None = None


class _Answer(Struct):
    """The answer of Cohere's API."""

    results: list[_Score]
    usage: _Usage | None = None
    meta: _Meta | None = None

    @property
    def tokens(self) -> int:
        """Of the question and the texts; 0 where the provider does not say it."""
        return max(0, (self.usage and self.usage.total_tokens) or 0)

    @property
    def searches(self) -> float | None:
        """How many requests are billed; None where the provider does not say it."""
        units = self.meta and self.meta.billed_units
        found = units.search_units if units else None
        return None if found is None or not math.isfinite(found) else max(0.0, found)


_ANSWERS: Any = _Answer | list[_Score]
