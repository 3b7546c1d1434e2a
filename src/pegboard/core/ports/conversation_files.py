"""The port to the files of conversations: each conversation has a workspace of its own."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pegboard.core.principal import Principal

NewContent = bytes | AsyncIterator[bytes]
"""The content of a new file; a large one arrives while it is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFile:
    """A file in the workspace of a conversation.

    Attributes:
        path: From the root of the workspace, with `/`.
        size: In bytes.
        modified_at: Unix seconds.
    """

    path: str
    size: int
    modified_at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFileList:
    """The files of a conversation, by their paths.

    Attributes:
        has_more: Whether there are more than these.
    """

    files: tuple[ConversationFile, ...] = ()
    has_more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationFileContent:
    """The content of a file, read while it is iterated.

    Attributes:
        chunks: As many bytes in all as the file has; iterated once.
    """

    file: ConversationFile
    chunks: AsyncIterator[bytes] = field(repr=False)


class ConversationFiles(Protocol):
    """Folders of conversations, in which the file tools of their answers work."""

    def folder(self, conversation: str, principal: Principal) -> Path:
        """The workspace of a conversation; its path follows from the conversation and its owner."""
        ...

    async def write(
        self, conversation: str, principal: Principal, files: Mapping[str, NewContent]
    ) -> None:
        """Write files into the workspace, in place of those of the same names: all, or none.

        Args:
            conversation: The conversation.
            principal: Whose it is.
            files: Their contents by their names, without folders.

        Raises:
            InvalidRequest: A name is none of a file, or something else has it.
        """
        ...

    async def list(
        self, conversation: str, principal: Principal, *, limit: int
    ) -> ConversationFileList:
        """The files of the workspace and its folders; links are left out."""
        ...

    async def open(
        self, conversation: str, principal: Principal, path: str
    ) -> ConversationFileContent | None:
        """A file of the workspace.

        Returns:
            None when the path names no regular file of the workspace, leads out of it, or leads
            through a link.
        """
        ...

    async def remove(self, conversation: str, principal: Principal) -> None:
        """Delete the workspace, if there is one."""
        ...
