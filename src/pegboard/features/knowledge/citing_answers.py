"""Which answers cite a document: those of the caller alone."""

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct, to_builtins

from pegboard.core.knowledge import Citation
from pegboard.core.ports.conversation_store import Conversation, ConversationStore
from pegboard.core.ports.document_store import StoredDocument
from pegboard.core.ports.evidence_store import EvidenceStore, StoredEvidence
from pegboard.core.principal import Principal
from pegboard.errors import RunNotFound
from pegboard.features.runs import Runs

_MAX_ANSWERS = 100
_MAX_SUBJECTS = 200
"""Conversations and runs that are read, the last first."""


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
        self, row: StoredDocument, *, principal: Principal
    ) -> tuple[list[CitingAnswer], bool]:
        """The answers of a caller that cite a document that the caller sees, the last first.

        Returns:
            The last of them, and whether there may be others: of conversations and runs that have
            found the document only the last 200 are read.
        """
        found: list[CitingAnswer] = []
        by_subject: dict[str, list[StoredEvidence]] = {}
        for stored in reversed(await self._evidence.list_document(row.id)):
            if stored.owner != principal.owner:
                continue
            if stored.subject:
                by_subject.setdefault(stored.subject, []).append(stored)
            elif answer := _cite_ask(stored, row.id):
                found.append(answer)
        for subject, rows in [*by_subject.items()][:_MAX_SUBJECTS]:
            conversation = await self._conversations.get(subject)
            if conversation is None:
                found += await self._list_run(subject, rows, row.id, principal)
            elif conversation.belongs_to(principal):
                found += await self._list_exchanges(conversation, row.id)
        found.sort(key=lambda it: it.at, reverse=True)
        has_more = len(by_subject) > _MAX_SUBJECTS or len(found) > _MAX_ANSWERS
        return found[:_MAX_ANSWERS], has_more

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
        self, run: str, rows: "list[StoredEvidence]", document: str, principal: Principal
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
