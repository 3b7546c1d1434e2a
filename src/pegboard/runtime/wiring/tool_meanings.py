"""Search for tools by meaning, where a board asks for it and has an embedding model."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Self

from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.tool_vector_store import ToolVectorStore
from pegboard.errors import ConfigError
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.models import BoardModels

if TYPE_CHECKING:
    from pegboard.knowledge.question_cache import QuestionCache

_LOG = logging.getLogger("pegboard.search")


class BoardToolMeanings:
    """Makes the vectors of a registry's tools in the background, as long as the board asks for it.

    Args:
        registry: The board's tools.
        settings: Prevail over the board file.
        models: Have the embedding model.
        board: The board file in force.
        store: Stores the vectors for the next start.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        settings: Settings,
        *,
        models: BoardModels,
        board: Callable[[], Board],
        store: ToolVectorStore,
    ) -> None:
        self._registry = registry
        self._settings = settings
        self._models = models
        self._board = board
        self._store = store
        self._cache: QuestionCache | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop: Callable[[], None] | None = None

    def open(self, stack: AsyncExitStack) -> Self:
        """Begin, where the board asks for it.

        Args:
            stack: Stops the work.

        Raises:
            ConfigError: The extra is missing, or the model cannot be used.
        """
        self._use_board()
        stack.push_async_callback(self.close)
        return self

    def follow(self) -> None:
        """Begin, stop or go on as a board file says that was reloaded."""
        try:
            self._use_board()
        except ConfigError as error:
            self._end()
            _LOG.warning("search: tools are found by words only: %s", error)

    def _use_board(self) -> None:
        if self._find_embedder() is None:
            self._end()
        elif self._task is None:
            self._begin()
        elif self._registry.meanings is not None:
            self._registry.meanings.notify()

    async def close(self) -> None:
        """Stop the work."""
        task = self._task
        self._end()
        if task is not None:
            await asyncio.wait([task])

    def _find_embedder(self) -> Embedder | None:
        """The model; None where search is by words."""
        wanted = self._settings.search_by_meaning
        if not (self._board().search_by_meaning if wanted is None else wanted):
            return None
        return self._models.find_embedder()

    def _begin(self) -> None:
        if find_spec("numpy") is None:
            raise ConfigError("search_by_meaning needs an extra: pip install 'pegboard[knowledge]'")
        from pegboard.registry.tool_meanings import ToolMeanings

        registry = self._registry
        meanings = ToolMeanings(
            lambda: registry, self._find_embedder, self._embed, store=self._store
        )

        def note(kind: str, _uri: str) -> None:
            if kind == "tools":
                meanings.notify()

        self._stop = registry.changes.listen(note)
        self._task = asyncio.create_task(meanings.run(), name="embed tools")
        registry.meanings = meanings

    def _end(self) -> None:
        self._registry.meanings = None
        if self._stop is not None:
            self._stop()
        if self._task is not None:
            self._task.cancel()
        self._task = self._stop = None

    async def _embed(
        self, embedder: Embedder, texts: Sequence[str], owner: str
    ) -> Sequence[Sequence[float]]:
        if self._cache is None:
            from pegboard.knowledge.question_cache import QuestionCache

            self._cache = QuestionCache()
        vectors, _ = await self._cache.embed_all(embedder, texts, owner=owner)
        return vectors
