"""The node kind `document`: a document is converted, cut, embedded and stored."""

import asyncio
import tempfile
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct, msgpack, structs, to_builtins

from pegboard.access.document_visibility import is_document_visible
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.knowledge import ConvertedDocument, DocumentFinding, Piece
from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.accounts.blob_store import BlobStore
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.ports.knowledge.index import IndexedPiece
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema
from pegboard.errors import DocumentNotFound, DocumentUnreadable, PegboardError
from pegboard.execution.limits.model_costs import ModelCosts
from pegboard.features.knowledge.bases import KnowledgeBase, may_edit_base
from pegboard.features.knowledge.parts import DocumentChange, KnowledgeParts
from pegboard.graphs.engine.node_results import as_failed
from pegboard.graphs.node_kind import NodeContext, SchemaOf
from pegboard.knowledge.cut import CutSettings, cut
from pegboard.knowledge.findings import SERIOUS, blank_findings, find_in_document
from pegboard.knowledge.indexing import embed_pieces, find_embedded, index_piece

DOCUMENT = "document"
"""The node kind, and the name of the graphs that take a document in."""
INGESTER = Principal(id="knowledge", kind="service", scopes=frozenset({"*"}))
"""The caller of runs that nobody has asked for: after a restart, or of the board file."""

Vectors = dict[str, tuple[tuple[float, ...], ...]]
"""By the id of a piece, one for each of its passages."""
_BATCH = 64
_NOTHING_LEFT = "Nothing of it answers: all of its text is left out."
_TERMINAL = frozenset({"ready", "held", "failed"})


class _StoredVectors(Struct, frozen=True):
    embedder: str
    vectors: Vectors


def ingestion_graph(document: str) -> Graph:
    """The graph that takes a document in."""
    node = Node(id=DOCUMENT, kind=DOCUMENT, config={"document": document})
    return Graph(nodes=(node,), name="document", output=f"$.steps.{DOCUMENT}.output")


class DocumentNode:
    """Takes in one document; each step is recorded, and none is done twice.

    Its pieces answer once all of them are stored; until then those of an older text answer.

    Args:
        parts: The stores, the converter and the embedder.
    """

    name = DOCUMENT
    fields = frozenset({"config"})

    def __init__(self, parts: Callable[[], KnowledgeParts]) -> None:
        self._parts = parts

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        if not isinstance(node.config.get("document"), str) or len(node.config) != 1:
            yield "config", "document_missing", "A node of kind 'document' names the document."

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:  # noqa: ARG002 - always the same
        return {"type": "object", "properties": {"state": {"type": "string"}}}

    async def run(self, context: NodeContext) -> NodeRun:
        parts = self._parts()
        return await _Ingestion(parts, context, str(context.node.config["document"])).run()


