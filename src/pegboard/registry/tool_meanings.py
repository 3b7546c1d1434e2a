"""`ToolMeanings`: makes the vectors of tools in the background, and those of questions."""

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from operator import mul
from typing import TYPE_CHECKING

from pegboard.concurrency.cooperative import in_thread
from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.concurrency.log_once import log_once
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.tool_vector_store import ToolVectorStore
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.registry.prepared_search import BY_WORDS, MEANING, PreparedSearch
from pegboard.registry.search_text import read_words, split_intents

if TYPE_CHECKING:
    from pegboard.registry.vector_index import Nearness, VectorIndex

_LOG = logging.getLogger("pegboard.search")
_BATCH = 64
_LOADED = 2_000
"""Stored vectors that are read at once."""
_MANY = 50
"""Tools whose texts are made at once on the event loop."""
_MANY_VECTORS = 150_000
"""Comparisons of two vectors that are made at once on the event loop: 2 ms."""
_MAX_TEXT = 500
"""Characters of a description that are embedded."""
_MAX_INTENTS = 8
"""Things that a question asks for, of which the vectors are compared."""
_SAME = 0.995
"""The least cosine of two vectors that a model makes of the same text."""
_GATHER = 0.2
"""Seconds in which changes gather."""
_DEADLINE = 1.0
"""Seconds that a search waits for the vectors of its question."""
_PAUSE = 30.0
"""Seconds in which a model that has failed is not asked about a question."""
_RETRY, _MAX_PAUSE = 10.0, 600.0
"""Seconds after which tools are embedded that were not, at first and at most."""

EmbedQuestion = Callable[[Embedder, Sequence[str], str], Awaitable[Sequence[Sequence[float]]]]
"""The vectors of texts of a question, for an owner: it may have those of before."""


