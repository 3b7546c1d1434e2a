"""The `Conversations` service: send messages, follow the answers, stop, edit and delete."""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, get_args

from msgspec import structs

from pegboard.core.ports.conversation_files import ConversationFiles
from pegboard.core.ports.conversation_store import (
    Conversation,
    ConversationPage,
    ConversationQuery,
    ConversationStore,
    Exchange,
)
from pegboard.core.principal import LOCAL, Principal
from pegboard.engines.agent import Engine
from pegboard.errors import ConversationNotFound, InvalidRequest, RunNotFound
from pegboard.features.conversations.answers import ConversationAnswers, run_key_of
from pegboard.features.conversations.history import find_branch
from pegboard.features.conversations.message_files import MessageFile, write_files
from pegboard.features.conversations.stream import (
    ChatEvent,
    Position,
    make_end_events,
    make_queued_event,
    to_chat_events,
)
from pegboard.features.permissions import may_see_conversation
from pegboard.features.runs import Runs
from pegboard.features.runs.start import run_id_for

_LOOK_AGAIN = 1.0
_MAX_TITLE = 60
_CHANGES = frozenset({"title", "agent", "model", "engine"})
_ENGINES = ("", *get_args(Engine))
When = Literal["queue", "steer", "stop"]
"""What a message does while another one is being answered: wait for the answer, reach the agent at
its next step, or stop it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message of a person.

    Attributes:
        text: The message; empty to answer `instead_of` again.
        conversation: Which it continues; empty for a new one.
        agent: The agent that answers from now on; None leaves it as it is.
        model: The model that answers from now on; None leaves it as it is.
        engine: `auto`, `react` or `dag` from now on, empty for that of the agent; None leaves it.
        instead_of: The last message of the branch, which this one replaces.
        when: What happens while another message is being answered.
        files: Put into the workspace of the conversation, and named behind the text.
        key: An idempotency key: the same key is the same message; empty for none.
    """

    text: str
    conversation: str = ""
    agent: str | None = None
    model: str | None = None
    engine: str | None = None
    instead_of: str = ""
    when: When = "queue"
    files: Sequence[MessageFile] = ()
    key: str = ""


