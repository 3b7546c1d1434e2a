"""The picture reader port: what a vision model reads in a picture."""

from typing import Protocol


class PictureReader(Protocol):
    """A language model that sees."""

    @property
    def name(self) -> str:
        """`provider:model`."""
        ...

    async def read_picture(self, picture: bytes, /, *, media_type: str = "image/png") -> str:
        """What is written in a picture, and what it shows, as Markdown; empty for nothing.

        Raises:
            Unavailable: A later try may help.
            InvalidRequest: The model takes no pictures.
        """
        ...
