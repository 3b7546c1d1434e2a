"""The `Knowledge` service: bases, their documents, and questions to them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.knowledge import Piece
from pegboard.core.ports.accounts.identity_store import IdentityStore
from pegboard.core.ports.knowledge.document_store import DocumentScope, StoredDocument
from pegboard.core.ports.knowledge.evidence_store import EvidenceStore, StoredEvidence
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AccessDenied,
    DocumentNotFound,
    InvalidRequest,
    ResourceNotFound,
    RunNotFound,
    ToolNotFound,
    Unavailable,
)
from pegboard.features.key_limits import limit_keys
from pegboard.features.knowledge.answers import KnowledgeAnswers
from pegboard.features.knowledge.base_views import BaseFacts, DocumentView
from pegboard.features.knowledge.bases import (
    Bases,
    DocumentSource,
    KnowledgeBase,
    NewBase,
    check_may_edit,
    check_may_gather,
    may_edit_base,
    may_edit_document,
    scope_of,
    to_base,
)
from pegboard.features.knowledge.citing_answers import CitationFinder
from pegboard.features.knowledge.deletion import BaseDeletion, Deletion
from pegboard.features.knowledge.document_check import DocumentChecker
from pegboard.features.knowledge.document_feed import DocumentFeed, DocumentPoll
from pegboard.features.knowledge.document_sources import (
    find_sources,
    gather_graph,
)
from pegboard.features.knowledge.documents import Documents, find_group
from pegboard.features.knowledge.evidence import name_waiting
from pegboard.features.knowledge.gatherings import SourceLook, list_gatherings, list_looks
from pegboard.features.knowledge.ingestion import INGESTER, is_settled, open_copy
from pegboard.features.knowledge.parts import DocumentChange, KnowledgeParts
from pegboard.features.knowledge.queue import IngestionQueue
from pegboard.features.knowledge.schemas import BaseSettings
from pegboard.features.knowledge.vectors import Vectors, VectorState
from pegboard.features.resources import NewResource, ResourceChange, Resources
from pegboard.features.runs import Runs
from pegboard.knowledge.index_upkeep import IndexUpkeep
from pegboard.registry import ToolRegistry

_TOOLS = {"simple": "kb_retrieve", "grounding": "grounded_retrieve"}
_FIRST_PAUSE, _LAST_PAUSE = 0.1, 1.0
_READS = ("view_bases", "describe", "is_gathering", "wait", "view", "count_deletion")
_ASKS = ("ask", "list_asked", "get_asked")


@limit_keys("knowledge bases", reads=(*_READS, *_ASKS))
class Knowledge:
    """The knowledge bases of a board.

    ```python
    base = await board.knowledge.add_base(NewBase(name="handbook"), principal=caller)
    new = NewDocument(name="returns.md", chunks=read_chunks(Path("returns.md")))
    await board.knowledge.documents.add(base, new, principal=caller)
    await board.knowledge.wait(base, principal=caller)
    answer = await board.knowledge.ask(base, "How long may ...?", principal=caller)
    ```

    Args:
        parts: The stores.
        resources: Stores the bases that people add.
        documents: Those of the bases.
        checker: Compares files with them.
        base_deletion: Empties bases that are deleted.
        answers: Answers questions.
        evidence: Stores what was found.
        deletion: Deletes what quotes a document.
        queue: Takes documents in.
        vectors: Knows which vectors of a base answer.
        runs: Starts runs that gather documents.
        registry: Calls the tools that are asked.
        people: Knows the handles of owners.
        citations: Finds the answers that cite a document.

    Attributes:
        bases: Finds the bases that a caller may see.
        documents: Puts documents in, lists, changes and deletes them.
        checker: Says what a file would change, before it is put in.
        base_deletion: Empties bases that are deleted, before they go themselves.
    """

    def __init__(  # noqa: PLR0913 - what the noun consists of
        self,
        parts: KnowledgeParts,
        *,
        resources: Resources,
        documents: Documents,
        checker: DocumentChecker,
        base_deletion: BaseDeletion,
        answers: KnowledgeAnswers,
        evidence: EvidenceStore,
        deletion: Deletion,
        queue: IngestionQueue,
        vectors: Vectors,
        runs: Runs,
        registry: ToolRegistry,
        people: IdentityStore,
        citations: CitationFinder,
    ) -> None:
        self.bases: Bases = parts.bases
        self.documents = documents
        self.checker = checker
        self.base_deletion = base_deletion
        self.answers = answers
        self.citations = citations
        self._parts = parts
        self._resources = resources
        self._evidence = evidence
        self._deletion = deletion
        self._queue = queue
        self._vectors = vectors
        self._runs = runs
        self._registry = registry
        self._people = people
        self._poll = (
            DocumentPoll(documents, parts.documents, parts.changes) if parts.is_shared else None
        )
        self._gathering: dict[str, set[str]] = {}
        self._upkeep = IndexUpkeep(parts.documents, parts.index, find_embedder=self._find_embedder)
        parts.changes.follow(lambda change: self._upkeep.wake(change.base))

    # bases

    async def add_base(self, new: NewBase, *, principal: Principal) -> KnowledgeBase:
        """Add a base, as its owner.

        Raises:
            AccessDenied: The caller may not share there.
            InvalidRequest: The name or the settings are wrong, or the name is taken, or the board
                has no such embedding model.
        """
        resource = NewResource(
            kind="knowledge",
            name=new.name,
            title=new.title,
            description=new.description,
            organisation=new.organisation,
            visibility=new.visibility,
            config=new.settings or {},
        )
        self._check_embedder(new.settings or {})
        return to_base((await self._resources.add(resource, principal=principal)).resource)

    async def change_base(
        self, base: KnowledgeBase, change: ResourceChange, *, principal: Principal
    ) -> KnowledgeBase:
        """Change a base. Raises as `Resources.change`, and for one of the board file."""
        stored = self._require_stored(base)
        self._check_embedder(change.config or {})
        changed = await self._resources.change(stored, change, principal=principal)
        self._parts.changes.notify(DocumentChange(base.id))
        return to_base(changed.resource)

    def _check_embedder(self, settings: Mapping[str, Any]) -> None:
        name = settings.get("embedder")
        if not isinstance(name, str) or not name:
            return
        if self._parts.embedder(BaseSettings(embedder=name)) is None:
            raise InvalidRequest(
                f"This board has no embedding model '{name[:100]}': name one of its board file, or "
                "leave it empty to search by words."
            )

    async def delete_base(self, base: KnowledgeBase, *, principal: Principal) -> None:
        """Delete a base with all its documents, for all who see it; it takes in nothing more.

        A deletion that fails goes on when it is repeated, by itself later, and at the next start.

        Raises:
            AccessDenied: The caller may not change it.
            InvalidRequest: The board file declares it.
        """
        await self._resources.delete(self._require_stored(base), principal=principal)

    async def find_handles(self, ids: Iterable[str]) -> dict[str, str]:
        """The handles of the people of these ids, where there are some."""
        found = await self._people.users(sorted({id_ for id_ in ids if id_}))
        return {user.id: user.handle for user in found}

    async def view_bases(
        self, bases: Sequence[KnowledgeBase], *, principal: Principal
    ) -> list[dict[str, Any]]:
        """`BaseAnswer`s for a caller."""
        handles = await self.find_handles(it.resource.owner for it in bases if it.resource)
        found: list[dict[str, Any]] = []
        for base in bases:
            facts = await self.describe(base, principal=principal)
            owner, seen = "", None
            if base.resource is not None:
                owner = handles.get(base.resource.owner, base.resource.owner)
                seen = self.bases.resolve(base.resource, principal=principal)
            is_gathering = await self.is_gathering(base, principal=principal)
            found.append({**facts.to_dict(owner=owner, seen=seen), "is_gathering": is_gathering})
        return found

    async def describe(self, base: KnowledgeBase, *, principal: Principal) -> BaseFacts:
        """What a caller sees of a base beside its name."""
        rows = await self.documents.list_all(scope_of([base], principal, include_replaced=True))
        counts: dict[str, int] = dict.fromkeys(("ready", "working", "held", "failed"), 0)
        for row in rows:
            counts[find_group(row)] += 1
        vectors = await self._vectors.look(base) if counts["ready"] else VectorState()
        wanted = vectors.wanted or self._parts.embedder(base.settings)
        answering = vectors.answering if counts["ready"] else wanted
        may_edit = may_edit_base(principal, base)
        sources = {row.source for row in rows}
        if base.declared is not None:
            sources.add(find_declared_source(base).source)
        return BaseFacts(
            base=base,
            counts=counts,
            pieces=sum(row.pieces for row in rows if row.answers),
            embedder="" if answering is None else answering.name,
            new_embedder="" if wanted is None else wanted.name,
            # it counts documents of others, too: nothing for readers
            without_vectors=vectors.missing if may_edit else 0,
            principal=principal,
            web=self._parts.web,
            updated_at=max((row.updated_at for row in rows), default=0.0),
            gatherings=await list_gatherings(self._runs, base, sources) if may_edit else (),
            is_being_deleted=await self.bases.is_being_deleted(base),
        )

    async def refresh(self, base: KnowledgeBase, *, principal: Principal) -> list[str]:
        """Take in what has changed where documents come from; the ids of the runs that do it.

        A folder or an address that was added for others than the caller is left out.

        Raises:
            AccessDenied: The caller may not change the base.
        """
        check_may_edit(principal, base)
        wanted = await self._list_sources(base, principal)
        return [await self.gather(base, item, principal=principal) for item in wanted]

    async def refresh_document(
        self, base: KnowledgeBase, row: StoredDocument, *, principal: Principal
    ) -> StoredDocument:
        """Look where a document comes from; one that was uploaded is taken in anew.

        Raises:
            AccessDenied: The caller may not change the base, or the source of the document was
                added for other people.
            InvalidRequest: It is being taken in.
        """
        if row.source == "upload":
            return await self.documents.retry(base, row.id, principal=principal)
        check_may_edit(principal, base)
        known = await self._list_sources(base, principal)
        wanted = [item for item in known if item.source == row.source]
        if not wanted and base.declared is None:
            raise AccessDenied(base.name, "its source was added for other people than you")
        for item in wanted:
            await self.gather(base, item, principal=principal)
        return row

    async def gather(
        self, base: KnowledgeBase, wanted: DocumentSource, *, principal: Principal, key: str = ""
    ) -> str:
        """Take in a folder, or pages of the web; the id of the run that does it.

        Raises:
            AccessDenied: The caller may not change the base, or take in folders or addresses.
        """
        check_may_edit(principal, base)
        check_may_gather(principal, base, wanted, web=self._parts.web)
        graph = gather_graph(wanted)
        run = (await self._runs.start_graph(graph, principal=principal, key=key)).id
        self._gathering.setdefault(base.id, set()).add(run)
        return run

    async def is_gathering(self, base: KnowledgeBase, *, principal: Principal) -> bool:
        """Whether a run of this process still looks for documents of a base."""
        self.bases.find(base.id, principal=principal)
        runs = self._gathering.get(base.id, set())
        for run in tuple(runs):
            try:
                view = await self._runs.get(run, principal=INGESTER)
            except RunNotFound:
                view = None
            if view is None or view.run.finished_at is not None:
                runs.discard(run)
        return bool(runs)

    async def wait(self, base: KnowledgeBase, *, principal: Principal) -> list[StoredDocument]:
        """Wait until no document of a base is looked for or being taken in.

        Returns:
            The documents that the caller sees: `ready`, `held` or `failed`, with the `reason`.
        """
        self.wake()
        scope = scope_of([base], principal, include_replaced=True)
        pause = _FIRST_PAUSE
        while True:
            is_gathering = await self.is_gathering(base, principal=principal)
            rows = await self.documents.list_all(scope)
            if not is_gathering and all(map(is_settled, rows)):
                return rows
            await asyncio.sleep(pause := min(1.5 * pause, _LAST_PAUSE))

    async def list_looks(self, base: KnowledgeBase, wanted: DocumentSource) -> list[SourceLook]:
        """The last looks at one source of a base, the newest first."""
        return await list_looks(self._runs, base, wanted)

    async def _list_sources(
        self, base: KnowledgeBase, principal: Principal
    ) -> list[DocumentSource]:
        """Where documents of a base come from, beside uploads, as far as a caller sees it."""
        if (declared := base.declared) is not None:
            return [find_declared_source(base)] if declared.folder or declared.url else []
        rows = await self.documents.list_all(_whole(base))
        return [*find_sources(base, rows, principal)]

    # questions

    async def ask(
        self,
        base: KnowledgeBase,
        question: str,
        *,
        mode: str = "grounding",
        limit: int = 8,
        principal: Principal,
    ) -> StoredEvidence:
        """Ask a base: a call of its tool, recorded like any other.

        Raises:
            PegboardError: As the call ended.
        """
        arguments = {"question": question, "bases": [base.id], "limit": limit}
        ctx: ToolContext[Any] = ToolContext(principal=principal)
        result = await self._registry.call(_TOOLS[mode], arguments, ctx)
        if result.error is not None:
            raise result.error
        stored = await self._evidence.get(result.meta.call_id)
        if stored is None:
            raise ToolNotFound(_TOOLS[mode])
        return await self._name_waiting(stored, principal)

    async def list_asked(
        self, base: KnowledgeBase, *, principal: Principal
    ) -> Sequence[StoredEvidence]:
        """The last questions of a caller to a base, the last first."""
        return await self._evidence.list_asked(principal.owner, base.id)

    async def get_asked(
        self, base: KnowledgeBase, call: str, *, principal: Principal
    ) -> StoredEvidence:
        """What was found for a question.

        Raises:
            DocumentNotFound: The caller has asked no such question.
        """
        stored = await self._evidence.get(call)
        if stored is None or stored.owner != principal.owner or base.id not in stored.bases:
            raise DocumentNotFound(f"You have asked no question '{call[:100]}'.")
        return await self._name_waiting(stored, principal)

    async def _name_waiting(self, stored: StoredEvidence, principal: Principal) -> StoredEvidence:
        """Evidence with titles of documents that were not ready, in place of their ids."""
        ids = tuple(it for look in stored.evidence.retrieval.looks for it in look.not_ready)
        if not ids:
            return stored
        scope = DocumentScope(
            bases=stored.bases, principal=principal, include_replaced=True, documents=ids
        )
        rows = await self._parts.documents.list_visible(scope, limit=len(ids))
        return name_waiting(stored, {row.id: row.title or row.name for row in rows})

    # watching

    async def follow(
        self, base: KnowledgeBase, *, caller: Callable[[], Principal]
    ) -> AsyncGenerator[tuple[str, DocumentView | str]]:
        """Changes of the documents that a caller may see, as they happen.

        Args:
            base: The base.
            caller: The caller, with the rights of now; asked at each change.

        Yields:
            `document` with the document, or `document_deleted` with its id.
        """
        feed = DocumentFeed(
            base,
            bases=self.bases,
            documents=self.documents,
            changes=self._parts.changes,
            caller=caller,
            poll=self._poll,
        )
        async for kind, item in feed.follow():
            if isinstance(item, StoredDocument):
                yield kind, self.view(base, item, principal=caller())
            else:
                yield kind, item

    def view(
        self, base: KnowledgeBase, row: StoredDocument, *, principal: Principal
    ) -> DocumentView:
        """A document as a caller sees it."""
        return DocumentView(row=row, may_change=may_edit_document(principal, base, row))

    async def draw_page(self, row: StoredDocument, number: int) -> bytes:
        """A page of a document as a PNG.

        Raises:
            DocumentUnreadable: It has no such page, or cannot be drawn.
            Unavailable: This board cannot.
        """
        converter = self._parts.converter
        if converter is None:
            raise Unavailable("This board cannot draw documents.", permanent=True)
        async with open_copy(self._parts, row) as file:
            return await converter.render_page(file, number)

    async def list_pieces(self, row: StoredDocument) -> Sequence[Piece]:
        """The pieces of a document that answer."""
        return await self.answers.list_pieces(row) if row.answers else ()

    # deleting

    async def count_deletion(
        self, base: KnowledgeBase, document: str = "", *, principal: Principal
    ) -> dict[str, int]:
        """What goes when a document, or a whole base, is deleted.

        Raises:
            DocumentNotFound: There is no such document for this caller.
        """
        if document:
            rows = [await self.documents.get(base, document, principal=principal)]
        else:
            rows = await self.documents.list_all(scope_of([base], principal, include_replaced=True))
        return await self._deletion.count(rows, principal)

    # running

    async def close(self) -> None:
        """Start no more runs; those under way go on."""
        await self._upkeep.close()
        await self._queue.close()
        await self._vectors.close()

    def wake(self) -> None:
        """Take in what an earlier process has left."""
        self._queue.wake()
        self._vectors.wake()
        for base in self.bases.list_visible(LOCAL):
            self._upkeep.wake(base.id, preload=True)

    async def _find_embedder(self, base: str) -> str:
        """The name of the model whose vectors answer for a base; empty for words alone."""
        found = self._parts.bases.get(base)
        embedder = None if found is None else await self._vectors.find_answering(found)
        return "" if embedder is None else embedder.name

    def _require_stored(self, base: KnowledgeBase) -> str:
        if base.resource is None:
            raise InvalidRequest(f"The board file has '{base.name}': change it there.")
        return base.resource.id


def find_declared_source(base: KnowledgeBase) -> DocumentSource:
    """Where the documents of a base of the board file come from.

    Raises:
        ResourceNotFound: It is none of the board file.
    """
    declared = base.declared
    if declared is None:
        raise ResourceNotFound(f"The board file has no knowledge base '{base.name}'.")
    return DocumentSource(
        base=base.id,
        folder=declared.folder,
        url=declared.url,
        below=bool(declared.url),
        at_most=declared.pages,
    )


def _whole(base: KnowledgeBase) -> Any:
    return scope_of([base], INGESTER, include_replaced=True)
