"""Files that come with a message: they go into the workspace of the conversation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pegboard.core.ports.conversation_files import ConversationFiles
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
) -> str:
    """Put files into the workspace of a conversation; what its message says of them.

    Args:
        store: The workspaces; None where there are none.
        files: Of one message.
        conversation: The conversation.
        principal: Whose it is.

    Raises:
        InvalidRequest: A name is none of a file.
    """
    if not files:
        return ""
    known = {file.name: file.data for file in files}  # of two with the same name, the last
    if store is None or not all(map(_NAME.fullmatch, known)):
        raise InvalidRequest("The name of a file has letters, digits and ' .,()+-_', no folders.")
    for name, data in known.items():
        await store.write(conversation, principal, name=name, data=data)
    shown = ", ".join(f"`{name}` ({len(data):,} bytes)" for name, data in known.items())
    return f"\n\nFiles in the workspace: {shown}"
