"""The knowledge bases of a board; nothing of them is made before there is one."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.context import ToolContext
from pegboard.core.graph import Node
from pegboard.core.knowledge import CitedAnswer
from pegboard.core.ports.accounts.blob_store import BlobStore
from pegboard.core.ports.accounts.resource_store import StoredResource
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.knowledge.bases import KnowledgeReply
from pegboard.core.ports.knowledge.reranker import Reranker
from pegboard.core.ports.services import Services
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema, Tool
from pegboard.errors import ConfigError
from pegboard.graphs.node_kind import NodeContext, NodeKind, SchemaOf
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.wiring.models import BoardModels

if TYPE_CHECKING:
    from pegboard.features.files import Files
    from pegboard.features.knowledge import Knowledge
    from pegboard.features.knowledge.bases import DeclaredBase, WebPolicy
    from pegboard.features.knowledge.deletion import Quotes
    from pegboard.features.knowledge.evidence import EvidenceLedger
    from pegboard.features.knowledge.parts import KnowledgeParts
    from pegboard.features.knowledge.schemas import BaseSettings
    from pegboard.features.resources import Resources
    from pegboard.features.runs import Runs
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.knowledge")
SOURCE = "knowledge"
"""The name of the source of the tools."""
_FIRST_RETRY, _LAST_RETRY = 30.0, 3_600.0
"""Seconds until a deletion that has failed is tried again, at first and at most."""
_LOOK_SECONDS = 5.0
"""Seconds after which a board without bases looks for those of other servers."""


class BoardKnowledge:
    """Implements `KnowledgeBases`, and makes the service when it is first needed.

    Args:
        registry: Has the tools as long as there is a base.
        storage: Stores documents, pieces and evidence.
        board: The board file in force.
        blobs: Stores the files of documents.
        stack: Stops what runs in the background.
        web: Who may add web addresses.
        is_shared: Whether other servers change the same database.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        storage: "Storage",
        board: Callable[[], Board],
        blobs: BlobStore | None,
        stack: AsyncExitStack,
        *,
        web: "WebPolicy",
        is_shared: bool,
    ) -> None:
        self._registry = registry
        self._storage = storage
        self._board = board
        self._blobs = blobs
        self._stack = stack
        self._web: WebPolicy = web
        self._is_shared = is_shared
        self._services = Services()
        self._models: BoardModels | None = None
        self._resources: Resources | None = None
        self._runs: Runs | None = None
        self._refresher: asyncio.Task[None] | None = None
        self._cleaner: asyncio.Task[None] | None = None
        self._has_failed = asyncio.Event()
        self._is_closed = False
        self._watcher: asyncio.Task[None] | None = None
        self._files: Files | None = None
        self._made: Knowledge | None = None
        self._tools: tuple[Tool, ...] = ()

    def attach(
        self,
        services: Services,
        models: BoardModels,
        resources: "Resources",
        runs: "Runs",
        files: "Files",
    ) -> Self:
        """Use these parts of the board, which are made later; its tools follow its bases."""
        self._services, self._models = services, models
        self._resources, self._runs, self._files = resources, runs, files
        resources.clear = self._clear
        self._stack.push_async_callback(self.close)
        self._stack.callback(self._registry.changes.listen(self._on_change))
        self._follow_bases()
        return self

    @property
    def has_bases(self) -> bool:
        """Whether there is any base."""
        index = self._registry.environment.resource_index
        return bool(self._board().knowledge) or index.has("knowledge")

    @property
    def service(self) -> "Knowledge":
        """The service; made by its first use."""
        if self._made is None:
            self._made = self._make()
        return self._made

    @property
    def made(self) -> "Knowledge | None":
        """The service, if something has used it."""
        return self._made

    def add_node_kinds(self, kinds: Mapping[str, NodeKind]) -> Mapping[str, NodeKind]:
        """Kinds of nodes, with those that take documents in."""
        return {
            **kinds,
            "document": LazyNodeKind("document", self._make_document_node),
            "vectors": LazyNodeKind("vectors", self._make_vectors_node),
            "gather": LazyNodeKind("gather", self._make_gather_node),
        }

    async def recover(self) -> None:
        """Go on with what an earlier process has left, and refresh what the board file says."""
        if self._blobs is not None:
            self._finish_deletions(after=0.0)
        if not self.has_bases:
            if self._is_shared and self._watcher is None:
                self._watcher = asyncio.create_task(
                    self._wait_for_bases(), name="wait for knowledge bases of other servers"
                )
            return
        self.service.wake()
        if self._refresher is None and self._board().knowledge:
            self._refresher = asyncio.create_task(self._refresh(), name="refresh knowledge bases")

    async def close(self) -> None:
        """Stop what runs in the background."""
        self._is_closed = True
        started = (self._refresher, self._cleaner, self._watcher)
        tasks = [task for task in started if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        if self._made is not None:
            await self._made.close()

    # the port

    def describe(self, principal: Principal) -> Mapping[str, str]:
        """The bases that a caller may see, with what can be asked of them, by name."""
        return self.service.answers.describe(principal)

    async def list(self, ctx: ToolContext[Any]) -> KnowledgeReply:
        """The bases, by name."""
        return await self.service.answers.list(ctx)

    async def retrieve(
        self, question: str, ctx: ToolContext[Any], *, bases: Sequence[str] = (), limit: int = 8
    ) -> KnowledgeReply:
        """The best pieces for a question."""
        return await self.service.answers.retrieve(question, ctx, bases=bases, limit=limit)

    async def ground(
        self, question: str, ctx: ToolContext[Any], *, bases: Sequence[str] = (), limit: int = 8
    ) -> KnowledgeReply:
        """Checked quotes for a question."""
        return await self.service.answers.ground(question, ctx, bases=bases, limit=limit)

    async def read(self, document: str, ctx: ToolContext[Any], *, base: str = "") -> str:
        """The whole text of a document."""
        return await self.service.answers.read(document, ctx, base=base)

    async def open(
        self, document: str, ctx: ToolContext[Any], *, page: int = 1, pages: int = 1
    ) -> KnowledgeReply:
        """The pieces of pages of a document."""
        return await self.service.answers.open(document, ctx, page=page, pages=pages)

    async def grep(
        self, document: str, pattern: str, ctx: ToolContext[Any], *, limit: int = 20
    ) -> KnowledgeReply:
        """The pieces of a document in which a text stands."""
        return await self.service.answers.grep(document, pattern, ctx, limit=limit)

    async def around(
        self, piece: str, ctx: ToolContext[Any], *, before: int = 1, after: int = 1
    ) -> KnowledgeReply:
        """The pieces before and after one."""
        return await self.service.answers.around(piece, ctx, before=before, after=after)

    async def cite(self, text: str, run: str, *, question: str = "") -> CitedAnswer:
        """An answer without the numbers that no quote carries."""
        if not self.has_bases:
            return CitedAnswer(text=text)
        from pegboard.features.knowledge.evidence import cite_answer

        return await cite_answer(self.ledger, text, run, question=question)

    @cached_property
    def ledger(self) -> "EvidenceLedger":
        """Stores what was found for questions."""
        from pegboard.features.knowledge.evidence import EvidenceLedger

        environment = self._registry.environment
        return EvidenceLedger(self._storage.evidence, environment.conversation_of, environment.now)

    # parts of these

    def _on_change(self, kind: str, _uri: str) -> None:
        if kind == "tools":
            self._follow_bases()

    def _follow_bases(self) -> None:
        """Have the tools on the board as long as there is a base, for those who see one."""
        registry = self._registry
        index = registry.environment.resource_index
        index.require(SOURCE, None if self._board().knowledge else "knowledge")
        has_tools = bool(self._tools)
        if self.has_bases and not has_tools:
            from pegboard.sources.knowledge.resources import DocumentResource
            from pegboard.sources.knowledge.tools import make_tools

            self._tools = tuple(make_tools(SOURCE, self))
            documents = DocumentResource(SOURCE, self)
            registry.offers.replace(SOURCE, resources=[documents], prompts=())
            for tool in self._tools:
                if registry.find(tool.spec.name) is None:
                    registry.add(tool)
        elif not self.has_bases and has_tools:
            gone, self._tools = self._tools, ()
            registry.offers.replace(SOURCE, resources=(), prompts=())
            for tool in gone:
                if registry.find(tool.spec.name) is tool:
                    registry.remove(tool.spec.name)

    def _make(self) -> "Knowledge":
        from pegboard.features.knowledge.answers import KnowledgeAnswers
        from pegboard.features.knowledge.citing_answers import CitationFinder
        from pegboard.features.knowledge.deletion import BaseDeletion, Deletion
        from pegboard.features.knowledge.document_check import DocumentChecker
        from pegboard.features.knowledge.documents import Documents
        from pegboard.features.knowledge.queue import IngestionQueue
        from pegboard.features.knowledge.service import Knowledge
        from pegboard.features.knowledge.vectors import Vectors

        if self._resources is None or self._runs is None or self._files is None:
            raise RuntimeError("the board is not open")
        parts, runs, resources = self._parts, self._runs, self._resources
        environment = self._registry.environment
        queue, vectors = IngestionQueue(parts, runs), Vectors(parts, runs)
        environment.emitter.add(queue)
        deletion = Deletion(
            self._storage.evidence,
            self._storage.documents,
            self._forget,
            self._storage.upkeep.forget_results,
        )
        documents = Documents(parts, queue, files=self._files, forget=deletion.forget)
        return Knowledge(
            parts,
            resources=resources,
            documents=documents,
            checker=DocumentChecker(parts, documents, self._files),
            base_deletion=BaseDeletion(
                documents, parts.documents, self._storage.resources, resources
            ),
            answers=KnowledgeAnswers(parts, self.ledger, self._find_model, vectors),
            evidence=self._storage.evidence,
            deletion=deletion,
            queue=queue,
            vectors=vectors,
            runs=runs,
            registry=self._registry,
            people=self._storage.identity,
            citations=CitationFinder(self._storage.evidence, self._storage.conversations, runs),
        )

    @cached_property
    def _parts(self) -> "KnowledgeParts":
        from pegboard.features.knowledge.bases import Bases
        from pegboard.features.knowledge.parts import KnowledgeChanges, KnowledgeParts

        index = self._registry.environment.resource_index
        if self._blobs is None:
            raise ConfigError(
                "knowledge bases need a place for files: set PEGBOARD_FILES to a bucket, or "
                "PEGBOARD_DATA to a directory"
            )
        return KnowledgeParts(
            bases=Bases(index, self._list_declared, self._storage.resources.get),
            documents=self._storage.documents,
            index=self._storage.knowledge_index,
            blobs=self._blobs,
            converter=self._services.converter,
            embedder=self._find_embedder,
            find_embedder=self._find_named_embedder,
            find_reranker=self._find_reranker,
            environment=lambda: self._registry.environment,
            changes=KnowledgeChanges(),
            web=self._web,
            working=self._services.working,
            is_shared=self._is_shared,
        )

    def _list_declared(self) -> "Sequence[DeclaredBase]":
        from pegboard.features.knowledge.bases import DeclaredBase
        from pegboard.features.knowledge.schemas import BaseSettings

        return [
            DeclaredBase(
                name=entry.name,
                title=entry.title,
                description=entry.description,
                folder=entry.folder,
                url=entry.url,
                pages=entry.pages,
                refresh=entry.refresh or 0.0,
                settings=BaseSettings(cut=entry.cut, tokens=entry.tokens, embedder=entry.embedder),
            )
            for entry in self._board().knowledge
        ]

    def _find_embedder(self, settings: "BaseSettings") -> Embedder | None:
        """The embedding model of a base; None where it works by words only."""
        if self._models is None or settings.embedder == "":
            return None
        found = self._models.find_embedder()
        if settings.embedder is None or (found is not None and found.name == settings.embedder):
            return found
        named = self._board().models.named
        is_named = any(settings.embedder in {key, it.model} for key, it in named.items())
        # any other name would spend the key of the environment on a model that no operator chose
        return self._find_named_embedder(settings.embedder) if is_named else None

    def _find_named_embedder(self, name: str) -> Embedder | None:
        """An embedding model of before; None where this board cannot reach it."""
        try:
            return None if self._models is None else self._models.find_embedder(name)
        except ConfigError:
            return None

    def _find_reranker(self) -> Reranker | None:
        return None if self._models is None else self._models.find_reranker()

    async def _find_model(self) -> ChatModel | None:
        """The model that picks quotes and judges contradictions: the fast one, if there is one."""
        return None if self._models is None else await self._models.find_fast()

    async def _clear(self, resource: StoredResource) -> None:
        """Delete the documents of a base that is deleted, by whichever door."""
        if resource.kind == "knowledge" and self._blobs is not None:
            try:
                await self.service.base_deletion.clear(resource)
            except BaseException:
                self._finish_deletions(after=_FIRST_RETRY)
                raise

    async def _forget(self, quotes: "Quotes") -> int:
        from pegboard.runtime.wiring.forget_quotes import ForgetQuotes

        if self._runs is None:
            raise RuntimeError("the board is not open")
        return await ForgetQuotes(storage=self._storage, runs=self._runs, quotes=quotes).forget()

    def _make_document_node(self) -> NodeKind:
        from pegboard.features.knowledge.ingestion import DocumentNode

        return DocumentNode(lambda: self._parts)

    def _make_vectors_node(self) -> NodeKind:
        from pegboard.features.knowledge.vectors import VectorsNode

        return VectorsNode(lambda: self._parts)

    def _make_gather_node(self) -> NodeKind:
        from pegboard.features.knowledge.document_sources import GatherNode

        services = self._services
        return GatherNode(
            lambda: self._parts.bases,
            lambda: self.service.documents,
            web=self._web,
            http=services.http,
            root=services.base_dir,
        )

    async def _wait_for_bases(self) -> None:
        """Go on with what another server has left of a base that was not there at the start."""
        while not self.has_bases:  # noqa: ASYNC110 - no event tells of another server's
            await asyncio.sleep(_LOOK_SECONDS)
        self.service.wake()

    def _finish_deletions(self, *, after: float) -> None:
        """Finish deletions in the background, from some seconds on."""
        if asyncio.current_task() is self._cleaner:
            return  # it tries again what fails there
        self._has_failed.set()
        if not self._is_closed and (self._cleaner is None or self._cleaner.done()):
            self._cleaner = asyncio.create_task(
                self._retry_deletions(after), name="finish deletions of knowledge bases"
            )

    async def _retry_deletions(self, after: float) -> None:
        """Delete what is left of deleted bases; again, with a growing delay, where that fails.

        A deletion that fails meanwhile is tried again after the first delay.
        """
        delay = _FIRST_RETRY
        await asyncio.sleep(after)
        while True:
            self._has_failed.clear()
            with log_and_continue(_LOG, "knowledge: what is left of deleted bases is not deleted"):
                if await self._is_clean() and not self._has_failed.is_set():
                    return
            try:
                async with asyncio.timeout(delay):
                    await self._has_failed.wait()
            except TimeoutError:
                delay = min(2 * delay, _LAST_RETRY)
            else:
                delay = _FIRST_RETRY
                await asyncio.sleep(delay)

    async def _is_clean(self) -> bool:
        """Whether nothing is left of deleted bases, once what is left is deleted."""
        if not self.has_bases and not await self._storage.documents.list_bases():
            return True
        return await self.service.base_deletion.finish()

    async def _refresh(self) -> None:
        """Take in the folders and addresses of the board file: at the start, then as it says."""
        from pegboard.features.knowledge.refresh import RefreshSchedule

        schedule = RefreshSchedule(self.service, now=self._registry.environment.now)
        while True:
            with log_and_continue(_LOG, "knowledge: what has changed is not taken in"):
                await schedule.run_due()
            await asyncio.sleep(schedule.pause)


class LazyNodeKind:
    """A node kind whose module is imported when a graph has such a node."""

    def __init__(self, name: str, make: Callable[[], NodeKind]) -> None:
        self.name = name
        self.fields = frozenset({"config"})
        self._make = make

    @cached_property
    def _kind(self) -> NodeKind:
        return self._make()

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """As the kind."""
        return self._kind.faults(node)

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:
        """As the kind."""
        return self._kind.output_schema(node, schema_of)

    async def run(self, context: NodeContext) -> NodeRun:
        """As the kind."""
        return await self._kind.run(context)