class Conversations:
    """Conversations of callers with agents, limited to those that the caller may see.

    ```python
    exchange = await board.conversations.send(NewMessage(text="Where is order 7?"))
    async for event in board.conversations.follow(exchange.conversation, until=exchange.id):
        print(event.event, event.data)
    ```

    Args:
        store: Stores conversations.
        runs: Shows and controls the runs that answer.
        answers: Starts those runs, and stores how they end.
        now: Unix seconds.
        resolve_agent: The stored name of a chosen agent; raises `AgentNotFound` for others.
        files: The workspaces of conversations; None where there are none.
    """

    def __init__(
        self,
        store: ConversationStore,
        *,
        runs: Runs,
        answers: ConversationAnswers,
        now: Callable[[], float],
        resolve_agent: Callable[[str], str] = str,
        files: ConversationFiles | None = None,
    ) -> None:
        self._store = store
        self._runs = runs
        self._resolve_agent = resolve_agent
        self._files = files
        self._answers = answers
        self._now = now
        self._news: dict[str, set[asyncio.Event]] = {}
        self._closed = False
        answers.changed = self.notify

    # sending

    async def send(self, message: NewMessage, *, principal: Principal = LOCAL) -> Exchange:
        """Store a message, and have it answered now or after those before it.

        Raises:
            ConversationNotFound: The conversation, or the message to replace, does not exist, or
                the caller may not see it.
            AgentNotFound: There is no such agent.
            InvalidRequest: There is no text, or the message to replace is not the last one.
            GraphInvalid: No agent can answer on this board.
        """
        conversation = await self._conversation_for(message, principal)
        exchanges = await self._store.exchanges(conversation.id)
        replaced = _find_replaced(message, conversation, exchanges)
        text = message.text or ("" if replaced is None else replaced.text)
        if not text.strip():
            raise InvalidRequest("The message is empty.")
        text += await write_files(self._files, message.files, conversation.id, principal)
        id_ = _id_for("m", principal, message.key)
        exchange = await self._store.append(
            Exchange(
                id=id_,
                conversation=conversation.id,
                text=text,
                run_id=run_id_for(principal, run_key_of(id_)),
                parent=conversation.head if replaced is None else replaced.parent,
                created_at=self._now(),
            )
        )
        if exchange.state == "working":
            await self._answers.start(exchange, conversation, principal)
        elif exchange.state == "queued":
            await self._tell_worker(message.when, exchange, exchanges, principal)
        self.notify(conversation.id)
        return exchange

    async def _conversation_for(self, message: NewMessage, principal: Principal) -> Conversation:
        changes = {"agent": message.agent, "model": message.model, "engine": message.engine}
        changes = self._resolve(
            {name: value for name, value in changes.items() if value is not None}
        )
        if message.conversation:
            known = await self._visible(message.conversation, principal)
            if not known.title:
                changes["title"] = _title_of(message.text)
            changed = await self._store.update(known.id, changes) if changes else known
            if changed is None:
                raise _not_found(message.conversation)
            return changed
        now = self._now()
        new = Conversation(
            id=_id_for("c", principal, message.key),
            principal=principal.id,
            tenant=principal.tenant,
            title=_title_of(message.text),
            created_at=now,
            updated_at=now,
            **changes,
        )
        if message.key and (known := await self._store.get(new.id)) is not None:
            return known
        await self._store.create(new)
        return new

    async def _tell_worker(
        self, when: When, exchange: Exchange, exchanges: Sequence[Exchange], principal: Principal
    ) -> None:
        working = next((item for item in exchanges if item.state == "working"), None)
        if working is None or when == "queue":
            return
        if when == "stop":
            await self._runs.cancel(working.run_id, principal=principal)
            return
        await self._runs.send(
            working.run_id,
            "steer",
            {"text": exchange.text},
            message_id=exchange.id,
            principal=principal,
        )

    # reading and changing

    async def get(
        self, conversation: str, *, principal: Principal = LOCAL
    ) -> tuple[Conversation, list[Exchange]]:
        """A conversation with all its exchanges, those of other branches included.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
        """
        known = await self._visible(conversation, principal)
        for exchange in await self._store.exchanges(conversation):
            if exchange.state == "working":
                await self._answers.catch_up(exchange)
        return known, list(await self._store.exchanges(conversation))

    async def find_of_runs(
        self, runs: Iterable[str], *, principal: Principal = LOCAL
    ) -> dict[str, Conversation]:
        """The conversations whose messages these runs answer, of those that the caller may see."""
        found: dict[str, Conversation] = {}
        for run_id in dict.fromkeys(runs):
            exchange = await self._store.of_run(run_id)
            known = None if exchange is None else await self._store.get(exchange.conversation)
            if known is not None and may_see_conversation(principal, known):
                found[run_id] = known
        return found

    async def list(
        self, query: ConversationQuery | None = None, *, principal: Principal = LOCAL
    ) -> ConversationPage:
        """One page of the caller's conversations, the last changed first.

        Raises:
            InvalidRequest: The cursor is invalid, or the limit is out of range.
        """
        wanted = structs.replace(
            query or ConversationQuery(),
            principal=principal.id,
            tenant=None if principal.user else principal.tenant,
        )
        return await self._store.conversations(wanted)

    async def change(
        self, conversation: str, changes: Mapping[str, str], *, principal: Principal = LOCAL
    ) -> Conversation:
        """Change the title, the agent or the model of a conversation.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
            AgentNotFound: There is no such agent.
            InvalidRequest: Something else cannot be changed.
        """
        if unknown := changes.keys() - _CHANGES:
            raise InvalidRequest(f"Only {', '.join(sorted(_CHANGES))} can be changed: {unknown}.")
        await self._visible(conversation, principal)
        changed = await self._store.update(conversation, self._resolve(changes))
        if changed is None:
            raise _not_found(conversation)
        return changed

    def _resolve(self, changes: Mapping[str, str]) -> dict[str, Any]:
        if (engine := changes.get("engine", "")) not in _ENGINES:
            known = ", ".join(name for name in _ENGINES if name)
            raise InvalidRequest(f"There is no engine '{engine[:100]}'; known are {known}.")
        if "agent" not in changes:
            return dict(changes)
        return {**changes, "agent": self._resolve_agent(changes["agent"])}

    async def delete(self, conversation: str, *, principal: Principal = LOCAL) -> None:
        """Stop and delete a conversation.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
        """
        await self.stop(conversation, principal=principal)
        await self._store.delete(conversation)
        if self._files is not None:
            await self._files.remove(conversation, principal)
        self.notify(conversation)

    async def stop(self, conversation: str, *, principal: Principal = LOCAL) -> bool:
        """Withdraw what is queued and stop the answer in progress; whether there was one.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
        """
        await self._visible(conversation, principal)
        exchanges = await self._store.exchanges(conversation)
        for exchange in exchanges:
            if exchange.state == "queued":
                await self._store.withdraw(exchange.id)
        working = next((item for item in exchanges if item.state == "working"), None)
        if working is not None:
            await self._answers.catch_up(working)  # its run may not have begun
            await self._runs.cancel(working.run_id, principal=principal)
            await self._answers.catch_up(working)
        self.notify(conversation)
        return working is not None

    async def withdraw(
        self, conversation: str, message: str, *, principal: Principal = LOCAL
    ) -> Exchange:
        """Withdraw a message that waits; one that is being answered is left as it is.

        Raises:
            ConversationNotFound: The conversation or the message does not exist, or the caller may
                not see it.
            InvalidRequest: It waits no more.
        """
        await self._visible(conversation, principal)
        known = await self._store.exchange(message)
        if known is None or known.conversation != conversation:
            raise _not_found(message)
        if not await self._store.withdraw(message):
            raise InvalidRequest("The message waits no more.")
        self.notify(conversation)
        return structs.replace(known, state="withdrawn")

    # following

    async def follow(
        self,
        conversation: str,
        *,
        after: Position | None = None,
        until: str = "",
        principal: Principal = LOCAL,
    ) -> AsyncGenerator[ChatEvent]:
        """The events of a conversation, from those that are stored to those that come.

        Args:
            conversation: The conversation.
            after: Where to go on; None begins with the exchange that is being answered, else with
                the next one.
            until: The exchange after whose end to stop; empty to go on until the caller stops.
            principal: The caller.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
        """
        await self._visible(conversation, principal)
        number, sequence = after or await self._first_position(conversation, until)
        has_told = sequence > 0  # that this exchange is queued
        while not self._closed:
            news = self._watch(conversation)
            try:
                exchange = await self._next_exchange(conversation, number)
                if exchange is None:
                    if until or await self._store.get(conversation) is None:
                        return
                elif exchange.state != "queued":
                    after_sequence = sequence if exchange.number == number else 0
                    async for event in self._follow_exchange(exchange, after_sequence, principal):
                        yield event
                    if exchange.id == until:
                        return
                    number, sequence, has_told = exchange.number + 1, 0, False
                    continue
                elif not has_told:
                    has_told = True
                    yield make_queued_event(exchange)
                await _wait(news)
            finally:
                self._unwatch(conversation, news)

    async def _follow_exchange(
        self, exchange: Exchange, sequence: int, principal: Principal
    ) -> AsyncGenerator[ChatEvent]:
        last = sequence
        if exchange.state not in {"withdrawn", "steered"}:
            if exchange.state == "working":
                await self._answers.catch_up(exchange)  # as above
            with suppress(RunNotFound):  # of an old answer, the run is no longer stored
                events = self._runs.events(exchange.run_id, after=sequence, principal=principal)
                async for event in events:
                    last = event.sequence
                    for shown in to_chat_events(exchange, event):
                        yield shown
        if exchange.state == "working":
            await self._answers.catch_up(exchange, wait=True)
        ended = await self._store.exchange(exchange.id)
        if ended is not None and ended.state != "working":
            for shown in make_end_events(ended, last):
                yield shown

    async def _first_position(self, conversation: str, until: str) -> Position:
        exchanges = await self._store.exchanges(conversation)
        for exchange in exchanges:
            is_wanted = exchange.id == until if until else exchange.state in {"working", "queued"}
            if is_wanted:
                return exchange.number, 0
        return (exchanges[-1].number + 1, 0) if exchanges else (0, 0)

    async def _next_exchange(self, conversation: str, number: int) -> Exchange | None:
        exchanges = await self._store.exchanges(conversation)
        return next((item for item in exchanges if item.number >= number), None)

    async def recover(self) -> None:
        """Continue what an earlier process left: answers that ended, and runs that never began."""
        await self._answers.recover()

    async def close(self) -> None:
        """Stop following; what is being answered goes on with its run."""
        self._closed = True
        for conversation in list(self._news):
            self.notify(conversation)

    # watching

    def _watch(self, conversation: str) -> asyncio.Event:
        news = asyncio.Event()
        self._news.setdefault(conversation, set()).add(news)
        return news

    def _unwatch(self, conversation: str, news: asyncio.Event) -> None:
        watchers = self._news.get(conversation, set())
        watchers.discard(news)
        if not watchers:
            self._news.pop(conversation, None)

    def notify(self, conversation: str) -> None:
        """Wake those who follow a conversation: an exchange has changed."""
        for news in self._news.get(conversation, ()):
            news.set()

    async def _visible(self, conversation: str, principal: Principal) -> Conversation:
        known = await self._store.get(conversation)
        if known is None or not may_see_conversation(principal, known):
            raise _not_found(conversation)
        return known


