"""The `Conversations` service: send messages, follow the answers, stop, edit and delete."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol, get_args

from msgspec import structs

from pegboard.core.ports.conversation_files import ConversationFiles
from pegboard.core.ports.conversation_store import (
    Conversation,
    ConversationPage,
    ConversationQuery,
    ConversationStore,
    Exchange,
    ExchangeState,
)
from pegboard.core.principal import Principal
from pegboard.core.stores.conversation_branch import find_predecessor
from pegboard.engines.agent import Engine
from pegboard.errors import (
    ConversationNotFound,
    IdempotencyConflict,
    InvalidRequest,
    MessageNotQueued,
    RunNotFound,
    Unavailable,
)
from pegboard.features.conversations.answers import ConversationAnswers, run_key_of
from pegboard.features.conversations.message_files import (
    describe_message,
    join_files,
    write_files,
)
from pegboard.features.conversations.new_message import (
    NewMessage,
    When,
    digest_message,
    identify,
    make_title,
)
from pegboard.features.conversations.questions import ConversationQuestions
from pegboard.features.conversations.stream import (
    ChatEvent,
    Position,
    make_end_events,
    make_queued_event,
    read_position,
    to_chat_events,
    wait_for_news,
)
from pegboard.features.conversations.workspaces import Workspaces
from pegboard.features.files import Files
from pegboard.features.key_limits import limit_keys
from pegboard.features.permissions import may_see_conversation
from pegboard.features.runs import Runs
from pegboard.features.runs.start import run_id_for

_CHANGES = frozenset({"title", "agent", "model", "engine", "accounts"})
_OPEN: frozenset[ExchangeState] = frozenset({"working", "queued"})
_WAITS_NO_MORE: Mapping[ExchangeState, str] = {
    "steered": "The agent has read the message already: it cannot be withdrawn.",
    "working": "The message is being answered: stop the answer instead.",
    "withdrawn": "The message was withdrawn already.",
}
_ENGINES = ("", *get_args(Engine))


class ResolveName(Protocol):
    """The stored name of a chosen agent or model; raises for one that the caller may not choose."""

    def __call__(self, name: str, /, *, principal: Principal) -> str: ...


def _keep_name(name: str, /, *, principal: Principal) -> str:  # noqa: ARG001 - as above
    return name


@limit_keys("conversations", reads=("get", "list", "follow"), free=("find_of_runs",))
class Conversations:
    """Conversations of callers with agents, limited to those that the caller may see.

    ```python
    conversations, message = board.conversations, NewMessage(text="Where is order 7?")
    sent = await conversations.send(message, principal=LOCAL)
    async for event in conversations.follow(sent.conversation, until=sent.id, principal=LOCAL):
        print(event.event, event.data)
    ```

    Args:
        store: Stores conversations.
        runs: Shows and controls the runs that answer.
        answers: Starts those runs, and stores how they end.
        now: Unix seconds.
        resolve_agent: The stored name of a chosen agent; raises `AgentNotFound` for others.
        resolve_model: The stored name of a chosen model; raises `ModelNotConfigured` for others.
        files: The workspaces of conversations; None where there are none.
        uploads: The stored files that messages may name; None where there are none.

    Attributes:
        workspaces: Lists and reads the files of conversations.
        questions: Answers questions of tools.
    """

    def __init__(
        self,
        store: ConversationStore,
        *,
        runs: Runs,
        answers: ConversationAnswers,
        now: Callable[[], float],
        resolve_agent: ResolveName = _keep_name,
        resolve_model: ResolveName = _keep_name,
        files: ConversationFiles | None = None,
        uploads: Files | None = None,
    ) -> None:
        self._store = store
        self._runs = runs
        self._resolve_agent = resolve_agent
        self._resolve_model = resolve_model
        self._files = files
        self._uploads = uploads
        self.workspaces = Workspaces(store, files)
        self.questions = ConversationQuestions(store, runs.questions)
        self._answers = answers
        self._now = now
        self._news: dict[str, set[asyncio.Event]] = {}
        self._closed = False
        answers.changed = self.notify

    # sending

    async def send(self, message: NewMessage, *, principal: Principal) -> Exchange:
        """Store a message, and have it answered now or after those before it.

        Raises:
            ConversationNotFound: The conversation, or the message to replace, does not exist, or
                the caller may not see it.
            AgentNotFound: There is no such agent.
            ModelNotConfigured: There is no such model.
            FileMissing: A file that it names does not exist, or the caller may not see it.
            InvalidRequest: There is no text, no such engine, or the message to replace is not the
                last one.
            IdempotencyConflict: The key was used for another message.
            GraphInvalid: No agent can answer on this board.
        """
        id_, request = identify("m", principal, message.key), digest_message(message)
        if message.key and (known := await self._store.exchange(id_)) is not None:
            return await self._repeat(known, request)
        conversation, changes = await self._prepare(message, principal)
        await self._catch_up(conversation.id)  # the end of its last answer may be missing
        replaced = await self._find_predecessor(message, conversation)
        text = message.text or ("" if replaced is None else replaced.text)
        if not text.strip():
            raise InvalidRequest("The message is empty.")
        files = await write_files(
            self._files, message.files, conversation.id, principal, uploads=self._uploads
        )
        if not message.conversation:
            await self._create(conversation, is_keyed=bool(message.key))
        exchange = await self._store.append(
            Exchange(
                id=id_,
                conversation=conversation.id,
                text=text,
                files=files if replaced is None else join_files(replaced.files, files),
                run_id=run_id_for(principal, run_key_of(id_)),
                principal=principal,
                request=request,
                steers=message.when == "steer",
                created_at=self._now(),
            ),
            instead_of=message.instead_of,
            is_next=message.when == "stop",
            changes=changes,
        )
        if exchange.request != request:
            raise _key_conflict()
        if exchange.state == "working":
            await self._answers.start(exchange)
        elif exchange.state == "queued":
            await self._tell_worker(message.when, exchange, principal)
        self.notify(conversation.id)
        return exchange

    async def _repeat(self, known: Exchange, request: str) -> Exchange:
        """The exchange that was stored under the key of a message."""
        if known.request not in {"", request}:
            raise _key_conflict()
        if known.state == "working":
            await self._answers.catch_up(known)  # its run may not have begun
        return known

    async def _prepare(
        self, message: NewMessage, principal: Principal
    ) -> tuple[Conversation, dict[str, Any]]:
        """The conversation of a message, and its changes; nothing is stored yet."""
        chosen = {name: getattr(message, name) for name in ("agent", "model", "engine", "accounts")}
        wanted = {name: it for name, it in chosen.items() if it is not None}
        changes = self._resolve(wanted, principal)
        if message.conversation:
            known = await self._visible(message.conversation, principal)
            return known, changes if known.title else {**changes, "title": make_title(message.text)}
        now = self._now()
        new = Conversation(
            id=identify("c", principal, message.key),
            principal=principal.id,
            tenant=principal.tenant,
            title=make_title(message.text),
            created_at=now,
            updated_at=now,
            **changes,
        )
        return new, {}

    async def _create(self, conversation: Conversation, *, is_keyed: bool) -> None:
        try:
            await self._store.create(conversation)
        except InvalidRequest:
            if not is_keyed:  # else the same message has created it
                raise

    async def _find_predecessor(
        self, message: NewMessage, conversation: Conversation
    ) -> Exchange | None:
        if not message.instead_of:
            return None
        known = {item.id: item for item in await self._store.exchanges(conversation.id)}
        is_busy = any(item.state in _OPEN for item in known.values())
        return find_predecessor(message.instead_of, conversation, find=known.get, is_busy=is_busy)

    async def _tell_worker(self, when: When, exchange: Exchange, principal: Principal) -> None:
        working = await self._store.next_exchange(exchange.conversation, states={"working"})
        if working is None or when == "queue":
            return
        if when == "stop":
            await self._runs.cancel(working.run_id, principal=principal)
            return
        await self._runs.send(
            working.run_id,
            "steer",
            {"text": describe_message(exchange)},
            message_id=exchange.id,
            principal=principal,
        )

    async def _catch_up(self, conversation: str) -> None:
        """Store the end of the answer in progress, if it has ended."""
        working = await self._store.next_exchange(conversation, states={"working"})
        if working is not None:
            await self._answers.catch_up(working)

    # reading and changing

    async def get(
        self, conversation: str, *, principal: Principal
    ) -> tuple[Conversation, list[Exchange]]:
        """A conversation with all its exchanges, those of other branches included.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
        """
        known = await self._visible(conversation, principal)
        await self._catch_up(conversation)
        return known, list(await self._store.exchanges(conversation))

    async def find_of_runs(
        self, runs: Iterable[str], *, principal: Principal
    ) -> dict[str, Conversation]:
        """The conversations whose messages these runs answer, of those that the caller may see."""
        found = await self._store.conversations_of_runs(frozenset(runs))
        return {
            run_id: conversation
            for run_id, conversation in found.items()
            if may_see_conversation(principal, conversation)
        }

    async def list(
        self, query: ConversationQuery | None = None, *, principal: Principal
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
        self, conversation: str, changes: Mapping[str, Any], *, principal: Principal
    ) -> Conversation:
        """Change the title, the agent, the model or the accounts of a conversation.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
            AgentNotFound: There is no such agent.
            ModelNotConfigured: There is no such model.
            InvalidRequest: There is no such engine, or something else cannot be changed.
        """
        if unknown := changes.keys() - _CHANGES:
            raise InvalidRequest(f"Only {', '.join(sorted(_CHANGES))} can be changed: {unknown}.")
        await self._visible(conversation, principal)
        changed = await self._store.update(conversation, self._resolve(changes, principal))
        if changed is None:
            raise _not_found(conversation)
        return changed

    def _resolve(self, changes: Mapping[str, Any], principal: Principal) -> dict[str, Any]:
        if (engine := changes.get("engine", "")) not in _ENGINES:
            known = ", ".join(name for name in _ENGINES if name)
            raise InvalidRequest(f"There is no engine '{engine[:100]}'; known are {known}.")
        resolved = dict(changes)
        if "agent" in changes:
            resolved["agent"] = self._resolve_agent(changes["agent"], principal=principal)
        if "model" in changes:
            resolved["model"] = self._resolve_model(changes["model"], principal=principal)
        return resolved

    async def delete(self, conversation: str, *, principal: Principal) -> None:
        """Stop and delete a conversation, with its files and the runs that have answered in it.

        The record of calls and the audit trail keep what their retention says.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
        """
        await self.stop(conversation, principal=principal)
        await self._store.delete(conversation)
        if self._files is not None:
            await self._files.remove(conversation, principal)
        self.notify(conversation)

    async def stop(self, conversation: str, *, principal: Principal) -> bool:
        """Withdraw what is queued and stop the answer in progress; whether there was one.

        Raises:
            ConversationNotFound: It does not exist, or the caller may not see it.
        """
        await self._visible(conversation, principal)
        for exchange in await self._store.exchanges(conversation):
            if exchange.state == "queued":
                await self._store.withdraw(exchange.id)
        # read anew: of those that were queued, one may be answered by now
        working = await self._store.next_exchange(conversation, states={"working"})
        if working is not None:
            await self._answers.catch_up(working)  # its run may not have begun
            await self._runs.cancel(working.run_id, principal=principal)
            await self._answers.catch_up(working)
        self.notify(conversation)
        return working is not None

    async def withdraw(self, conversation: str, message: str, *, principal: Principal) -> Exchange:
        """Withdraw a message that waits; the agent never reads it then.

        Raises:
            ConversationNotFound: The conversation or the message does not exist, or the caller may
                not see it.
            MessageNotQueued: It waits no more: it was read, is answered, or was withdrawn.
        """
        await self._visible(conversation, principal)
        known = await self._store.exchange(message)
        if known is None or known.conversation != conversation:
            raise _not_found(message)
        if not await self._store.withdraw(message):
            known = await self._store.exchange(message) or known  # as it is now
            raise MessageNotQueued(_WAITS_NO_MORE.get(known.state, "The message is answered."))
        self.notify(conversation)
        return structs.replace(known, state="withdrawn")

    # following

    async def follow(
        self,
        conversation: str,
        *,
        after: Position | None = None,
        until: str = "",
        principal: Principal,
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
            Unavailable: The store cannot be read, and does not say when to try again.
        """
        await self._visible(conversation, principal)
        number, sequence = after or await self._first_position(conversation, until)
        has_told = sequence > 0  # that this exchange is queued
        while not self._closed:
            news = self._watch(conversation)
            try:
                exchange = await self._store.next_exchange(conversation, number=number)
                if exchange is None:
                    if until or await self._store.get(conversation) is None:
                        return
                elif exchange.state != "queued":
                    after_sequence = sequence if exchange.number == number else 0
                    number, sequence = exchange.number, after_sequence
                    async for event in self._follow_exchange(exchange, sequence, principal):
                        _, sequence = read_position(event.id) or (number, sequence)
                        yield event
                    if exchange.id == until:
                        return
                    number, sequence, has_told = exchange.number + 1, 0, False
                    continue
                else:
                    if not has_told:
                        has_told = True
                        yield make_queued_event(exchange)
                    await self._catch_up(conversation)  # the end of the one before may be missing
                await wait_for_news(news)
            except Unavailable as error:
                if error.retry_after is None:
                    raise
                await wait_for_news(news)
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
        if until:
            first = await self._store.exchange(until)
        else:
            first = await self._store.next_exchange(conversation, states=_OPEN)
        if first is not None and first.conversation == conversation:
            return first.number, 0
        return await self._store.last_number(conversation) + 1, 0

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


def _key_conflict() -> IdempotencyConflict:
    return IdempotencyConflict("This idempotency key was used for another message.")


def _not_found(what: str) -> ConversationNotFound:
    return ConversationNotFound(f"There is no conversation or message '{what[:100]}'.")
