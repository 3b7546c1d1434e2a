"""The reranker port: a model that reads a question together with each text."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from pegboard.core.model_messages import ModelUsage


class RerankScores(Struct, frozen=True):
    """How well texts answer a question.

    Attributes:
        scores: A number for each text, larger for a better answer; only their order is used.
        usage: What the model used, as far as its provider says so.
    """

    scores: Sequence[float]
    usage: ModelUsage = ModelUsage()


class Reranker(Protocol):
    """A model that says how well texts answer a question."""

    @property
    def name(self) -> str:
        """`provider:model`."""
        ...

    async def rerank(self, question: str, texts: Sequence[str], /) -> RerankScores:
        """Rate each text.

        Raises:
            Unavailable: A later try may help.
        """
        ...
