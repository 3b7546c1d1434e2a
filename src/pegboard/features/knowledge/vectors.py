"""Vectors of a base's embedding model: those that are missing are made beside the old ones.

Until all pieces have vectors of a new model, the model before answers, or words do; then the old
vectors go. A run makes them, so that a killed server goes on where it was.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.ports.embedder import Embedder
from pegboard.core.principal import LOCAL
from pegboard.core.run import NodeRun
from pegboard.core.tool import JsonSchema
from pegboard.errors import PegboardError, ResourceNotFound
from pegboard.execution.limits.model_costs import CountedEmbedder, ModelCosts
from pegboard.features.knowledge.bases import KnowledgeBase, may_edit_base
from pegboard.features.knowledge.ingestion import INGESTER, count_costs
from pegboard.features.knowledge.parts import DocumentChange, KnowledgeParts
from pegboard.features.runs import Runs
from pegboard.graphs.engine.node_results import as_failed
from pegboard.graphs.node_kind import NodeContext, SchemaOf
from pegboard.knowledge.indexing import embed_pieces

VECTORS = "vectors"
"""The node kind, and the name of the graphs that make missing vectors."""
_LOG = logging.getLogger("pegboard.knowledge")
_BATCH = 64
_PAUSE = 300.0
"""Seconds before a run that has failed is started again."""
_HOUR = 3_600
_MAX_RUNS = 50
"""Runs of one base and model in an hour."""


class VectorState(Struct, frozen=True, kw_only=True):
    """How far the vectors of a base are.

    Attributes:
        wanted: The model of the base; None where it works by words only.
        answering: The model whose vectors answer; None for words alone.
        missing: How many pieces have no vector of `wanted` yet.
    """

    wanted: Embedder | None = None
    answering: Embedder | None = None
    missing: int = 0


class Vectors:
    """Knows which vectors of a base answer, and has the missing ones made.

    Args:
        parts: The stores and the embedders.
        runs: Starts the runs.
    """

    def __init__(self, parts: KnowledgeParts, runs: Runs) -> None:
        self._parts = parts
        self._runs = runs
        self._whole: dict[str, str] = {}
        self._started: dict[str, tuple[str, float]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def find_answering(self, base: KnowledgeBase) -> Embedder | None:
        """The model whose vectors answer questions to a base; None for words alone."""
        wanted = self._parts.embedder(base.settings)
        if wanted is not None and self._whole.get(base.id) == wanted.name:
            return wanted
        return (await self.look(base)).answering

    async def look(self, base: KnowledgeBase) -> VectorState:
        """How far the vectors of a base are; has those that are missing made."""
        wanted = self._parts.embedder(base.settings)
        if wanted is None:
            self._whole.pop(base.id, None)
            return VectorState()
        missing = await self._parts.index.count_without_vectors(base.id, wanted.name)
        if not missing:
            self._whole[base.id] = wanted.name
            self._started.pop(base.id, None)
            return VectorState(wanted=wanted, answering=wanted)
        self._whole.pop(base.id, None)
        await self._start(base, wanted.name)
        counts = dict(await self._parts.index.count_vectors(base.id))
        own = counts.pop(wanted.name, 0)
        before = max(counts, key=lambda name: counts[name], default="")
        answering = wanted if own else None
        if before and counts[before] > own:
            answering = self._parts.find_embedder(before)
        return VectorState(wanted=wanted, answering=answering, missing=missing)

    def wake(self) -> None:
        """Look at all bases: the model may have changed since an earlier process."""
        task = asyncio.get_running_loop().create_task(self._look_at_all(), name="look at vectors")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Look at no more; what is under way goes on with its run."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait([*self._tasks])

    async def _look_at_all(self) -> None:
        for base in self._parts.bases.list_visible(LOCAL):
            with log_and_continue(_LOG, f"knowledge: the vectors of '{base.name}' are not checked"):
                await self.look(base)

    async def _start(self, base: KnowledgeBase, embedder: str) -> None:
        """Start the run, or follow the one that another server has started."""
        now = self._parts.environment().now()
        name, at = self._started.get(base.id, ("", 0.0))
        if name == embedder and now - at < _PAUSE:
            return
        self._started[base.id] = embedder, now
        graph = vectors_graph(base.id, embedder)
        for number in range(_MAX_RUNS):
            key = f"{VECTORS}\n{base.id}\n{embedder}\n{int(now) // _HOUR}\n{number}"
            try:
                run = (await self._runs.start_graph(graph, principal=INGESTER, key=key)).run
            except PegboardError as error:
                _LOG.warning("knowledge: '%s' is not embedded: %s", base.name, error)
                return
            if run.finished_at is None:
                return


def vectors_graph(base: str, embedder: str) -> Graph:
    """The graph that makes the vectors of a model that a base has not yet."""
    config = {"base": base, "embedder": embedder}
    node = Node(id=VECTORS, kind=VECTORS, config=config)
    return Graph(nodes=(node,), name=VECTORS, output=f"$.steps.{VECTORS}.output")


class VectorsNode:
    """Makes the missing vectors of a base, then deletes those of the models before.

    Args:
        parts: The stores and the embedders.
    """

    name = VECTORS
    fields = frozenset({"config"})

    def __init__(self, parts: Callable[[], KnowledgeParts]) -> None:
        self._parts = parts
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        texts = [node.config.get(name) for name in ("base", "embedder")]
        if len(node.config) != len(texts) or not all(isinstance(it, str) for it in texts):
            text = "A node of kind 'vectors' names the base and the embedder."
            yield "config", "vectors_unclear", text

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:  # noqa: ARG002 - always the same
        return {"type": "object", "properties": {"pieces": {"type": "integer"}}}

    async def run(self, context: NodeContext) -> NodeRun:
        config = context.node.config
        base = self._parts().bases.get(str(config["base"]))
        by = context.principal
        if base is None or (by != INGESTER and not may_edit_base(by, base)):
            raise ResourceNotFound("There is no such knowledge base.")
        costs = count_costs(context, self._parts(), base)
        try:
            async with self._locks[base.id]:  # a run of the hour before may be at work
                made = await self._make(base, str(config["embedder"]), costs)
        except PegboardError as error:
            return as_failed(context.step, error, usage=costs.usage)
        output: dict[str, Any] = {"pieces": made}
        return NodeRun(id=context.step, state=NodeState.COMPLETED, output=output, usage=costs.usage)

    async def _make(self, base: KnowledgeBase, name: str, costs: ModelCosts) -> int:
        """Make the missing vectors; how many pieces got some."""
        parts, made = self._parts(), 0
        last: list[str] = []
        while (embedder := parts.embedder(base.settings)) is not None and embedder.name == name:
            pieces = await parts.index.list_without_vectors(base.id, name, limit=_BATCH)
            if not pieces:
                await self._delete_old(base, name)
                break
            if (ids := [piece.id for piece in pieces]) == last:
                break  # these cannot be stored
            last = ids
            vectors = await embed_pieces(pieces, CountedEmbedder(embedder, costs))
            await parts.index.put_vectors(name, vectors)
            made += len(pieces)
            parts.changes.notify(DocumentChange(base.id))
        return made

    async def _delete_old(self, base: KnowledgeBase, name: str) -> None:
        index = self._parts().index
        for other in await index.count_vectors(base.id):
            if other != name:
                await index.delete_vectors(base.id, other)
