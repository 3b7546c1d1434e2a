"""Files that come with a message: they go into the workspace of the conversation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pegboard.core.ports.conversation_files import ConversationFiles, NewContent
from pegboard.core.ports.conversation_store import Exchange, ExchangeFile
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest
from pegboard.features.files import Files

FILE_NAME = r"^\w[\w .,()+-]{0,199}$"
"""The name of a file: no folders, not hidden, and nothing that a message would have to quote."""
_STRANGE = re.compile(r"[^\w .,()+-]")
_NAME = re.compile(FILE_NAME.strip("^$"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFile:
    """A file that comes with a message.

    Attributes:
        name: A single name, without folders.
    """

    name: str
    data: bytes = field(repr=False)

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self.data)


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageUpload:
    """A stored file that comes with a message: an upload that is finished.

    Attributes:
        id: Of the file.
        name: A single name, without folders; empty for that of the file.
    """

    id: str
    name: str = ""


NewFile = MessageFile | MessageUpload


async def write_files(
    store: ConversationFiles | None,
    files: Sequence[NewFile],
    conversation: str,
    principal: Principal,
    *,
    uploads: Files | None = None,
) -> tuple[ExchangeFile, ...]:
    """Put the files of a message into the workspace of its conversation: all, or none.

    Args:
        store: The workspaces; None where there are none.
        files: Of one message; of two with the same name, the last one is taken.
        conversation: The conversation.
        principal: Whose it is.
        uploads: The files that are stored; None where there are none.

    Raises:
        InvalidRequest: A name is none of a file.
        FileMissing: A stored file does not exist, or the caller may not see it.
    """
    if not files:
        return ()
    known: dict[str, NewContent] = {}
    sizes: dict[str, int] = {}
    for item in files:
        file = item if isinstance(item, MessageFile) else await _find(item, principal, uploads)
        known[file.name] = file.data
        sizes[file.name] = file.size
    if store is None or not all(map(_NAME.fullmatch, known)):
        raise InvalidRequest("The name of a file has letters, digits and ' .,()+-_', no folders.")
    await store.write(conversation, principal, known)
    return tuple(ExchangeFile(name=name, size=size) for name, size in sizes.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    name: str
    size: int
    data: NewContent


async def _find(wanted: MessageUpload, principal: Principal, uploads: Files | None) -> _Content:
    if uploads is None:
        raise InvalidRequest("Nothing stores files here.")
    file = await uploads.find(wanted.id, principal=principal)
    name = wanted.name or _STRANGE.sub("_", file.name).lstrip(" .,()+-") or "file"
    return _Content(name=name[:200], size=file.size, data=uploads.read(file))


def join_files(
    before: Sequence[ExchangeFile], new: Sequence[ExchangeFile]
) -> tuple[ExchangeFile, ...]:
    """The files of a message that replaces another one: those of both, each name once."""
    return tuple({file.name: file for file in (*before, *new)}.values())


def describe_message(exchange: Exchange) -> str:
    """A message as its agent reads it: the text, and which files came with it."""
    if not exchange.files:
        return exchange.text
    shown = ", ".join(f"`{file.name}` ({file.size:,} bytes)" for file in exchange.files)
    return f"{exchange.text}\n\nFiles in the workspace: {shown}"
