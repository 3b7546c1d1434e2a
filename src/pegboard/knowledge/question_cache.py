"""`QuestionCache`: what models have answered for a question that is asked again.

Retrieval itself is not cached, so that a deletion, an edition or a right that changes takes effect
with the next question: nothing has to be purged. What is worth a cache are the models. Their
answers depend on what they were sent and on nothing else: the vector of a question, and the numbers
that a reranker gave to these texts in this order. They are found by a digest of all of that and of
the caller, so that the time of an answer does not tell what others have asked.

Neither questions nor texts are stored, only numbers behind digests with a secret of the process.
"""

import secrets
import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.embedder import EmbeddedTexts, Embedder, MeteredEmbedder
from pegboard.core.ports.knowledge.reranker import Reranker, RerankScores

_SECONDS = 3_600.0
"""A server may get another model under the same name."""
_MAX_ENTRIES = 1_000


class _Numbers(NamedTuple):
    """Numbers of a model, which stays alive with them, so that its id is not given again."""

    expires: float
    numbers: "array[float]"
    model: object


class QuestionCache:
    """Numbers of models, for an hour. Safe for several threads.

    Args:
        most: Maximum number of answers.
        monotonic: A monotonic clock, in seconds.
    """

    def __init__(
        self, *, most: int = _MAX_ENTRIES, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._monotonic = monotonic
        self._secret = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._items: OrderedDict[bytes, _Numbers] = OrderedDict()

    async def embed(
        self, embedder: Embedder, question: str, *, owner: str
    ) -> tuple[Sequence[float], ModelUsage]:
        """The vector of a question, and what it took to make it; errors as of the embedder."""
        (vector,), usage = await self.embed_all(embedder, [question], owner=owner)
        return vector, usage

    async def embed_all(
        self, embedder: Embedder, texts: Sequence[str], *, owner: str
    ) -> tuple[list[Sequence[float]], ModelUsage]:
        """The vectors of several texts, in one request for those that are not known."""
        keys = {text: self._digest(embedder, owner, [text]) for text in texts}
        known = {text: numbers for text, key in keys.items() if (numbers := self._get(key))}
        missing = [text for text in keys if text not in known]
        found = await _embed(embedder, missing) if missing else EmbeddedTexts([])
        for text, vector in zip(missing, found.vectors, strict=True):
            self._put(keys[text], vector, embedder)
            known[text] = vector
        return [known[text] for text in texts], found.usage

    async def rerank(
        self, reranker: Reranker, question: str, texts: Sequence[str], *, owner: str
    ) -> RerankScores:
        """How well texts answer a question; errors as of the reranker.

        A cached answer has used nothing.
        """
        key = self._digest(reranker, owner, [question, *texts])
        known = self._get(key)
        if known is not None:
            return RerankScores(known)
        found = await reranker.rerank(question, texts)
        if len(found.scores) == len(texts):
            self._put(key, found.scores, reranker)
        return found

    def _digest(self, model: object, owner: str, texts: Sequence[str]) -> bytes:
        found = blake2b(key=self._secret)
        for part in (str(id(model)), owner, *texts):
            data = part.encode("utf-8", "surrogatepass")
            found.update(len(data).to_bytes(8))
            found.update(data)
        return found.digest()

    def _get(self, key: bytes) -> Sequence[float] | None:
        with self._lock:
            known = self._items.get(key)
            if known is None:
                return None
            if known.expires <= self._monotonic():
                del self._items[key]
                return None
            self._items.move_to_end(key)
            return known.numbers.tolist()

    def _put(self, key: bytes, numbers: Sequence[float], model: object) -> None:
        with self._lock:
            self._items[key] = _Numbers(self._monotonic() + _SECONDS, array("d", numbers), model)
            while len(self._items) > self._most:
                self._items.popitem(last=False)


async def _embed(embedder: Embedder, texts: Sequence[str]) -> EmbeddedTexts:
    if isinstance(embedder, MeteredEmbedder):
        return await embedder.embed_metered(texts)
    return EmbeddedTexts(await embedder.embed(texts))
