"""`KnowledgeClient`: what commands ask of knowledge bases."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

Answer = dict[str, Any]


class KnowledgeClient(Protocol):
    """Knowledge bases as commands use them; a base is given by its name or its id."""

    async def list_bases(self) -> Answer:
        """The bases that the caller sees."""
        ...

    async def add_base(self, wanted: Mapping[str, Any]) -> Answer:
        """Add a base: `name`, `title`, `description`."""
        ...

    async def list_documents(self, base: str) -> Answer:
        """The documents of a base."""
        ...

    async def add(self, base: str, wanted: Mapping[str, Any]) -> Answer:
        """Put a `folder` of the server, or pages of the `web` in."""
        ...

    async def add_file(self, base: str, path: Path, said: Mapping[str, str]) -> Answer:
        """Put a file of this machine in, with its `edition` and what it `replaces`."""
        ...

    async def check_file(self, base: str, path: Path, said: Mapping[str, str]) -> Answer:
        """What a file of this machine would change; it is not put in."""
        ...

    async def refresh(self, base: str) -> Answer:
        """Take in what has changed where documents come from."""
        ...

    async def is_gathering(self, base: str) -> bool:
        """Whether documents are still looked for."""
        ...

    async def ask(self, base: str, wanted: Mapping[str, Any]) -> Answer:
        """Ask a base: `question`, `mode`."""
        ...

    async def count_deletion(self, base: str, document: str) -> Answer:
        """What goes when a document is deleted; with an empty one, the base."""
        ...

    async def remove(self, base: str, document: str) -> None:
        """Delete a document; with an empty one, the base."""
        ...