class _Ingestion:
    """One attempt to take in a document."""

    def __init__(self, parts: KnowledgeParts, context: NodeContext, document: str) -> None:
        self._parts = parts
        self._context = context
        self._id = document
        self._attempt = 0
        self._pieces: list[Piece] | None = None
        self._embedded: dict[str, str] = {}
        self._costs = ModelCosts(None, context.principal)

    async def run(self) -> NodeRun:
        row, base = await self._require()
        self._costs = count_costs(self._context, self._parts, base, row)
        converted = await self._step("convert", lambda: self._convert(row, base))
        if converted.state is not NodeState.COMPLETED or "state" in converted.output:
            return converted  # failed, or held back
        if converted.output.get("attempt", self._attempt) != self._attempt:
            return as_failed(self._context.step, _gone(self._id))  # it is another run's by now
        revision = int(converted.output["revision"])
        text = await self._parts.documents.get_text(self._id, revision)
        if text is None:
            return as_failed(self._context.step, _gone(self._id))
        cut = await self._step("cut", lambda: self._cut(base, text))
        if cut.state is not NodeState.COMPLETED:
            return cut
        embedder = self._costs.wrap_embedder(self._parts.embedder(base.settings))
        vectors: Vectors = {}
        try:
            pieces = await self._make_pieces(base, text)
            if embedder is not None and pieces:
                vectors = await self._embed(embedder, pieces, revision)
        except PegboardError as error:
            failure = error
            return await self._step("embed", lambda: _raise(failure))
        return await self._step(
            "store", lambda: self._store(revision, text, pieces, vectors, embedder=embedder)
        )

    async def _require(self) -> tuple[StoredDocument, KnowledgeBase]:
        """The document, and its base.

        Raises:
            DocumentNotFound: One is gone, or is not for this caller: any graph may name one.
        """
        row = await self._parts.documents.get(self._id)
        base = None if row is None else self._parts.bases.get(row.base)
        principal = self._context.principal
        if row is None or base is None:
            raise _gone(self._id)
        is_seen = may_edit_base(principal, base) and is_document_visible(principal, row)
        if principal != INGESTER and not is_seen:
            raise _gone(self._id)
        self._attempt = row.attempt
        return row, base

    async def _step(self, label: str, work: Callable[[], Awaitable[dict[str, Any]]]) -> NodeRun:
        """Do a step once over all attempts; a failure is that of the document."""
        step = self._context.step

        async def run(key: str) -> NodeRun:
            try:
                output = await work()
            except PegboardError as error:
                await self._fail(error)
                return as_failed(step, error, usage=self._costs.usage)
            if label == "convert":
                output["run"] = self._context.call_context(key).run_id
                output["attempt"] = self._attempt
            return NodeRun(
                id=step, state=NodeState.COMPLETED, output=output, usage=self._costs.usage
            )

        return await self._context.run_once(run, label=label)

    async def _change(
        self, defaults: Mapping[str, Any] | None = None, **changes: Any
    ) -> StoredDocument:
        """Change fields of the row, and those that are empty.

        Raises:
            DocumentNotFound: It was deleted, or is taken in anew by another run.
        """
        parts = self._parts
        changes["updated_at"] = parts.environment().now()
        changed = await parts.documents.change(
            self._id, changes, attempt=self._attempt, defaults=defaults or {}
        )
        if changed is None:
            raise _gone(self._id)
        parts.changes.notify(DocumentChange(changed.base, self._id))
        return changed

    async def _fail(self, error: PegboardError) -> None:
        if isinstance(error, DocumentNotFound):
            if (
                await self._parts.documents.get(self._id) is None
            ):  # it was deleted meanwhile, else it is another run's
                await self._parts.blobs.delete_below(f"documents/{self._id}")
            return
        reason = error.reason if isinstance(error, DocumentUnreadable) else ""
        code = f"{error.code}.{reason}" if reason else error.code
        await self._change(state="failed", code=code, reason=error.message, done=0, total=0)

    # steps

    async def _convert(self, row: StoredDocument, base: KnowledgeBase) -> dict[str, Any]:
        """Make a text of the file; one that waits for its review is there already."""
        parts, revision = self._parts, row.revision + 1
        run_id = self._context.call_context("run").run_id
        known = await parts.documents.get_text(self._id, revision) if row.review else None
        if known is None:
            await self._change(state="converting", run=run_id, code="", reason="", done=0, total=0)
            known = await self._read_file(row)
            await parts.documents.put_text(self._id, revision, known)
        serious = [item for item in known.findings if item.kind in SERIOUS]
        if serious and not row.review:
            await self._change(
                state="held", run=run_id, reason=_describe_findings(serious), pages=len(known.pages)
            )
            return {"state": "held", "revision": revision}
        pages = len(known.pages)
        await self._change(
            {"title": known.title, "edition": known.date},
            state="cutting",
            run=run_id,
            media_type=known.media_type,
            pages=pages,
            code="",
            reason="",
            done=pages,
            total=pages,
        )
        return {"revision": revision, "pages": pages, "base": base.id}

    async def _read_file(self, row: StoredDocument) -> ConvertedDocument:
        converter = self._parts.converter
        if converter is None:
            raise DocumentUnreadable(
                "This board cannot convert documents: pip install 'pegboard[knowledge]'",
                reason="no_converter",
            )
        async with open_copy(self._parts, row) as file:
            text = await converter.convert(
                file, name=row.name, media_type=row.media_type, counter=self._costs
            )
        return await asyncio.to_thread(find_in_document, text)

    async def _cut(self, base: KnowledgeBase, text: ConvertedDocument) -> dict[str, Any]:
        pieces = await self._make_pieces(base, text)
        await self._change(state="embedding", done=0, total=len(pieces))
        return {"pieces": len(pieces)}

    async def _make_pieces(self, base: KnowledgeBase, text: ConvertedDocument) -> list[Piece]:
        """The pieces, the same in each attempt, without the places that a reviewer leaves out."""
        if self._pieces is None:
            self._pieces = await self._cut_text(base, text)
        return self._pieces

    async def _cut_text(self, base: KnowledgeBase, text: ConvertedDocument) -> list[Piece]:
        row = await self._parts.documents.get(self._id)
        if row is None:
            raise _gone(self._id)
        settings = CutSettings(method=base.settings.cut, tokens=base.settings.tokens)
        embedder = self._costs.wrap_embedder(self._parts.embedder(base.settings))
        if row.review == "leave_out":
            text = structs.replace(text, text=blank_findings(text.text, text.findings))
        return await cut(text, settings, id=row.id, base=row.base, embedder=embedder)

    async def _embed(self, embedder: Embedder, pieces: Sequence[Piece], revision: int) -> Vectors:
        """The vectors of the pieces that have none yet.

        Each batch is stored beside the file until all are in the index, so that a killed server
        does not pay for them again.
        """
        self._embedded = await find_embedded(
            pieces, self._parts.index, document=self._id, embedder=embedder.name
        )
        missing = [piece for piece in pieces if piece.id not in self._embedded]
        found: Vectors = {}
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            found |= await self._embed_batch(embedder, batch, f"{revision}-{start}")
            done = len(pieces) - len(missing) + start + len(batch)
            await self._change(state="embedding", done=done, total=len(pieces))
        return found

    async def _embed_batch(self, embedder: Embedder, batch: Sequence[Piece], label: str) -> Vectors:
        blobs, key = self._parts.blobs, f"documents/{self._id}/vectors/{label}"
        wanted = {piece.id for piece in batch}
        stored = await _read_all(blobs, key)
        if stored:
            known = msgpack.decode(stored, type=_StoredVectors)
            if known.embedder == embedder.name and wanted == known.vectors.keys():
                return dict(known.vectors)
        made = await embed_pieces(batch, embedder)
        body = msgpack.encode(_StoredVectors(embedder=embedder.name, vectors=made))
        await blobs.put(key, _once(body), limit=len(body))
        return made

    async def _store(
        self,
        revision: int,
        text: ConvertedDocument,
        pieces: Sequence[Piece],
        vectors: Vectors,
        *,
        embedder: Embedder | None,
    ) -> dict[str, Any]:
        """Store all pieces at once, and let them answer."""
        parts, name = self._parts, "" if embedder is None else embedder.name
        row = await self._change(state="storing", done=0, total=len(pieces))
        indexed = await asyncio.to_thread(_index_all, pieces, row.title, vectors, self._embedded)
        await parts.index.put(self._id, revision, indexed, embedder=name)
        try:
            row = await self._change(
                state="ready",
                answers=True,
                revision=revision,
                pieces=len(pieces),
                done=len(pieces),
                total=len(pieces),
                reason=_describe_gaps(text) if pieces else _NOTHING_LEFT,
            )
        except DocumentNotFound:
            if await parts.documents.get(self._id) is None:
                await parts.documents.delete(self._id)  # what was stored after its deletion
            raise
        await self._replace_edition(row)
        await parts.blobs.delete_below(f"documents/{self._id}/vectors")
        return {"state": "ready", "pieces": len(pieces)}

    async def _replace_edition(self, row: StoredDocument) -> None:
        """Let the document that this one replaces answer no more."""
        documents = self._parts.documents
        other = await documents.get(row.replaces) if row.replaces else None
        if other is not None and other.base == row.base and other.id != row.id:
            await documents.change(other.id, {"replaced_by": row.id})
            self._parts.changes.notify(DocumentChange(other.base, other.id))


