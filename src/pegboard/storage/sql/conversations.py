"""Conversations in a database."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import structs
from sqlalchemy import Row, delete, exists, func, or_, select, tuple_, update

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
from pegboard.core.record_snapshot import clean_text
from pegboard.core.stores.conversation_branch import find_predecessor
from pegboard.errors import ConversationNotFound, InvalidRequest
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.sql.runs import delete_ended_runs
from pegboard.storage.tables import CONVERSATIONS, EXCHANGES

_CHUNK = 200


class SqlConversations:
    """The `ConversationStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def create(self, conversation: Conversation) -> None:
        values = {"id": clean_text(conversation.id), **_columns(conversation)}

        def create(transaction: Transaction) -> bool:
            statement = transaction.insert(CONVERSATIONS).values(values)
            return bool(
                transaction.execute(statement.on_conflict_do_nothing(index_elements=["id"]))
            )

        if not await self._database.run(create):
            raise InvalidRequest(f"there is a conversation '{conversation.id}' already")

    async def get(self, id: str) -> Conversation | None:  # noqa: A002 - it is known by its id
        return await self._database.read(lambda transaction: _get(transaction, id))

    async def update(self, id: str, changes: Mapping[str, Any]) -> Conversation | None:  # noqa: A002 - as above
        return await self._database.run(lambda transaction: _update(transaction, id, changes))

    async def grant(self, id: str, grant: ConversationGrant) -> bool:  # noqa: A002 - as above
        def add(transaction: Transaction) -> bool:
            _lock(transaction, id)
            known = _get(transaction, id)
            if known is None:
                return False
            if all(item.id != grant.id for item in known.grants):
                _update(transaction, id, {"grants": (*known.grants, grant)})
            return True

        return await self._database.run(add, atomic=True)

    async def revoke(self, id: str, grant: str) -> ConversationGrant | None:  # noqa: A002 - as above
        def remove(transaction: Transaction) -> ConversationGrant | None:
            _lock(transaction, id)
            known = _get(transaction, id)
            grants = () if known is None else known.grants
            found = next((item for item in grants if item.id == grant), None)
            if found is not None:
                left = tuple(item for item in grants if item is not found)
                _update(transaction, id, {"grants": left})
            return found

        return await self._database.run(remove, atomic=True)

    async def delete(self, id: str) -> bool:  # noqa: A002 - as above
        return bool(await self._database.run(lambda transaction: _delete(transaction, [id])))

    async def conversations(self, query: ConversationQuery) -> ConversationPage:
        limit = check_page_size(query.limit)
        wanted = _select(query).limit(limit + 1)
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        page, has_more = rows[:limit], len(rows) > limit
        return ConversationPage(
            conversations=[load(row.body, Conversation) for row in page],
            next_cursor=encode_cursor(page[-1].updated_at, page[-1].number) if has_more else "",
        )

    async def append(
        self,
        exchange: Exchange,
        *,
        instead_of: str = "",
        is_next: bool = False,
        changes: Mapping[str, Any] | None = None,
    ) -> Exchange:
        def append(transaction: Transaction) -> Exchange:
            _lock(transaction, exchange.conversation)
            known = _exchange(transaction, EXCHANGES.c.id == clean_text(exchange.id))
            if known is not None:
                return known
            conversation = _get(transaction, exchange.conversation)
            if conversation is None:
                raise ConversationNotFound("The conversation does not exist any more.")
            is_busy = _is_any(transaction, conversation.id, ("working",))
            parent = exchange.parent or conversation.head
            if instead_of:
                parent = find_predecessor(
                    instead_of,
                    conversation,
                    find=lambda id_: _exchange(transaction, EXCHANGES.c.id == clean_text(id_)),
                    is_busy=is_busy or _is_any(transaction, conversation.id, ("queued",)),
                ).parent
            later = _list_queued(transaction, conversation.id) if is_next else []
            parent = later[0].parent if later else parent
            new = structs.replace(exchange, parent=parent, state="queued" if is_busy else "working")
            transaction.execute(transaction.insert(EXCHANGES).values(_values(new)))
            _move_behind(transaction, new, later)
            head = conversation.head if later else new.id
            moved = {"head": head, "updated_at": new.created_at}
            _update(transaction, new.conversation, {**(changes or {}), **moved})
            stored = _exchange(transaction, EXCHANGES.c.id == clean_text(exchange.id))
            return new if stored is None else stored

        return await self._database.run(append, atomic=True)

    async def exchange(self, id: str) -> Exchange | None:  # noqa: A002 - as above
        wanted = EXCHANGES.c.id == clean_text(id)
        return await self._database.read(lambda transaction: _exchange(transaction, wanted))

    async def list_known(self, ids: Collection[str]) -> frozenset[str]:
        names = [clean_text(id_) for id_ in ids]
        pages = [names[first : first + _CHUNK] for first in range(0, len(names), _CHUNK)]
        table = CONVERSATIONS.c
        rows = await self._database.read(
            lambda transaction: [
                row
                for page in pages
                for row in transaction.all(select(table.id).where(table.id.in_(page)))
            ]
        )
        return frozenset(row.id for row in rows)

    async def exchanges(self, conversation: str) -> Sequence[Exchange]:
        wanted = (
            select(EXCHANGES)
            .where(EXCHANGES.c.conversation == clean_text(conversation))
            .order_by(EXCHANGES.c.number)
        )
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return [_read(row) for row in rows]

    async def next_exchange(
        self,
        conversation: str,
        *,
        number: int = 0,
        states: Collection[ExchangeState] = (),
    ) -> Exchange | None:
        wanted = (
            _select_exchanges(conversation, states)
            .where(EXCHANGES.c.number >= number)
            .order_by(EXCHANGES.c.number)
            .limit(1)
        )
        row = await self._database.read(lambda transaction: transaction.first(wanted))
        return None if row is None else _read(row)

    async def last_number(self, conversation: str) -> int:
        wanted = select(func.max(EXCHANGES.c.number).label("number")).where(
            EXCHANGES.c.conversation == clean_text(conversation)
        )
        row = await self._database.read(lambda transaction: transaction.first(wanted))
        return 0 if row is None else row.number or 0

    async def of_run(self, run_id: str) -> Exchange | None:
        wanted = EXCHANGES.c.run_id == clean_text(run_id)
        return await self._database.read(lambda transaction: _exchange(transaction, wanted))

    async def conversations_of_runs(self, run_ids: Collection[str]) -> Mapping[str, Conversation]:
        names = [clean_text(run_id) for run_id in dict.fromkeys(run_ids)]
        pages = [names[first : first + _CHUNK] for first in range(0, len(names), _CHUNK)]
        rows = await self._database.read(
            lambda transaction: [
                row for page in pages for row in transaction.all(_select_of_runs(page))
            ]
        )
        return {row.run_id: load(row.body, Conversation) for row in rows}

    async def working(self) -> Sequence[Exchange]:
        wanted = select(EXCHANGES).where(EXCHANGES.c.state == "working")
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return [_read(row) for row in rows]

    async def finish(
        self, exchange: Exchange, *, steered: Sequence[str] = ()
    ) -> ExchangeEnd | None:
        def finish(transaction: Transaction) -> ExchangeEnd | None:
            _lock(transaction, exchange.conversation)
            known = _exchange(transaction, EXCHANGES.c.id == clean_text(exchange.id))
            if known is None or known.state != "working":
                return None
            ended = structs.replace(exchange, number=known.number)
            _store(transaction, ended)
            _update(transaction, ended.conversation, {"updated_at": ended.finished_at or 0.0})
            coming: Exchange | None = None
            for item in _list_queued(transaction, exchange.conversation):
                if item.id in steered:
                    _store(transaction, structs.replace(item, state="steered"))
                elif coming is None:
                    coming = structs.replace(item, state="working")
                    _store(transaction, coming)
            return ExchangeEnd(exchange=ended, next=coming)

        return await self._database.run(finish, atomic=True)

    async def rewrite(self, exchange: Exchange) -> bool:
        def rewrite(transaction: Transaction) -> bool:
            _lock(transaction, exchange.conversation)
            known = _exchange(transaction, EXCHANGES.c.id == clean_text(exchange.id))
            if known is None or known.finished_at is None:
                return False
            _store(transaction, structs.replace(exchange, number=known.number))
            return True

        return await self._database.run(rewrite, atomic=True)

    async def withdraw(self, id: str) -> bool:  # noqa: A002 - as above
        def withdraw(transaction: Transaction) -> bool:
            known = _exchange(transaction, EXCHANGES.c.id == clean_text(id))
            if known is not None:
                _lock(transaction, known.conversation)
                known = _exchange(transaction, EXCHANGES.c.id == clean_text(id))
            if known is None or known.state != "queued":
                return False
            _store(transaction, structs.replace(known, state="withdrawn"))
            return True

        return await self._database.run(withdraw, atomic=True)

    async def steer(self, conversation: str, id: str) -> bool:  # noqa: A002 - as above
        def steer(transaction: Transaction) -> bool:
            _lock(transaction, conversation)
            known = _exchange(transaction, EXCHANGES.c.id == clean_text(id))
            if known is None or known.conversation != conversation:
                return True
            row = transaction.first(_select_exchanges(conversation, ("working",)))
            if known.state != "queued" or row is None:
                return known.state == "steered"
            _store(transaction, structs.replace(known, state="steered", read_by=row.id))
            return True

        return await self._database.run(steer, atomic=True)

    async def forget(self, *, before: float) -> int:
        old = (
            select(CONVERSATIONS.c.id)
            .where(CONVERSATIONS.c.updated_at < before)
            .order_by(CONVERSATIONS.c.updated_at)
            .limit(_CHUNK)
            .with_for_update(skip_locked=True)
        )

        def forget(transaction: Transaction) -> int:
            return _delete(transaction, [row.id for row in transaction.all(old)])

        total = 0
        while count := await self._database.run(forget):
            total += count
        return total


def _columns(conversation: Conversation) -> dict[str, Any]:
    return {
        "principal": clean_text(conversation.principal),
        "tenant": clean_text(conversation.tenant),
        "title": clean_text(conversation.title),
        "updated_at": conversation.updated_at,
        "body": dump(conversation),
    }


def _values(exchange: Exchange) -> dict[str, Any]:
    return {
        "id": clean_text(exchange.id),
        "conversation": clean_text(exchange.conversation),
        "run_id": clean_text(exchange.run_id),
        "state": exchange.state,
        "text": clean_text(exchange.text),
        "answer": clean_text(exchange.answer),
        "body": dump(exchange),
    }


def _read(row: Row[Any]) -> Exchange:
    return structs.replace(load(row.body, Exchange), number=row.number, state=row.state)


def _lock(transaction: Transaction, id_: str) -> None:
    """Let nobody else decide about the exchanges of a conversation until the commit."""
    wanted = select(CONVERSATIONS.c.id).where(CONVERSATIONS.c.id == clean_text(id_))
    transaction.first(wanted.with_for_update())


def _get(transaction: Transaction, id_: str) -> Conversation | None:
    wanted = select(CONVERSATIONS.c.body).where(CONVERSATIONS.c.id == clean_text(id_))
    row = transaction.first(wanted)
    return None if row is None else load(row.body, Conversation)


def _update(transaction: Transaction, id_: str, changes: Mapping[str, Any]) -> Conversation | None:
    _lock(transaction, id_)
    known = _get(transaction, id_)
    if known is None:
        return None
    changed = structs.replace(known, **changes)
    wanted = update(CONVERSATIONS).where(CONVERSATIONS.c.id == clean_text(id_))
    transaction.execute(wanted.values(_columns(changed)))
    return changed


def _delete(transaction: Transaction, ids: Sequence[str]) -> int:
    if not ids:
        return 0
    named = [clean_text(id_) for id_ in ids]
    of_them = select(EXCHANGES.c.run_id).where(EXCHANGES.c.conversation.in_(named))
    delete_ended_runs(transaction, [row.run_id for row in transaction.all(of_them)])
    transaction.execute(delete(EXCHANGES).where(EXCHANGES.c.conversation.in_(named)))
    return transaction.execute(delete(CONVERSATIONS).where(CONVERSATIONS.c.id.in_(named)))


def _exchange(transaction: Transaction, condition: Any) -> Exchange | None:
    row = transaction.first(select(EXCHANGES).where(condition))
    return None if row is None else _read(row)


def _select_exchanges(conversation: str, states: Collection[ExchangeState]) -> Any:
    wanted = select(EXCHANGES).where(EXCHANGES.c.conversation == clean_text(conversation))
    return wanted.where(EXCHANGES.c.state.in_(sorted(states))) if states else wanted


def _list_queued(transaction: Transaction, conversation: str) -> list[Exchange]:
    """The exchanges that wait, in their order."""
    wanted = _select_exchanges(conversation, ("queued",)).order_by(EXCHANGES.c.number)
    return [_read(row) for row in transaction.all(wanted)]


def _move_behind(transaction: Transaction, new: Exchange, later: Sequence[Exchange]) -> None:
    """Let queued exchanges come after a new one: they get new numbers."""
    for item in later:
        moved = structs.replace(item, parent=new.id) if item is later[0] else item
        transaction.execute(delete(EXCHANGES).where(EXCHANGES.c.id == clean_text(item.id)))
        transaction.execute(transaction.insert(EXCHANGES).values(_values(moved)))


def _select_of_runs(run_ids: Sequence[str]) -> Any:
    return (
        select(EXCHANGES.c.run_id, CONVERSATIONS.c.body)
        .join(CONVERSATIONS, CONVERSATIONS.c.id == EXCHANGES.c.conversation)
        .where(EXCHANGES.c.run_id.in_(run_ids))
    )


def _is_any(transaction: Transaction, conversation: str, states: Collection[ExchangeState]) -> bool:
    """Whether an exchange of a conversation is in one of these states."""
    wanted = _select_exchanges(conversation, states).with_only_columns(EXCHANGES.c.number)
    return transaction.first(wanted.limit(1)) is not None


def _store(transaction: Transaction, exchange: Exchange) -> None:
    wanted = update(EXCHANGES).where(EXCHANGES.c.id == clean_text(exchange.id))
    transaction.execute(wanted.values(_values(exchange)))


def _select(query: ConversationQuery) -> Any:
    wanted = select(CONVERSATIONS).order_by(
        CONVERSATIONS.c.updated_at.desc(), CONVERSATIONS.c.number.desc()
    )
    if query.principal:
        names = map(clean_text, expand_id(query.principal))
        wanted = wanted.where(CONVERSATIONS.c.principal.in_(names))
    if query.tenant is not None:
        wanted = wanted.where(CONVERSATIONS.c.tenant == clean_text(query.tenant))
    if query.text:
        text = clean_text(query.text).lower()
        of_it = EXCHANGES.c.conversation == CONVERSATIONS.c.id
        said = or_(_contains(EXCHANGES.c.text, text), _contains(EXCHANGES.c.answer, text))
        wanted = wanted.where(
            or_(_contains(CONVERSATIONS.c.title, text), exists().where(of_it, said))
        )
    if (before := decode_position(query.cursor)) is not None:
        place = tuple_(CONVERSATIONS.c.updated_at, CONVERSATIONS.c.number)
        wanted = wanted.where(place < before)
    return wanted


def _contains(column: Any, text: str) -> Any:
    return func.lower(column).contains(text, autoescape=True)
