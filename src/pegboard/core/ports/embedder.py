"""The embedder port: texts as vectors of numbers."""

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """A model that turns texts into vectors, so that texts of a like meaning lie close together."""

    @property
    def name(self) -> str:
        """`provider:model`; vectors of different names cannot be compared."""
        ...

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        """One vector for each text, all of the same length.

        Raises:
            Unavailable: A later try may help.
        """
        ...
