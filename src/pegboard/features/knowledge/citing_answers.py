"""Which answers cite a document: those of the caller alone."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct, to_builtins

from pegboard.core.knowledge import Citation
from pegboard.core.pagination import decode_cursor, encode_cursor
from pegboard.core.ports.conversation_store import Conversation, ConversationStore
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.ports.knowledge.evidence_store import (
    EvidencePlace,
    EvidenceStore,
    StoredEvidence,
)
from pegboard.core.principal import Principal
from pegboard.errors import RunNotFound
from pegboard.features.key_limits import limit_keys
from pegboard.features.runs import Runs

_PLACES = 50
"""Conversations, runs and questions that are read at once."""
_MAX_PLACES = 500
"""That are read for one page."""


class CitingAnswer(Struct, frozen=True, kw_only=True):
    """An answer that cites a document.

    Attributes:
        kind: Where it stands.
        id: Of the conversation, the call that asked, or the run.
        exchange: Of a conversation: the id of the message.
        title: Of the conversation, else the question.
        numbers: By which it cites the document.
    """

    kind: Literal["conversation", "ask", "run"]
    id: str
    title: str
    question: str
    at: float
    numbers: tuple[int, ...]
    exchange: str = ""

    def to_dict(self) -> dict[str, Any]:
        """A `CitingAnswerView`."""
        return to_builtins(self)


@limit_keys("knowledge bases", reads=("list",))
class CitationFinder:
    """Finds the answers that cite a document.

    What was found and not cited is no citation. Others' answers are neither listed nor counted.

    Args:
        evidence: Stores what was found.
        conversations: Stores the answers of chats.
        runs: Knows which runs a caller may see.
    """

    def __init__(
        self, evidence: EvidenceStore, conversations: ConversationStore, runs: Runs
    ) -> None:
        self._evidence = evidence
        self._conversations = conversations
        self._runs = runs

    async def list(
        self, row: StoredDocument, *, limit: int = 100, cursor: str = "", principal: Principal
    ) -> tuple[list[CitingAnswer], str]:
        """A page of the answers of a caller that cite a document that the caller sees.

        Conversations, runs and questions come in the order in which they last found the document,
        the last first. All answers of a conversation are on one page.

        Args:
            row: The document.
            limit: How many answers end the page; it has more where a conversation has.
            cursor: That of the page before; empty at first.
            principal: The caller.

        Returns:
            The answers, of which there may be none, and the cursor of the next page; empty for
            none.

        Raises:
            InvalidRequest: The cursor is invalid.
        """
        before = decode_cursor(cursor, float, str)
        found: list[CitingAnswer] = []
        for _ in range(_MAX_PLACES // _PLACES):
            places = await self._evidence.list_places(
                principal.owner, row.id, before=before, limit=_PLACES
            )
            for place in places:
                found += await self._list_place(place, row.id, principal)
                before = place.at, place.id
                if len(found) >= limit:
                    return found, encode_cursor(*before)
            if len(places) < _PLACES:
                return found, ""
        return found, "" if before is None else encode_cursor(*before)

    async def _list_place(
        self, place: EvidencePlace, document: str, principal: Principal
    ) -> "list[CitingAnswer]":
        """The answers of a place that cite a document, the last first."""
        if not any(stored.subject for stored in place.rows):
            asked = (_cite_ask(stored, document) for stored in place.rows)
            return [answer for answer in asked if answer is not None]
        conversation = await self._conversations.get(place.id)
        if conversation is None:
            found = await self._list_run(place.id, place.rows, document, principal)
        elif conversation.belongs_to(principal):
            found = await self._list_exchanges(conversation, document)
        else:
            found = []
        return sorted(found, key=lambda answer: answer.at, reverse=True)

    async def _list_exchanges(
        self, conversation: Conversation, document: str
    ) -> "list[CitingAnswer]":
        exchanges = await self._conversations.exchanges(conversation.id)
        return [
            CitingAnswer(
                kind="conversation",
                id=conversation.id,
                exchange=exchange.id,
                title=conversation.title or exchange.text,
                question=exchange.text,
                at=exchange.finished_at or exchange.created_at,
                numbers=numbers,
            )
            for exchange in exchanges
            if (numbers := tuple(_list_numbers(exchange.citations, document)))
        ]

    async def _list_run(
        self, run: str, rows: "Sequence[StoredEvidence]", document: str, principal: Principal
    ) -> "list[CitingAnswer]":
        try:
            await self._runs.get(run, principal=principal)
        except RunNotFound:
            return []  # its conversation was deleted, or it is not for the caller
        found = [_cite_ask(stored, document, run=run) for stored in rows]
        return [cited for cited in found if cited is not None]


def _cite_ask(stored: StoredEvidence, document: str, *, run: str = "") -> CitingAnswer | None:
    numbers = tuple(_list_numbers(stored.evidence.citations, document))
    if stored.mode != "grounding" or not numbers:
        return None
    return CitingAnswer(
        kind="run" if run else "ask",
        id=run or stored.call,
        title=stored.question,
        question=stored.question,
        at=stored.at,
        numbers=numbers,
    )


def _list_numbers(citations: "tuple[Citation, ...]", document: str) -> Iterator[int]:
    for citation in citations:
        if citation.document == document and citation.quote:
            yield citation.number
