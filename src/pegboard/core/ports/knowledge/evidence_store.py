"""The evidence store port: what was found for questions, so that citations can be checked."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from pegboard.core.knowledge import Evidence

EvidenceMode = Literal["simple", "grounding", "read"]


class StoredEvidence(Struct, frozen=True, kw_only=True):
    """What one call has found.

    Attributes:
        call: The id of the call.
        subject: The conversation, or the outermost run, in which its numbers are unique; empty for
            a call outside of both.
        owner: Of the caller, as of `Principal.owner`.
        mode: `read` is a call that reads on inside a document.
        at: Unix seconds.
        took: Seconds.
        bases: The ids of those that were searched.
        documents: The ids of those that it quotes.
        last: The largest number of its citations; 0 without any.
    """

    call: str
    owner: str
    mode: EvidenceMode
    question: str
    at: float
    evidence: Evidence
    subject: str = ""
    took: float = 0.0
    bases: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    last: int = 0


class EvidencePlace(Struct, frozen=True, kw_only=True):
    """A conversation, a run, or a call outside of both, in which a document was quoted.

    Attributes:
        id: Of the subject of its rows, else of its only call.
        at: When the last of its calls was made.
        rows: What its calls have found that quotes the document, the oldest first.
    """

    id: str
    at: float
    rows: tuple[StoredEvidence, ...]


class EvidenceStore(Protocol):
    """Stores evidence until its call is forgotten, or the documents that it quotes are deleted."""

    async def put(self, evidence: StoredEvidence) -> None:
        """Store one, in place of the one of the same call."""
        ...

    async def put_all(self, evidence: Sequence[StoredEvidence]) -> None:
        """Store several at once, each in place of the one of the same call."""
        ...

    async def get(self, call: str) -> StoredEvidence | None:
        """The one of a call; None when there is none."""
        ...

    async def list_subject(self, subject: str) -> Sequence[StoredEvidence]:
        """Those of a conversation or run, the oldest first."""
        ...

    async def list_asked(
        self, owner: str, base: str, *, limit: int = 50
    ) -> Sequence[StoredEvidence]:
        """What a caller has asked a base outside of conversations and runs, the last first.

        Calls that read on inside a document ask nothing.
        """
        ...

    async def list_document(self, document: str) -> Sequence[StoredEvidence]:
        """Those that quote a document, the oldest first."""
        ...

    async def find_calls(self, owner: str, documents: Collection[str]) -> Mapping[str, str]:
        """The calls of an owner that quote any of these documents.

        Returns:
            By the id of a call, its conversation or run; empty for a call outside of them.
        """
        ...

    async def list_places(
        self, owner: str, document: str, *, before: tuple[float, str] | None = None, limit: int = 50
    ) -> Sequence[EvidencePlace]:
        """Where calls of an owner have quoted a document, the place of the last call first.

        Args:
            owner: Of the calls.
            document: Its id.
            before: `at` and `id` of the place behind which the list goes on; None at first.
            limit: At most so many places.
        """
        ...

    async def forget(self, *, before: float) -> int:
        """Delete those from before a time; returns how many."""
        ...
