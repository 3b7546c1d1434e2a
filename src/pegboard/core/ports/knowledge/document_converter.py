"""The document converter port: files as text with pages, blocks and findings."""

from pathlib import Path
from typing import Protocol

from pegboard.core.knowledge import ConvertedDocument
from pegboard.core.ports.knowledge.picture_reader import UsageCounter


class DocumentConverter(Protocol):
    """Converts files outside of the server's process, within limits of time and memory."""

    async def convert(
        self,
        file: Path,
        /,
        *,
        name: str = "",
        media_type: str = "",
        counter: UsageCounter | None = None,
    ) -> ConvertedDocument:
        """The text of a file.

        Args:
            file: The whole path of a file of this machine, which nobody changes meanwhile.
            name: What a person calls it; its extension is a hint only.
            media_type: What its sender says it is; a hint only.
            counter: Counts what a vision model uses; None where nothing is counted.

        Raises:
            DocumentUnreadable: It is `encrypted`, `broken`, `empty`, `too_large` unpacked,
                `not_its_name`, `unsupported`, or a picture with `no_vision_model`; its `reason`
                says which.
            QuotaExceeded: `counter` allows no more pictures to be read.
            Unavailable: No sandbox or library is here, or a later try may help.
        """
        ...

    async def render_page(self, file: Path, number: int, /, *, width: int = 1200) -> bytes:
        """A page of a PDF, or a picture, as a PNG.

        Args:
            file: The whole path of a file of this machine.
            number: Of the page, from 1.
            width: At most so many pixels on the longer side.

        Raises:
            DocumentUnreadable: It has no such page, or cannot be drawn.
            Unavailable: No sandbox or library is here.
        """
        ...

    async def why_unavailable(self) -> str:
        """Why no file can be converted here, and what to do; empty when it can."""
        ...
