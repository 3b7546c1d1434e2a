"""Conversations in memory."""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import structs

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.pagination import check_page_size, decode_position, encode_cursor
from pegboard.core.ports.conversation_store import (
    Conversation,
    ConversationGrant,
    ConversationPage,
    ConversationQuery,
    Exchange,
    ExchangeEnd,
    ExchangeState,
)
from pegboard.core.principal import expand_id
from pegboard.core.stores.conversation_branch import find_predecessor
from pegboard.errors import ConversationNotFound, InvalidRequest
from pegboard.storage.json_text import copy_json

_BOUND = 10_000
"""Conversations at most; the one that was changed first goes first."""


class MemoryConversations:
    """A `ConversationStore` in memory. Safe for several threads."""

    def __init__(
        self, gate: ClosableLock, *, delete_runs: Callable[[Collection[str]], int]
    ) -> None:
        """Start empty.

        Args:
            gate: After it is closed, methods raise `Unavailable`.
            delete_runs: Deletes those of these runs that have ended; called while the gate is held.
        """
        self._gate = gate
        self._delete_runs = delete_runs
        self._conversations: dict[str, tuple[int, Conversation]] = {}
        self._exchanges: dict[str, Exchange] = {}
        self._ids: dict[str, list[str]] = {}  # of the exchanges of a conversation, in order
        self._id_of_run: dict[str, str] = {}
        self._number = 0

    async def create(self, conversation: Conversation) -> None:
        with self._gate:
            if conversation.id in self._conversations:
                raise InvalidRequest(f"there is a conversation '{conversation.id}' already")
            self._conversations[conversation.id] = (self._next(), copy_json(conversation))
            if len(self._conversations) > _BOUND:
                self._delete(min(self._conversations, key=self._place))

    def holds(self, conversation: str) -> bool:
        """Whether there is a conversation of this id; asked while the gate is held."""
        return conversation in self._conversations

    async def get(self, id: str) -> Conversation | None:  # noqa: A002 - it is known by its id
        with self._gate:
            known = self._conversations.get(id)
            return None if known is None else known[1]

    async def update(self, id: str, changes: Mapping[str, Any]) -> Conversation | None:  # noqa: A002 - as above
        with self._gate:
            return self._update(id, changes)

    async def grant(self, id: str, grant: ConversationGrant) -> bool:  # noqa: A002 - as above
        with self._gate:
            if id not in self._conversations:
                return False
            grants = self._conversations[id][1].grants
            if all(item.id != grant.id for item in grants):
                self._update(id, {"grants": (*grants, copy_json(grant))})
            return True

    async def revoke(self, id: str, grant: str) -> ConversationGrant | None:  # noqa: A002 - as above
        with self._gate:
            grants = self._conversations[id][1].grants if id in self._conversations else ()
            found = next((item for item in grants if item.id == grant), None)
            if found is not None:
                self._update(id, {"grants": tuple(it for it in grants if it is not found)})
            return found

    async def delete(self, id: str) -> bool:  # noqa: A002 - as above
        with self._gate:
            return self._delete(id)

    async def conversations(self, query: ConversationQuery) -> ConversationPage:
        limit, before = check_page_size(query.limit), decode_position(query.cursor)
        with self._gate:
            wanted = [
                (self._place(id_), known)
                for id_, (_, known) in self._conversations.items()
                if self._matches(query, known)
            ]
            wanted = [item for item in wanted if before is None or item[0] < before]
            wanted.sort(key=lambda item: item[0], reverse=True)
            return ConversationPage(
                conversations=[known for _, known in wanted[:limit]],
                next_cursor=encode_cursor(*wanted[limit - 1][0]) if len(wanted) > limit else "",
            )

    async def append(
        self,
        exchange: Exchange,
        *,
        instead_of: str = "",
        is_next: bool = False,
        changes: Mapping[str, Any] | None = None,
    ) -> Exchange:
        with self._gate:
            if (known := self._exchanges.get(exchange.id)) is not None:
                return known
            if exchange.conversation not in self._conversations:
                raise ConversationNotFound("The conversation does not exist any more.")
            _, conversation = self._conversations[exchange.conversation]
            states = {item.state for item in self._of(conversation.id)}
            parent = exchange.parent or conversation.head
            if instead_of:
                is_busy = not states.isdisjoint({"working", "queued"})
                find = self._exchanges.get
                parent = find_predecessor(
                    instead_of, conversation, find=find, is_busy=is_busy
                ).parent
            later = [it for it in self._of(conversation.id) if is_next and it.state == "queued"]
            parent = later[0].parent if later else parent
            new = structs.replace(
                copy_json(exchange),
                number=self._next(),
                parent=parent,
                state="queued" if "working" in states else "working",
            )
            self._exchanges[new.id] = new
            self._ids.setdefault(conversation.id, []).append(new.id)
            self._id_of_run[new.run_id] = new.id
            self._move_behind(new, later)
            head = conversation.head if later else new.id
            moved = {"head": head, "updated_at": new.created_at}
            self._update(conversation.id, {**(changes or {}), **moved})
            return new

    async def exchange(self, id: str) -> Exchange | None:  # noqa: A002 - as above
        with self._gate:
            return self._exchanges.get(id)

    async def list_known(self, ids: Collection[str]) -> frozenset[str]:
        with self._gate:
            return frozenset(id_ for id_ in ids if id_ in self._conversations)

    async def exchanges(self, conversation: str) -> Sequence[Exchange]:
        with self._gate:
            return list(self._of(conversation))

    async def next_exchange(
        self,
        conversation: str,
        *,
        number: int = 0,
        states: Collection[ExchangeState] = (),
    ) -> Exchange | None:
        with self._gate:
            ids = self._ids.get(conversation, [])
            first = bisect_left(ids, number, key=lambda id_: self._exchanges[id_].number)
            coming = (self._exchanges[id_] for id_ in islice(ids, first, None))
            return next((item for item in coming if not states or item.state in states), None)

    async def last_number(self, conversation: str) -> int:
        with self._gate:
            ids = self._ids.get(conversation)
            return self._exchanges[ids[-1]].number if ids else 0

    async def of_run(self, run_id: str) -> Exchange | None:
        with self._gate:
            return self._exchanges.get(self._id_of_run.get(run_id, ""))

    async def conversations_of_runs(self, run_ids: Collection[str]) -> Mapping[str, Conversation]:
        with self._gate:
            known = [item for item in run_ids if item in self._id_of_run]
            exchanges = [self._exchanges[self._id_of_run[run_id]] for run_id in known]
            return {item.run_id: self._conversations[item.conversation][1] for item in exchanges}

    async def working(self) -> Sequence[Exchange]:
        with self._gate:
            return [item for item in self._exchanges.values() if item.state == "working"]

    async def finish(
        self, exchange: Exchange, *, steered: Sequence[str] = ()
    ) -> ExchangeEnd | None:
        with self._gate:
            known = self._exchanges.get(exchange.id)
            if known is None or known.state != "working":
                return None
            ended = structs.replace(copy_json(exchange), number=known.number)
            self._exchanges[ended.id] = ended
            self._update(ended.conversation, {"updated_at": ended.finished_at or 0.0})
            queued = [item for item in self._of(ended.conversation) if item.state == "queued"]
            for item in queued:
                if item.id in steered:
                    self._exchanges[item.id] = structs.replace(item, state="steered")
            coming = next((item for item in queued if item.id not in steered), None)
            if coming is not None:
                coming = structs.replace(coming, state="working")
                self._exchanges[coming.id] = coming
            return ExchangeEnd(exchange=ended, next=coming)

    async def rewrite(self, exchange: Exchange) -> bool:
        with self._gate:
            known = self._exchanges.get(exchange.id)
            if known is None or known.finished_at is None:
                return False
            changed = structs.replace(copy_json(exchange), number=known.number)
            self._exchanges[exchange.id] = changed
            return True

    async def withdraw(self, id: str) -> bool:  # noqa: A002 - as above
        with self._gate:
            known = self._exchanges.get(id)
            if known is None or known.state != "queued":
                return False
            self._exchanges[id] = structs.replace(known, state="withdrawn")
            return True

    async def steer(self, conversation: str, id: str) -> bool:  # noqa: A002 - as above
        with self._gate:
            known = self._exchanges.get(id)
            if known is None or known.conversation != conversation:
                return True
            working = next((it for it in self._of(conversation) if it.state == "working"), None)
            if known.state != "queued" or working is None:
                return known.state == "steered"
            self._exchanges[id] = structs.replace(known, state="steered", read_by=working.id)
            return True

    def find_containing(self, text: str) -> tuple[str, ...]:
        """The ids of conversations in whose exchanges a text stands."""
        with self._gate:
            found = (it.conversation for it in self._exchanges.values() if text in repr(it))
            return tuple(dict.fromkeys(found))

    async def forget(self, *, before: float) -> int:
        with self._gate:
            old = [id_ for id_, (_, it) in self._conversations.items() if it.updated_at < before]
            return sum(map(self._delete, old))

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _place(self, id_: str) -> tuple[float, int]:
        number, known = self._conversations[id_]
        return known.updated_at, number

    def _of(self, conversation: str) -> Iterator[Exchange]:
        return (self._exchanges[id_] for id_ in self._ids.get(conversation, ()))

    def _move_behind(self, new: Exchange, later: Sequence[Exchange]) -> None:
        """Let queued exchanges come after a new one: they get new numbers."""
        ids = self._ids[new.conversation]
        for item in later:
            parent = new.id if item is later[0] else item.parent
            ids.remove(item.id)
            ids.append(item.id)
            self._exchanges[item.id] = structs.replace(item, number=self._next(), parent=parent)

    def _update(self, id_: str, changes: Mapping[str, Any]) -> Conversation | None:
        if id_ not in self._conversations:
            return None
        number, known = self._conversations[id_]
        changed = structs.replace(known, **changes)
        self._conversations[id_] = number, changed
        return changed

    def _delete(self, id_: str) -> bool:
        gone = [self._exchanges.pop(exchange) for exchange in self._ids.pop(id_, ())]
        for exchange in gone:
            self._id_of_run.pop(exchange.run_id, None)
        self._delete_runs([exchange.run_id for exchange in gone])
        return self._conversations.pop(id_, None) is not None

    def _matches(self, query: ConversationQuery, known: Conversation) -> bool:
        if query.principal and known.principal not in expand_id(query.principal):
            return False
        if query.tenant is not None and query.tenant != known.tenant:
            return False
        if not query.text:
            return True
        text = query.text.lower()
        texts = [known.title, *(t for item in self._of(known.id) for t in (item.text, item.answer))]
        return any(text in each.lower() for each in texts)