def count_costs(
    context: NodeContext,
    parts: KnowledgeParts,
    base: KnowledgeBase,
    row: StoredDocument | None = None,
) -> ModelCosts:
    """What models use in a run of a base: it counts for its caller.

    In a run that nobody has asked for, it counts for the owner of the document, or else of the
    base; for nobody where the board file has the base.
    """
    payer, stored = context.principal, base.resource
    if payer == INGESTER and stored is not None:
        owner = stored.owner if row is None else row.owner
        tenant, _, user = owner.rpartition("/")
        if user and not tenant:
            payer = Principal(id=user, user=user, tenant=stored.organisation)

    def report(model: str, usage: ModelUsage) -> None:
        context.emit("usage", {"model": model, **to_builtins(usage)})

    return ModelCosts(parts.environment().quotas, payer, report=report)


@asynccontextmanager
async def open_copy(parts: KnowledgeParts, row: StoredDocument) -> AsyncGenerator[Path]:
    """A file of this machine with the contents of a document, which goes at the end.

    Raises:
        DocumentNotFound: It was deleted.
    """
    with tempfile.TemporaryDirectory(prefix="document-", dir=parts.working) as folder:
        path = Path(folder) / "file"
        with path.open("wb") as file:
            try:
                async for chunk in parts.blobs.read(row.blob):
                    await asyncio.to_thread(file.write, chunk)
            except FileNotFoundError as error:
                raise _gone(row.id) from error
        yield path


def is_settled(row: StoredDocument) -> bool:
    """Whether nothing more happens to a document by itself."""
    return row.state in _TERMINAL


def _index_all(
    pieces: Sequence[Piece], title: str, vectors: Vectors, embedded: Mapping[str, str]
) -> list[IndexedPiece]:
    return [
        structs.replace(
            index_piece(piece, title=title),
            vectors=vectors.get(piece.id, ()),
            same_as=embedded.get(piece.id, ""),
        )
        for piece in pieces
    ]


async def _raise(error: PegboardError) -> dict[str, Any]:
    raise error


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


async def _read_all(blobs: BlobStore, key: str) -> bytes:
    try:
        return b"".join([chunk async for chunk in blobs.read(key)])
    except FileNotFoundError:
        return b""


def _describe_findings(found: Sequence[DocumentFinding]) -> str:
    first, more = found[0], len(found) - 1
    where = f"Page {first.page}: " if first.page else ""
    rest = f" {more} more {'place' if more == 1 else 'places'} of the document would hold it, too."
    return f"{where}{first.reason or 'it is not what it seems.'}{rest if more else ''}"


def _describe_gaps(text: ConvertedDocument) -> str:
    gaps = text.receipt.gaps
    if not gaps:
        return ""
    first = f"{f'page {gaps[0].page}: ' if gaps[0].page else ''}{gaps[0].reason}"
    return f"{len(gaps)} part(s) did not come out: {first}"


def _gone(document: str) -> DocumentNotFound:
    return DocumentNotFound(f"There is no document '{document[:100]}'.")
