"""The conversation store port: conversations, and the exchanges that they consist of.

An *exchange* is a message of a person with the answer to it. Exchanges form a tree: each names the
one before it, and editing a message adds a sibling. The conversation's `head` is the exchange at
the end of the branch that is shown.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from pegboard.core.knowledge import Citation, Conflict
from pegboard.core.model_messages import Finish
from pegboard.core.principal import Principal

ExchangeState = Literal[
    "queued", "working", "completed", "failed", "cancelled", "withdrawn", "steered"
]
"""`queued` waits for the exchange before it; `steered` was read by the run of that one, whose
answer takes it up; `withdrawn` was taken back before either."""


class ConversationGrant(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A standing approval: calls of one tool that need no further approval in a conversation.

    Attributes:
        version: For display: a tool is recognised by its definition.
        definition_digest: Of the definition of the tool; one that has changed is not covered. Empty
            where an older version of Pegboard has stored it, and then nothing is covered.
        reason: Why the policy asks; a call that needs an approval for another reason is not
            covered.
        arguments_digest: Of the only arguments that it covers; empty for any.
        shown: These arguments for display, redacted; None for any.
        account: The account that the calls act with, as of `Credential.account`; empty for none.
        approval: The approval that it was given with.
        granted_at: Unix seconds.
    """

    id: str
    tool: str
    version: str
    reason: str
    approval: str
    granted_by: str
    granted_at: float
    arguments_digest: str = ""
    shown: Any = None
    definition_digest: str = ""
    account: str = ""

    def covers(
        self,
        *,
        tool: str,
        definition_digest: str,
        reason: str,
        arguments_digest: str,
        account: str,
    ) -> bool:
        """Whether a call needs no further approval."""
        if (self.tool, self.reason, self.account) != (tool, reason, account):
            return False
        if not self.definition_digest or self.definition_digest != definition_digest:
            return False
        return self.arguments_digest in {"", arguments_digest}


class Conversation(Struct, frozen=True, kw_only=True):
    """A conversation.

    Attributes:
        principal: The id of the caller whose it is.
        title: For display; empty until the first message.
        agent: The agent that answers; empty for the generic assistant.
        model: The name of a model of the board; empty for the agent's.
        engine: `auto`, `react` or `dag`; empty for the agent's.
        head: The last exchange of the branch that is shown; empty without one.
        created_at: Unix seconds.
        updated_at: Unix seconds of the last message or answer.
        grants: Approvals that stand until the conversation is deleted.
        accounts: By source, the name of the caller's credential to call with; else the default.
    """

    id: str
    principal: str
    tenant: str = ""
    title: str = ""
    agent: str = ""
    model: str = ""
    engine: str = ""
    head: str = ""
    created_at: float = 0.0
    updated_at: float = 0.0
    grants: tuple[ConversationGrant, ...] = ()
    accounts: Mapping[str, str] = {}

    def belongs_to(self, principal: Principal) -> bool:
        """Whether it is the conversation of this caller."""
        return principal.owns(self.tenant, self.principal)


class ExchangeFile(Struct, frozen=True, kw_only=True):
    """A file that came with a message.

    Attributes:
        name: In the workspace of the conversation, without folders.
        size: In bytes, as it came.
    """

    name: str
    size: int


class Exchange(Struct, frozen=True, kw_only=True):
    """A message of a person, and the answer.

    Attributes:
        number: Assigned by the store; grows with each exchange.
        parent: The exchange before it; empty for the first.
        text: The message.
        files: The files that came with it.
        run_id: The run that answers; known before it starts.
        principal: Who sent it, with the rights that the answer has; None for one that was stored
            without them.
        request: The digest of what was sent under an idempotency key; empty without a key.
        read_by: The exchange whose run has read this one, if it is `steered`; else empty.
        answer: The text of the answer; of one that was stopped or has failed, what there was of it.
        finish: Why the answer ended; `length` and `content_filter` where the model wrote no more.
        messages: What the answer adds to the conversation: calls, results and texts, each as data.
        usage: What the models used.
        error: The safe part of the error of one that failed.
        citations: What its numbers stand for, each checked against the stored text.
        conflicts: Which of these contradict each other.
        left_out: How many numbers were dropped because no quote carries them.
        steers: Whether it was sent to reach the working agent at its next step, not to wait
            for the answer.
    """

    id: str
    conversation: str
    text: str
    run_id: str
    created_at: float
    number: int = 0
    parent: str = ""
    files: tuple[ExchangeFile, ...] = ()
    principal: Principal | None = None
    request: str = ""
    read_by: str = ""
    state: ExchangeState = "working"
    answer: str = ""
    finish: Finish = "stop"
    messages: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] = {}
    error: Mapping[str, Any] | None = None
    finished_at: float | None = None
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    left_out: int = 0
    steers: bool = False


class ConversationQuery(Struct, frozen=True, kw_only=True):
    """A filter for conversations.

    Attributes:
        principal: Whose; empty for everybody's.
        text: Must stand in the title, a message or an answer, in any case; empty for any.
    """

    principal: str = ""
    tenant: str | None = None
    text: str = ""
    limit: int = 50
    cursor: str = ""


class ConversationPage(Struct, frozen=True, kw_only=True):
    """One page of conversations, the last changed first."""

    conversations: Sequence[Conversation]
    next_cursor: str = ""


class ExchangeEnd(Struct, frozen=True, kw_only=True):
    """What the end of an exchange changed.

    Attributes:
        exchange: The finished exchange.
        next: The queued exchange that is to be answered now; None for none.
    """

    exchange: Exchange
    next: Exchange | None = None


