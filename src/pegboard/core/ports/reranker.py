"""The reranker port: a model that reads a question together with each text."""

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """A model that says how well texts answer a question."""

    @property
    def name(self) -> str:
        """`provider:model`."""
        ...

    async def rerank(self, question: str, texts: Sequence[str], /) -> Sequence[float]:
        """A number for each text, larger for a better answer; only their order is used.

        Raises:
            Unavailable: A later try may help.
        """
        ...
