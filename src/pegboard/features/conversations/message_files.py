"""Files that come with a message: they go into the workspace of the conversation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pegboard.core.ports.conversation_files import ConversationFiles
from pegboard.core.ports.conversation_store import Exchange, ExchangeFile
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest

FILE_NAME = r"^\w[\w .,()+-]{0,199}$"
"""The name of a file: no folders, not hidden, and nothing that a message would have to quote."""
_NAME = re.compile(FILE_NAME.strip("^$"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFile:
    """A file that comes with a message.

    Attributes:
        name: A single name, without folders.
    """

    name: str
    data: bytes = field(repr=False)


async def write_files(
    store: ConversationFiles | None,
    files: Sequence[MessageFile],
    conversation: str,
    principal: Principal,
) -> tuple[ExchangeFile, ...]:
    """Put the files of a message into the workspace of its conversation: all, or none.

    Args:
        store: The workspaces; None where there are none.
        files: Of one message; of two with the same name, the last one is taken.
        conversation: The conversation.
        principal: Whose it is.

    Raises:
        InvalidRequest: A name is none of a file.
    """
    if not files:
        return ()
    known = {file.name: file.data for file in files}
    if store is None or not all(map(_NAME.fullmatch, known)):
        raise InvalidRequest("The name of a file has letters, digits and ' .,()+-_', no folders.")
    await store.write(conversation, principal, known)
    return tuple(ExchangeFile(name=name, size=len(data)) for name, data in known.items())


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
