"""The tables of what was found for questions to knowledge bases."""

from sqlalchemy import Column, Index, Table

from pegboard.storage.columns import METADATA, NUMBER, make_key, make_seconds, make_text

EVIDENCE = Table(
    "evidence",
    METADATA,
    make_key("call"),
    make_text("subject"),
    make_text("owner"),
    make_text("asked_of"),
    make_seconds("at"),
    Column("last", NUMBER, nullable=False),
    make_text("body"),
)
"""`asked_of` is the base of a question that stands alone; empty in a conversation or run, and for
a call that reads on inside a document."""
Index("evidence_by_subject", EVIDENCE.c.subject)
Index("evidence_asked", EVIDENCE.c.owner, EVIDENCE.c.asked_of, EVIDENCE.c.at)
Index("evidence_by_time", EVIDENCE.c.at)

EVIDENCE_DOCUMENTS = Table("evidence_documents", METADATA, make_key("document"), make_key("call"))
Index("evidence_documents_by_call", EVIDENCE_DOCUMENTS.c.call)
