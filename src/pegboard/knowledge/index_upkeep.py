"""`IndexUpkeep`: has bases packed in the background, and loaded at a start.

A later process loads what is packed at once, and the first question does not wait for that.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.knowledge.document_store import DocumentScope, DocumentStore
from pegboard.core.ports.knowledge.index import KnowledgeIndex
from pegboard.core.principal import LOCAL

_LOG = logging.getLogger("pegboard.knowledge")
_PAUSE = 60.0
"""Seconds between two rounds: a folder that is taken in changes many documents in a row."""
MIN_PIECES = 2_000
"""Pieces of a base from which on it is packed."""


class IndexUpkeep:
    """Packs bases that were changed, one after the other.

    Args:
        documents: Has the documents.
        index: Has their pieces.
        find_embedder: The name of the model whose vectors answer for a base; empty for none.
        pause: Seconds between two rounds.
    """

    def __init__(
        self,
        documents: DocumentStore,
        index: KnowledgeIndex,
        *,
        find_embedder: Callable[[str], Awaitable[str]],
        pause: float = _PAUSE,
    ) -> None:
        self._documents = documents
        self._index = index
        self._find_embedder = find_embedder
        self._pause = pause
        self._due: dict[str, bool] = {}
        self._is_due = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None
        self._is_closed = False

    def wake(self, base: str, *, preload: bool = False) -> None:
        """Look at a base in the background.

        Args:
            base: Its id.
            preload: Whether it is loaded into memory, too.
        """
        self._due[base] = preload or self._due.get(base, False)
        self._is_due.set()
        if self._worker is None and not self._is_closed:
            self._worker = asyncio.get_running_loop().create_task(self._work(), name="pack bases")

    async def close(self) -> None:
        """Stop; what is not packed is packed by a later process."""
        self._is_closed = True
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])

    async def _work(self) -> None:
        while True:
            await self._is_due.wait()
            self._is_due.clear()
            while self._due:
                base, preload = self._due.popitem()
                with log_and_continue(_LOG, f"knowledge: the base {base} is not packed"):
                    await self._pack(base, preload=preload)
            await asyncio.sleep(self._pause)

    async def _pack(self, base: str, *, preload: bool) -> None:
        scope = DocumentScope(bases=(base,), principal=LOCAL, include_replaced=True)
        counts = await self._documents.count_ready(scope)
        if base in counts and counts[base].pieces >= MIN_PIECES:
            await self._index.pack(base)
            if preload:
                await self._index.preload(base, embedder=await self._find_embedder(base))
