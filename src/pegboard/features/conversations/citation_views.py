"""Citations of answers as JSON-compatible data."""

from typing import Any

from msgspec import to_builtins

from pegboard.core.knowledge import Citation


def view_citation(citation: Citation) -> dict[str, Any]:
    """A citation as data; one of a document that was deleted has no quote."""
    return {**to_builtins(citation), "is_deleted": not citation.quote}