class ConversationStore(Protocol):
    """Stores conversations. Of the exchanges of one conversation at most one is `working`."""

    async def create(self, conversation: Conversation) -> None:
        """Store a new conversation.

        Raises:
            InvalidRequest: The id is taken.
        """
        ...

    async def get(self, id: str) -> Conversation | None:  # noqa: A002 - it is known by its id
        """One conversation; None when there is none."""
        ...

    async def update(self, id: str, changes: Mapping[str, Any]) -> Conversation | None:  # noqa: A002 - as above
        """Change fields of a conversation; how it is then, None when there is none.

        Args:
            id: The conversation.
            changes: `title`, `agent`, `model`, `accounts`, `head`, `updated_at`.
        """
        ...

    async def grant(self, id: str, grant: ConversationGrant) -> bool:  # noqa: A002 - as above
        """Add a standing approval; one of the same id changes nothing.

        Returns:
            False when there is no such conversation.
        """
        ...

    async def revoke(self, id: str, grant: str) -> ConversationGrant | None:  # noqa: A002 - as above
        """Remove a standing approval; None when there is none of this id."""
        ...

    async def delete(self, id: str) -> bool:  # noqa: A002 - as above
        """Delete a conversation with its exchanges and the ended runs that have answered them.

        Returns:
            Whether there was one.
        """
        ...

    async def conversations(self, query: ConversationQuery) -> ConversationPage:
        """One page.

        Raises:
            InvalidRequest: The cursor is invalid, or the limit is out of range.
        """
        ...

    async def append(
        self,
        exchange: Exchange,
        *,
        instead_of: str = "",
        is_next: bool = False,
        changes: Mapping[str, Any] | None = None,
    ) -> Exchange:
        """Add an exchange and make it the head; as it was stored.

        It is `working` if none is, and `queued` otherwise. Without a parent it comes after the
        head. The same id again changes nothing and returns what is stored.

        Args:
            exchange: The new exchange.
            instead_of: The exchange that it replaces, whose parent becomes its own; empty for none.
            is_next: Whether it comes before those that are queued; these get new numbers, and the
                last one of them stays the head.
            changes: Fields of the conversation that change with it, as in `update`.

        Raises:
            ConversationNotFound: There is no such conversation, or nothing to replace.
            InvalidRequest: The exchange to replace is not the last one, or another one is working
                or queued.
        """
        ...

    async def exchange(self, id: str) -> Exchange | None:  # noqa: A002 - as above
        """One exchange; None when there is none."""
        ...

    async def list_known(self, ids: Collection[str]) -> frozenset[str]:
        """Those of these ids that are conversations."""
        ...

    async def exchanges(self, conversation: str) -> Sequence[Exchange]:
        """All exchanges of a conversation, in the order of their numbers."""
        ...

    async def next_exchange(
        self,
        conversation: str,
        *,
        number: int = 0,
        states: Collection[ExchangeState] = (),
    ) -> Exchange | None:
        """The first exchange of a conversation from a number on; None when there is none.

        Args:
            conversation: The conversation.
            number: The smallest number.
            states: One of them must be its state; empty for any.
        """
        ...

    async def last_number(self, conversation: str) -> int:
        """The number of the last exchange of a conversation; 0 when there is none."""
        ...

    async def of_run(self, run_id: str) -> Exchange | None:
        """The exchange that a run answers; None when there is none."""
        ...

    async def conversations_of_runs(self, run_ids: Collection[str]) -> Mapping[str, Conversation]:
        """The conversations whose messages these runs answer, by run; no exchange is read."""
        ...

    async def working(self) -> Sequence[Exchange]:
        """All exchanges that are being answered."""
        ...

    async def finish(
        self,
        exchange: Exchange,
        *,
        steered: Sequence[str] = (),
    ) -> ExchangeEnd | None:
        """Store the end of a working exchange, and let the first queued one work.

        Args:
            exchange: As it ended.
            steered: Ids of queued exchanges that its run has taken up.

        Returns:
            None when it was not working, and nothing was changed.
        """
        ...

    async def rewrite(self, exchange: Exchange) -> bool:
        """Store an ended exchange anew, as without quotes of what was deleted.

        Returns:
            False when it is not there, or has not ended.
        """
        ...

    async def withdraw(self, id: str) -> bool:  # noqa: A002 - as above
        """Withdraw a queued exchange; False when it is not queued."""
        ...

    async def steer(self, conversation: str, id: str) -> bool:  # noqa: A002 - as above
        """Note that the run which answers in a conversation reads a queued exchange.

        Args:
            conversation: The conversation.
            id: The exchange.

        Returns:
            False when the run must not read it: it was withdrawn, or is answered by itself. True
            also when the run has read it before, or the conversation has no such exchange.
        """
        ...

    async def forget(self, *, before: float) -> int:
        """Delete conversations that were last changed before a time, each as `delete` does.

        Returns:
            How many.
        """
        ...


async def find_conversation_of_run(store: ConversationStore, run_id: str) -> Conversation | None:
    """The conversation whose message a run answers; None when there is none."""
    return (await store.conversations_of_runs((run_id,))).get(run_id)


async def find_messages(
    store: ConversationStore, conversation: str, principal: Principal
) -> Sequence[str]:
    """The messages that a caller has written in a conversation; none where it is no caller's own.

    Messages are what the conversation was sent, without files.
    """
    found = await store.exchanges(conversation)
    return tuple(
        item.text
        for item in found
        if item.principal is not None and item.principal.owner == principal.owner
    )
