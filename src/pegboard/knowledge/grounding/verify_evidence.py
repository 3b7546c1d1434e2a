"""Check evidence against the stored texts of its documents, before anybody is shown it."""

from collections.abc import Mapping

from msgspec import Struct, structs

from pegboard.core.knowledge import Citation, DocumentFinding, Evidence
from pegboard.knowledge.findings import blank_findings
from pegboard.knowledge.grounding.citations import verify_citation


class StoredText(Struct, frozen=True, kw_only=True):
    """The text of a document as it is stored, with its revision.

    Attributes:
        findings: What was found in it; the pieces may leave these places out.
    """

    revision: int
    text: str
    findings: tuple[DocumentFinding, ...] = ()

    def has_quote(self, citation: Citation) -> bool:
        """Whether the quote of a citation stands there, with its findings or without them."""
        return verify_citation(citation, self.text) or (
            bool(self.findings)
            and verify_citation(citation, blank_findings(self.text, self.findings))
        )


def verify_evidence(evidence: Evidence, texts: Mapping[str, StoredText]) -> Evidence:
    """Evidence without quotes that do not stand in the stored text of their document.

    The others are marked with its revision and keep their numbers. What is left out is counted,
    its conflicts go with it, and evidence without a quote is not enough.

    Args:
        evidence: The outcome of grounding.
        texts: By document.
    """
    citations = tuple(
        structs.replace(citation, revision=texts[citation.document].revision)
        for citation in evidence.citations
        if citation.document in texts and texts[citation.document].has_quote(citation)
    )
    numbers = {citation.number for citation in citations}
    enough = evidence.enough and bool(citations)
    is_lost = evidence.enough and not enough
    return structs.replace(
        evidence,
        citations=citations,
        conflicts=tuple(
            conflict
            for conflict in evidence.conflicts
            if enough and {conflict.first, conflict.second} <= numbers
        ),
        parts=tuple(
            structs.replace(part, citations=tuple(n for n in part.citations if n in numbers))
            for part in evidence.parts
        ),
        left_out=evidence.left_out + len(evidence.citations) - len(citations),
        enough=enough,
        reason="The documents have changed since they were searched."
        if is_lost
        else evidence.reason,
    )
