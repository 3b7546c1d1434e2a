"""Why a file cannot be read: what a reader raises inside the sandboxed process."""

from typing import Literal

Reason = Literal[
    "broken", "empty", "encrypted", "no_vision_model", "not_its_name", "too_large", "unsupported"
]


class UnreadableFile(Exception):
    """A file that cannot be read.

    Args:
        reason: What is wrong with it, as of `DocumentUnreadable`.
        message: The same for a person, in a sentence.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