def _find_replaced(
    message: NewMessage, conversation: Conversation, exchanges: Sequence[Exchange]
) -> Exchange | None:
    """The exchange that a message replaces: the last one that was answered on the branch.

    Raises:
        ConversationNotFound: There is no such message.
        InvalidRequest: It is not the last one, or is being answered.
    """
    if not message.instead_of:
        return None
    known = next((item for item in exchanges if item.id == message.instead_of), None)
    if known is None:
        raise _not_found(message.instead_of)
    if any(item.state in {"working", "queued"} for item in exchanges):
        raise InvalidRequest("Stop the answer in progress before you change a message.")
    branch = [
        item
        for item in find_branch(exchanges, conversation.head)
        if item.state not in {"withdrawn", "steered"}
    ]
    if not branch or branch[-1].id != known.id:
        raise InvalidRequest("Only the last message of a conversation can be changed.")
    return known


async def _wait(news: asyncio.Event) -> None:
    """Wait for news of this process, or a moment for those of another."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LOOK_AGAIN):
            await news.wait()


def _id_for(prefix: str, principal: Principal, key: str) -> str:
    if not key:
        return f"{prefix}_{secrets.token_hex(12)}"
    return f"{prefix}_{sha256(f'{principal.owner} {prefix} {key}'.encode()).hexdigest()[:24]}"


def _title_of(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TITLE else f"{line[: _MAX_TITLE - 1].rstrip()}…"


def _not_found(what: str) -> ConversationNotFound:
    return ConversationNotFound(f"There is no conversation or message '{what[:100]}'.")
