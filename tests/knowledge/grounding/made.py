"""What tests of grounding are made of: pieces as a search finds them."""

from pegboard.core.knowledge import Hit, Piece, Retrieval


def make_hit(text: str, *, document: str = "", score: float = 0.8, start: int = 0, **more) -> Hit:
    """A hit on a piece that begins at `start` in its document."""
    document = document or f"doc-{abs(hash(text)) % 10_000}"
    title, edition = more.pop("title", ""), more.pop("edition", "")
    piece = Piece(
        id=f"{document}:{start}",
        document=document,
        base="handbook",
        number=1,
        text=text,
        start=start,
        end=start + len(text),
        **more,
    )
    return Hit(piece=piece, score=score, title=title, edition=edition)


def make_retrieval(question: str, *texts: str | Hit) -> Retrieval:
    """What was found, best first; each text is a document of its own."""
    hits = [
        text if isinstance(text, Hit) else make_hit(text, document=f"doc-{number}")
        for number, text in enumerate(texts, start=1)
    ]
    return Retrieval(question=question, hits=tuple(hits))