class ToolMeanings:
    """The vectors of the tools of a registry, for search by meaning.

    `run` follows the tools. Searches go on by words until their vectors are made, and whenever the
    model fails.

    Args:
        tools: The tools as they are now.
        find_embedder: The model that is asked; None while search is by words.
        embed_question: Embeds the texts of a question.
        store: Stores the vectors of tools for the next start; None to make them anew.
        monotonic: A monotonic clock, in seconds.
    """

    def __init__(
        self,
        tools: Callable[[], Iterable[Tool]],
        find_embedder: Callable[[], Embedder | None],
        embed_question: EmbedQuestion,
        *,
        store: ToolVectorStore | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tools = tools
        self._find_embedder = find_embedder
        self._embed_question = embed_question
        self._store = store
        self._is_trusted = False
        self._monotonic = monotonic
        self._index: VectorIndex | None = None
        self._is_ready = False
        self._known: dict[str, tuple[Tool, bytes]] = {}
        self._refused: set[bytes] = set()
        self._failed_until = -math.inf
        self._has_changes = True
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    # questions

    async def prepare(self, question: str, principal: Principal) -> PreparedSearch:
        """Compare a question with the tools; where the model fails, the search is by words."""
        texts = list(_list_intents(question))
        if not texts:
            return BY_WORDS
        meanings: dict[str, Nearness] = {}
        with log_and_continue(_LOG, "search: questions are not embedded"):
            embedder = self._find_embedder()
            if embedder is None:
                return BY_WORDS
            index = self._index
            if index is not None and self._is_usable(embedder):
                vectors = await self._embed(embedder, texts, principal.owner)
                is_large = index.size * len(texts) > _MANY_VECTORS
                found = await in_thread(lambda: index.measure_all(vectors), is_large=is_large)
                meanings = dict(zip(texts, found, strict=True))
        skipped = () if meanings else (MEANING,)
        return PreparedSearch(question=question, meanings=meanings, skipped=skipped)

    def _is_usable(self, embedder: Embedder) -> bool:
        """Whether there are vectors of this model, and it has not failed a moment ago."""
        is_made = self._index is not None and self._index.embedder == embedder.name
        return is_made and self._is_ready and self._monotonic() >= self._failed_until

    async def _embed(
        self, embedder: Embedder, texts: Sequence[str], owner: str
    ) -> Sequence[Sequence[float]]:
        try:
            async with asyncio.timeout(_DEADLINE):
                return await self._embed_question(embedder, texts, owner)
        except (Unavailable, TimeoutError):  # and not for this question alone
            self._failed_until = self._monotonic() + _PAUSE
            raise

    # tools

    def notify(self) -> None:
        """Note, on any thread, that tools or the model may have changed."""
        if not self._has_changes:
            self._has_changes = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._changed.set)

    async def run(self) -> None:
        """Follow the tools until it is cancelled."""
        pause = _RETRY
        self._loop = asyncio.get_running_loop()
        while True:
            if not self._has_changes:
                await self._changed.wait()
            self._changed.clear()
            self._has_changes = False
            is_done = False
            with log_and_continue(_LOG, "search: the vectors of tools are not made"):
                await self.refresh()
                is_done = True
            if is_done:
                pause = _RETRY
                await asyncio.sleep(_GATHER)
            else:
                await asyncio.sleep(pause)
                pause = min(pause * 2, _MAX_PAUSE)
                self._has_changes = True

    async def refresh(self) -> int:
        """Make the vectors that are neither here nor stored; how many. Errors as of the model."""
        embedder = self._find_embedder()
        if embedder is None:
            self._index, self._known, self._is_ready = None, {}, False
            return 0
        index = self._open(embedder.name)
        tools = list(self._tools())
        known = await in_thread(lambda: self._digest(tools), is_large=len(tools) > _MANY)
        self._known = known
        missing = index.name_texts({name: digest for name, (_, digest) in known.items()})
        described = {digest: tool for tool, digest in known.values()}
        self._refused &= described.keys()
        missing = [digest for digest in missing if digest not in self._refused]
        if missing and self._store is not None:
            with log_and_continue(_LOG, "search: stored vectors of tools are not read"):
                await self._load(self._store, embedder, index, missing, described)
            missing = [digest for digest in missing if not index.has(digest)]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            texts = {digest: describe_tool(described[digest]) for digest in batch}
            await self._embed_tools(embedder, index, texts)
            if self._store is not None:
                with log_and_continue(_LOG, "search: the vectors of tools are not stored"):
                    await self._store.put(embedder.name, index.find(batch))
        self._is_ready = True
        return len(missing)

    async def _load(
        self,
        store: ToolVectorStore,
        embedder: Embedder,
        index: "VectorIndex",
        missing: Sequence[bytes],
        described: Mapping[bytes, Tool],
    ) -> None:
        """Take the stored vectors of texts, if the model still makes the same of one of them.

        Another model may have been put behind the same name.
        """
        for start in range(0, len(missing), _LOADED):
            found = await store.find(embedder.name, missing[start : start + _LOADED])
            if found and not self._is_trusted:
                digest, vector = next(iter(found.items()))
                if not await _makes_same(embedder, describe_tool(described[digest]), vector):
                    _LOG.info("search: the vectors of tools are made anew: the model has changed")
                    await store.forget(embedder.name)
                    return
                self._is_trusted = True
            try:
                index.put(found)
            except ValueError:  # some are of another length: whatever is wrong is replaced
                await store.forget(embedder.name)
                return

    def _open(self, embedder: str) -> "VectorIndex":
        from pegboard.registry.vector_index import VectorIndex

        if self._index is None or self._index.embedder != embedder:
            self._index, self._is_ready, self._refused = VectorIndex(embedder), False, set()
            self._is_trusted = False
        return self._index

    def _digest(self, tools: Iterable[Tool]) -> dict[str, tuple[Tool, bytes]]:
        """Each tool with the digest of its text, by name; those of before are kept."""
        known: dict[str, tuple[Tool, bytes]] = {}
        for tool in tools:
            name = tool.spec.name
            before = self._known.get(name)
            if before is not None and before[0] is tool:
                known[name] = before
            else:
                text = describe_tool(tool).encode("utf-8", "surrogatepass")
                known[name] = (tool, blake2b(text, digest_size=16).digest())
        return known

    async def _embed_tools(
        self, embedder: Embedder, index: "VectorIndex", texts: Mapping[bytes, str]
    ) -> None:
        """Embed some texts; one that the model refuses does not keep the others from it.

        Raises:
            InvalidRequest: The model refuses all of several.
            Unavailable: A later try may help.
        """
        try:
            vectors = await embedder.embed([*texts.values()])
            index.put(dict(zip(texts, vectors, strict=True)))
        except (InvalidRequest, ValueError) as error:
            if len(texts) == 1:
                self._refused |= texts.keys()
                log_once(_LOG, "search: the text of a tool is not embedded", error)
                return
            refused, items = len(self._refused), [*texts.items()]
            half = len(items) // 2
            for part in (items[:half], items[half:]):
                await self._embed_tools(embedder, index, dict(part))
            if len(self._refused) - refused == len(texts):
                self._refused -= texts.keys()
                raise


def describe_tool(tool: Tool) -> str:
    """What is embedded of a tool: its name as words, its title, description and labels."""
    spec = tool.spec
    words = " ".join(word for word, _ in read_words(spec.name))
    labels = [*spec.tags, *spec.capabilities]
    if spec.category != ToolSpec.category:
        labels.append(spec.category)
    title = spec.title if spec.title and spec.title != spec.name else ""
    lines = (f"{words}: {title}", spec.description, ", ".join(labels))
    return "\n".join(line.strip(" :")[:_MAX_TEXT] for line in lines if line.strip(" :"))


async def _makes_same(embedder: Embedder, text: str, vector: Sequence[float]) -> bool:
    """Whether a model makes this vector of a text, apart from the last digits."""
    try:
        (made,) = await embedder.embed([text])
    except InvalidRequest:
        return False
    if len(made) != len(vector):
        return False
    return sum(map(mul, made, vector)) > _SAME * math.hypot(*made) * math.hypot(*vector)


def _list_intents(question: str) -> Iterator[str]:
    """The texts of what a question asks for, without those that say nothing of it."""
    intents = (it.text for it in split_intents(question) if 1.0 in it.terms.values())
    return islice(intents, _MAX_INTENTS)
