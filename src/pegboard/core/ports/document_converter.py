"""The document converter port: files as text with pages, blocks and findings."""

from pathlib import Path
from typing import Protocol

from pegboard.core.knowledge import ConvertedDocument


class DocumentConverter(Protocol):
    """Converts files outside of the server's process, within limits of time and memory."""

    async def convert(
        self, file: Path, /, *, name: str = "", media_type: str = ""
    ) -> ConvertedDocument:
        """The text of a file.

        Args:
            file: A file of this machine, which nobody changes meanwhile.
            name: What a person calls it; its extension is a hint only.
            media_type: What its sender says it is; a hint only.

        Raises:
            DocumentUnreadable: It is encrypted, broken, empty, too large unpacked, not what its
                name says, or of a kind that cannot be read here; its `reason` says which.
            Unavailable: No sandbox or library is here, or a later try may help.
        """
        ...
