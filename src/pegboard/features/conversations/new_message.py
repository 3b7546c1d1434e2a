"""A message that a person sends, and what identifies it."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from pegboard.core.event import digest_of
from pegboard.core.principal import Principal
from pegboard.features.conversations.message_files import MessageFile, NewFile

When = Literal["queue", "steer", "stop"]
"""What a message does while another one is being answered: wait for the answer, reach the agent at
its next step, or stop it and be answered before all others that wait."""
_MAX_TITLE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message of a person.

    Attributes:
        text: The message; empty to answer `instead_of` again.
        conversation: Which it continues; empty for a new one.
        agent: The agent that answers from now on; None leaves it as it is.
        model: The model that answers from now on; None leaves it as it is.
        engine: `auto`, `react` or `dag` from now on, empty for that of the agent; None leaves it.
        accounts: By source, the name of the caller's credential to call with from now on; None
            leaves them.
        instead_of: The last message of the branch, which this one replaces.
        when: What happens while another message is being answered.
        files: Put into the workspace of the conversation, and named to the agent; a message that
            replaces another one keeps the files of that one.
        key: An idempotency key: the same key is the same message; empty for none.
    """

    text: str
    conversation: str = ""
    agent: str | None = None
    model: str | None = None
    engine: str | None = None
    accounts: Mapping[str, str] | None = None
    instead_of: str = ""
    when: When = "queue"
    files: Sequence[NewFile] = ()
    key: str = ""


def identify(prefix: str, principal: Principal, key: str) -> str:
    """The id of what a caller sends under a key; a new one without a key."""
    if not key:
        return f"{prefix}_{secrets.token_hex(12)}"
    return f"{prefix}_{sha256(f'{principal.owner} {prefix} {key}'.encode()).hexdigest()[:24]}"


def make_title(text: str) -> str:
    """The title of a conversation that begins with this text: one line."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 1].rstrip()}…"


def digest_message(message: NewMessage) -> str:
    """The digest of what a message with a key asks for; empty without a key."""
    if not message.key:
        return ""
    names = ("text", "conversation", "agent", "model", "engine", "instead_of", "when")
    files = [
        (it.name, sha256(it.data).hexdigest() if isinstance(it, MessageFile) else it.id)
        for it in message.files
    ]
    asked = {**{name: getattr(message, name) for name in names}, "files": files}
    if message.accounts is not None:
        asked["accounts"] = dict(message.accounts)
    return digest_of(asked)
