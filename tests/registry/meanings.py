"""An embedding model that knows a few topics, and a registry whose tools it has embedded."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.registry.made import a_tool

from pegboard import ToolRegistry
from pegboard.core.ports.embedder import Embedder
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.registry.tool_meanings import ToolMeanings

TOPICS = (
    {"refund", "money", "payment"},
    {"weather", "rain", "umbrella"},
    {"mail", "letter", "post"},
)


class TopicEmbedder:
    """Gives a text the topics of its words.

    Attributes:
        name: Of the model.
        asked: The texts of each request.
        arrived: The same, to wait for.
        error: What it raises; None to answer.
        poison: A word whose texts it refuses.
        hangs: Whether it never answers.
    """

    def __init__(self, name: str = "test:topics") -> None:
        self.name = name
        self.asked: list[list[str]] = []
        self.arrived = asyncio.Queue[list[str]]()
        self.error: Exception | None = None
        self.poison = ""
        self.hangs = False

    async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
        self.asked.append([*texts])
        self.arrived.put_nowait([*texts])
        if self.hangs:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        if self.poison and any(self.poison in text for text in texts):
            raise InvalidRequest("The provider refused a request.")
        return [[*self._place(text)] for text in texts]

    def _place(self, text: str) -> tuple[float, ...]:
        words = set(text.lower().replace(".", " ").replace("?", " ").split())
        return (0.1, *(float(bool(words & topic)) for topic in TOPICS))


DOWN = Unavailable("The model does not answer.")


def tools() -> ToolRegistry:
    """Three tools, each of a topic of its own, and ten of none."""
    return ToolRegistry(
        [
            a_tool("shop__refund", "Give money back."),
            a_tool("sky__forecast", "Say whether rain is coming."),
            a_tool("office__send", "Send a letter."),
            *(a_tool(f"thing{n}__do", "Do it.") for n in range(10)),
        ]
    )


async def ask_each(embedder: Embedder, texts: Sequence[str], _owner: str) -> Any:
    """Embed a question without a cache."""
    return await embedder.embed(texts)


def follow(registry: ToolRegistry, embedder: Embedder | None, **options: Any) -> ToolMeanings:
    """The meanings of the tools of a registry, of which none is embedded yet."""
    made = ToolMeanings(lambda: registry, lambda: embedder, ask_each, **options)
    registry.meanings = made
    return made
