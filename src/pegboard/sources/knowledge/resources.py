"""Documents of knowledge bases as resources."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from pegboard.core.context import ToolContext
from pegboard.core.ports.knowledge.bases import KnowledgeBases
from pegboard.core.resources_and_prompts import ResourceSpec
from pegboard.core.result import ResourcePart

_TYPE = "text/markdown"


class DocumentResource:
    """The text of each document that a caller may see, as Markdown.

    Args:
        source: The name of the source.
        bases: Reads documents.
    """

    def __init__(self, source: str, bases: KnowledgeBases) -> None:
        self.spec = ResourceSpec(
            uri="{base}/{document}",
            name="document",
            title="Document of a knowledge base",
            description="The text of a document, as data; kb_retrieve names bases and documents.",
            media_type=_TYPE,
            source=source,
        )
        self._bases = bases

    async def read(self, uri: str, ctx: ToolContext[Any]) -> Sequence[ResourcePart]:
        """Read a document."""
        base, _, document = uri.partition("#")[0].partition("/")
        text = await self._bases.read(unquote(document), ctx, base=unquote(base))
        return [ResourcePart(uri=uri, media_type=_TYPE, text=text)]
