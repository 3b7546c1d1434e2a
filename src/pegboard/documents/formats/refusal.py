"""Why a file cannot be read: what a reader raises inside the sandboxed process."""

from typing import Literal

from pegboard.errors import DocumentUnreadable

Reason = Literal[
    "broken", "empty", "encrypted", "no_vision_model", "not_its_name", "too_large", "unsupported"
]


def refuse_file(reason: Reason, message: str) -> DocumentUnreadable:
    """The error for a file that cannot be read.

    Args:
        reason: What is wrong with it.
        message: The same for a person, in a sentence.
    """
    return DocumentUnreadable(message, reason=reason)
