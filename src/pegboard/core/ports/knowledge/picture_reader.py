"""The picture reader port: what a vision model reads in a picture."""

from typing import Protocol

from msgspec import Struct

from pegboard.core.model_messages import ModelUsage


class PictureText(Struct, frozen=True):
    """What a model has read in a picture.

    Attributes:
        text: What is written in it, and what it shows, as Markdown; empty for nothing.
        usage: What the model used.
    """

    text: str
    usage: ModelUsage = ModelUsage()


class UsageCounter(Protocol):
    """Counts what models use for somebody."""

    async def check(self) -> None:
        """Check that models may be used; called before each request.

        Raises:
            QuotaExceeded: They may not, now.
        """
        ...

    def add(self, model: str, usage: ModelUsage) -> None:
        """Count what a model has used."""
        ...


class PictureReader(Protocol):
    """A language model that sees."""

    @property
    def name(self) -> str:
        """`provider:model`."""
        ...

    async def read_picture(
        self, picture: bytes, /, *, media_type: str = "image/png"
    ) -> PictureText:
        """What is written in a picture, and what it shows.

        Raises:
            Unavailable: A later try may help.
            InvalidRequest: The model takes no pictures.
        """
        ...
