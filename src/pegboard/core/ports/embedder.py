"""The embedder port: texts as vectors of numbers."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from msgspec import Struct

from pegboard.core.model_messages import ModelUsage


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


class EmbeddedTexts(Struct, frozen=True):
    """The vectors of texts.

    Attributes:
        vectors: One for each text.
        usage: What the model used, as far as its provider says so.
    """

    vectors: Sequence[list[float]]
    usage: ModelUsage = ModelUsage()


@runtime_checkable
class MeteredEmbedder(Protocol):
    """An `Embedder` that says what it used."""

    async def embed_metered(self, texts: Sequence[str], /) -> EmbeddedTexts:
        """As `Embedder.embed`, with what it used."""
        ...
