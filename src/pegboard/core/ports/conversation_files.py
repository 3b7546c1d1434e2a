"""The port to the files of conversations: each conversation has a workspace of its own."""

from pathlib import Path
from typing import Protocol

from pegboard.core.principal import Principal


class ConversationFiles(Protocol):
    """Folders of conversations, in which the file tools of their answers work."""

    def folder(self, conversation: str, principal: Principal) -> Path:
        """The workspace of a conversation; its path follows from the conversation and its owner."""
        ...

    async def write(
        self, conversation: str, principal: Principal, *, name: str, data: bytes
    ) -> None:
        """Write a file into the workspace, in place of one of the same name.

        Raises:
            InvalidRequest: The name is none of a file, or something else has it.
        """
        ...

    async def remove(self, conversation: str, principal: Principal) -> None:
        """Delete the workspace, if there is one."""
        ...
