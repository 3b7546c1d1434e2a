"""The service of stored resources, over a board that is opened without a server."""

from typing import Any, cast

import pytest
from tests.features.identity.made import WatchedStore

from pegboard import Pegboard
from pegboard.core.event import BoardChanged, Event
from pegboard.core.ports.accounts.identity_store import FIRST_USER, NewIdentity, User
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied, InvalidRequest, ResourceNotFound
from pegboard.features.resources import NewResource, ResourceChange, service

CONFIG = {"base_url": "https://a.example", "actions": [{"name": "list_orders", "path": "/orders"}]}
BOB = Principal(id="u2", user="u2")
ADA = Principal(id=FIRST_USER, user=FIRST_USER, scopes=frozenset({"*"}))


class Changes:
    """Receives the changes of resources."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, str]] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, BoardChanged) and event.kind == "resource":
            self.seen.append((event.action, event.subject, event.by))


def a_connector(name: str = "orders", **changes: Any) -> NewResource:
    fields: dict[str, Any] = {"kind": "connector", "source_kind": "openapi", "config": CONFIG}
    return NewResource(name=name, **(fields | changes))


async def add_people(board: Pegboard) -> None:
    store = board._open.storage.identity
    for user, handle, is_operator in ((FIRST_USER, "ada", True), ("u2", "bob", False)):
        person = User(id=user, handle=handle, name=handle, created_at=0.0, is_operator=is_operator)
        await store.add(NewIdentity(at=0.0, user=person))


async def test_what_local_added_is_the_first_operators() -> None:
    async with Pegboard() as board:
        new = await board.resources.add(a_connector(), principal=LOCAL)
        await add_people(board)

        own = await board.resources.get(new.resource.id, principal=ADA)
        assert (own.resource.name, own.owner, own.visibility.kind) == ("orders", "ada", "own")
        with pytest.raises(ResourceNotFound):
            await board.resources.get(new.resource.id, principal=BOB)


async def test_each_change_is_reported_with_its_caller() -> None:
    changes = Changes()
    async with Pegboard(listeners=[changes]) as board:
        await add_people(board)
        new = await board.resources.add(a_connector(), principal=BOB)
        title = ResourceChange(title="Orders")
        await board.resources.change(new.resource.id, title, principal=BOB)
        await board.resources.change(new.resource.id, title, principal=BOB)
        await board.resources.delete(new.resource.id, principal=BOB)

    assert changes.seen == [
        ("added", "bob--orders", "u2"),
        ("changed", "bob--orders", "u2"),
        ("deleted", "bob--orders", "u2"),
    ]


async def test_a_global_one_is_changed_by_operators_and_seen_by_all() -> None:
    async with Pegboard() as board:
        await add_people(board)
        new = await board.resources.add(a_connector(visibility="global"), principal=ADA)
        id_ = new.resource.id

        assert (await board.resources.get(id_, principal=BOB)).visibility.kind == "global"
        with pytest.raises(AccessDenied, match="only its owner may change it"):
            await board.resources.delete(id_, principal=BOB)
        other = Principal(id="u3", user="u3", scopes=frozenset({"*"}))
        change = ResourceChange(visibility="private")
        await board.resources.change(id_, change, principal=other)
        with pytest.raises(ResourceNotFound):
            await board.resources.get(id_, principal=other)


async def test_a_person_has_a_limited_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_OWNED", 1)
    async with Pegboard() as board:
        await add_people(board)
        await board.resources.add(a_connector(), principal=BOB)
        with pytest.raises(InvalidRequest, match="You have 1 resources already"):
            await board.resources.add(a_connector("second"), principal=BOB)
        await board.resources.add(a_connector("second"), principal=ADA)


async def test_a_caller_without_an_account_installs_nothing() -> None:
    async with Pegboard() as board:
        with pytest.raises(AccessDenied, match="the caller has no account"):
            await board.resources.subscribe("r_1", principal=LOCAL)
        stranger = Principal(id="stranger")
        with pytest.raises(AccessDenied, match="the caller has no account"):
            await board.resources.add(a_connector(), principal=stranger)


async def test_a_title_hides_no_characters() -> None:
    async with Pegboard() as board:
        new = await board.resources.add(a_connector(), principal=LOCAL)

        with pytest.raises(InvalidRequest, match=r"The title has .* U\+202E"):
            await board.resources.add(
                a_connector("shop", title="shop\u202e official"), principal=LOCAL
            )
        with pytest.raises(InvalidRequest, match=r"The title has .* U\+202E"):
            await board.resources.change(
                new.resource.id, ResourceChange(title="shop\u202e official"), principal=LOCAL
            )


async def test_owners_are_named_without_a_look_at_other_people() -> None:
    async with Pegboard() as board:
        await add_people(board)
        await board.resources.add(a_connector(), principal=BOB)
        store = WatchedStore(board._open.storage.identity)
        cast("Any", board.resources)._people = store
        await board.resources.list(principal=BOB)

    assert store.asked == [("users", "(['u2'],) {}")]
