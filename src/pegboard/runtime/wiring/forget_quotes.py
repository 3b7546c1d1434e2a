"""Takes the quotes of a deleted document out of conversations, runs, and what was kept of calls."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from msgspec import structs

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.ports.conversation_store import Exchange
from pegboard.core.ports.maintenance import QuotePlaces
from pegboard.errors import Unavailable
from pegboard.features.completions.service import COMPLETION
from pegboard.features.knowledge.deletion import Quotes
from pegboard.features.knowledge.evidence import blank_citation
from pegboard.features.knowledge.gatherings import GATHER
from pegboard.features.knowledge.ingestion import INGESTER
from pegboard.features.knowledge.quotes import QuoteFinder
from pegboard.features.knowledge.vectors import VECTORS

if TYPE_CHECKING:
    from pegboard.features.runs import Runs
    from pegboard.storage import Storage

MAX_WAIT = 30.0
"""Seconds until a cancelled run must have ended, as long as a lease of a dead server lasts."""
_PAUSE = 0.05
_AT_ONCE = 200
"""Runs that one transaction deletes: others write in between."""
_GONE = "(What this call has found is gone: a document that it quotes was deleted.)"
_OF_MANY = frozenset({GATHER, VECTORS})
"""Graphs whose runs name many documents, and quote none."""


@dataclass(slots=True, kw_only=True)
class ForgetQuotes:
    """Forgets what quotes one document, wherever it is executed.

    Args:
        storage: Stores conversations, runs and approvals.
        runs: Cancels those that are under way.
        quotes: The document, and what quotes it.
        max_wait: Seconds until the cancelled runs must have ended.
    """

    storage: "Storage"
    runs: "Runs"
    quotes: Quotes
    max_wait: float = MAX_WAIT
    _cancelled: set[str] = field(default_factory=set[str], init=False)
    _changed: set[str] = field(default_factory=set[str], init=False)

    async def forget(self) -> int:
        """Forget it; answers keep their own words, and the runs that read it are deleted.

        Returns:
            How many answers changed.

        Raises:
            Unavailable: A run that was cancelled has not ended yet.
        """
        deadline = time.monotonic() + self.max_wait
        found = await self._find()
        runs = {*await self._redact_conversations(found), *await self._find_follow_ups()}
        unfinished = await self._end_all(sorted({*runs, *found.runs}))
        while unfinished:
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"The document answers no more, but run '{unfinished[0]}', which has read it, "
                    "has not ended yet. Delete it again in a moment.",
                    retry_after=self.max_wait,
                )
            await asyncio.sleep(_PAUSE)
            unfinished = await self._end_all(unfinished)
            if not unfinished:  # they may have begun others
                unfinished = await self._end_all((await self._find()).runs)
        if self._cancelled:
            found = await self._find()
        await self._redact_conversations(found)
        return len(self._changed)

    async def _end_all(self, runs: Sequence[str]) -> list[str]:
        """Cancel or delete runs; those that have not ended yet."""
        left: list[str] = []
        for at in range(0, len(runs), _AT_ONCE):
            left += await self._end_some(runs[at : at + _AT_ONCE])
        return left

    async def _find(self) -> QuotePlaces:
        quotes = self.quotes
        return await self.storage.upkeep.find_quoting(quotes.document, since=quotes.since)

    async def _find_follow_ups(self) -> list[str]:
        """The runs to which a client has sent an earlier answer that quotes the document."""
        quotes = self.quotes
        if quotes.read_at is None:
            return []
        words = (COMPLETION, "assistant")
        runs = await self.storage.upkeep.find_started_with(words, since=quotes.read_at)
        return [run for run in runs if await self._is_follow_up(run)]

    async def _is_follow_up(self, run_id: str) -> bool:
        run = await self.storage.runs.get(run_id)
        if run is None or run.start.principal.owner not in self.quotes.readers:
            return False
        messages: Sequence[Mapping[str, Any]] = run.start.params.get("messages") or ()
        said = [it for it in messages if it.get("role") != "user"]
        finder = self.quotes.finder
        return await in_thread(lambda: finder.redact_data(said) != said, is_large=True)

    async def _redact_conversations(self, found: QuotePlaces) -> set[str]:
        """The runs that have answered in them, with those outside of conversations."""
        runs = set(self.quotes.subjects)
        known = await self.storage.conversations.list_known(self.quotes.subjects)
        for conversation in sorted({*found.conversations, *known}):
            for exchange in await self.storage.conversations.exchanges(conversation):
                runs.add(exchange.run_id)
                clean = _redact(exchange, self.quotes.document, self.quotes.finder)
                if clean != exchange and await self.storage.conversations.rewrite(clean):
                    self._changed.add(exchange.id)
        return runs

    async def _end_some(self, ids: Sequence[str]) -> list[str]:
        """Cancel runs, or delete those that have ended; the others are still there."""
        runs = await self.storage.runs.get_all(ids)
        # Read after the runs: the end of an exchange is stored after that of its run.
        exchanges = await self.storage.conversations.working()
        working = {exchange.run_id for exchange in exchanges}
        left: list[str] = []
        ended: list[str] = []
        for id_, run in runs.items():
            if run.finished_at is not None:
                (left if id_ in working else ended).append(id_)
            elif run.start.graph.get("name") not in _OF_MANY:
                left.append(id_)
                if id_ not in self._cancelled:
                    self._cancelled.add(id_)
                    await self.runs.end(run, by=INGESTER)
        if ended:
            await self.storage.upkeep.forget_calls_of(ended)
            await self.storage.runs.forget_runs(ended)
        return left


def _redact(exchange: Exchange, document: str, finder: QuoteFinder) -> Exchange:
    gone = {it.number for it in exchange.citations if it.document == document}
    return structs.replace(
        exchange,
        answer=finder.redact(exchange.answer),
        messages=tuple(_redact_message(it, document, finder) for it in exchange.messages),
        error=finder.redact_data(exchange.error),
        citations=tuple(blank_citation(it, document) for it in exchange.citations),
        conflicts=tuple(it for it in exchange.conflicts if not {it.first, it.second} & gone),
    )


def _redact_message(
    message: Mapping[str, Any], document: str, finder: QuoteFinder
) -> Mapping[str, Any]:
    """A message of a model or of a tool without quotes; one of a person as it is."""
    if message.get("role") == "user":
        return message
    if message.get("role") == "tool" and document in str(message):
        kept = {name: message[name] for name in ("role", "call_id", "name") if name in message}
        return {**kept, "text": _GONE}
    return finder.redact_data(message)
