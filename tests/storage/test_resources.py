"""Stored resources, in every storage."""

import asyncio
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.storage.made import NOON, a_storage

from pegboard.access.visibility import ResourceIndex
from pegboard.core.ports.accounts.resource_store import (
    ResourceChanges,
    StoredResource,
    Subscription,
)
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import InvalidRequest
from pegboard.storage import Storage
from pegboard.testing import FakeClock

SUBSCRIBED = Subscription(resource="r1", user="u2")
LISTED = {"name": "ada--github__list", "input_schema": {"type": "object"}}


def a_resource(id: str = "r1", name: str = "ada--github", **changes: Any) -> StoredResource:
    fields: dict[str, Any] = {
        "kind": "connector",
        "source_kind": "openapi",
        "owner": "u1",
        "created_at": NOON,
        "updated_at": NOON,
        "config": {"document": "https://api.github.example/openapi.json"},
    }
    return StoredResource(id=id, name=name, **(fields | changes))


async def test_what_is_stored_is_given_back_on_each_server(
    storage: Storage, other: Storage
) -> None:
    agent = a_resource("r2", "ada--helper", kind="agent", source_kind="")
    await storage.resources.add(a_resource())
    await storage.resources.add(agent)
    await storage.resources.subscribe(SUBSCRIBED)
    await storage.resources.subscribe(SUBSCRIBED)
    await storage.resources.put_definitions("r1", [{"name": "old"}])
    await storage.resources.put_definitions("r1", [LISTED])

    found = await other.resources.changes()
    assert found == ResourceChanges(
        version=found.version,
        ids=frozenset({"r1", "r2"}),
        resources=(agent, a_resource()),
        subscriptions=(SUBSCRIBED,),
        definitions={"r1": (LISTED,)},
    )
    assert await other.resources.get("r1") == a_resource()
    assert await other.resources.get("r3") is None
    assert list(await other.resources.list_visible(LOCAL, kind="agent")) == [agent]


async def test_the_files_of_a_skill_are_stored_as_they_are(
    storage: Storage, other: Storage
) -> None:
    files = {
        "SKILL.md": "---\nname: refunds\n---\n\u00e9 \U0001f4e6\r\n\t" + "x" * 250_000,
        "a/b": "",
    }
    skill = a_resource("r1", "ada--refunds", kind="skill", source_kind="", config={"files": files})
    await storage.resources.add(skill)

    assert await other.resources.get("r1") == skill
    assert list(await other.resources.list_visible(LOCAL, kind="skill")) == [skill]


async def test_a_name_is_given_once_for_each_kind(storage: Storage) -> None:
    await storage.resources.add(a_resource())
    await storage.resources.add(a_resource("r2", kind="agent"))
    with pytest.raises(InvalidRequest, match="'ada--github' is taken"):
        await storage.resources.add(a_resource("r3", owner="u2"))
    assert await storage.resources.get("r3") is None


async def test_a_change_is_made_to_the_revision_that_was_seen(storage: Storage) -> None:
    await storage.resources.add(a_resource())
    changed = a_resource(title="GitHub", visibility="global", revision=2)

    assert await storage.resources.replace(changed)
    assert not await storage.resources.replace(a_resource(title="other", revision=2))
    assert not await storage.resources.replace(a_resource("r9", "ada--none", revision=2))
    assert await storage.resources.get("r1") == changed


async def test_definitions_hold_for_the_configuration_that_they_came_from(
    storage: Storage,
) -> None:
    await storage.resources.add(a_resource())
    await storage.resources.put_definitions("r1", [LISTED])

    await storage.resources.replace(a_resource(title="GitHub", revision=2))
    assert (await storage.resources.changes()).definitions == {"r1": (LISTED,)}
    await storage.resources.replace(a_resource(config={}, revision=3), keep_definitions=False)
    assert (await storage.resources.changes()).definitions == {"r1": ()}


async def test_what_has_changed_since_a_version_is_read_alone(
    storage: Storage, other: Storage
) -> None:
    await storage.resources.add(a_resource())
    await storage.resources.put_definitions("r1", [LISTED])
    before = await other.resources.version()
    second = a_resource("r2", "ada--second")
    await storage.resources.add(second)
    await storage.resources.put_definitions("r2", [])

    found = await other.resources.changes(before)
    assert (found.resources, found.definitions) == ((second,), {"r2": ()})
    assert found.ids == {"r1", "r2"}
    await storage.resources.delete("r2")
    after = await other.resources.changes(found.version)
    assert (after.ids, after.resources, after.definitions) == ({"r1"}, (), {})


async def test_what_is_deleted_leaves_nothing(storage: Storage) -> None:
    await storage.resources.add(a_resource())
    await storage.resources.subscribe(SUBSCRIBED)
    await storage.resources.put_definitions("r1", [LISTED])

    assert await storage.resources.delete("r1")
    assert not await storage.resources.delete("r1")
    found = await storage.resources.changes()
    assert found == ResourceChanges(version=found.version)


async def test_each_change_makes_a_new_version(storage: Storage, other: Storage) -> None:
    versions = [await other.resources.version()]
    for change in (
        lambda: storage.resources.add(a_resource()),
        lambda: storage.resources.replace(a_resource(revision=2)),
        lambda: storage.resources.subscribe(SUBSCRIBED),
        lambda: storage.resources.put_definitions("r1", [LISTED]),
        lambda: storage.resources.unsubscribe(SUBSCRIBED),
        lambda: storage.resources.delete("r1"),
    ):
        await change()
        versions.append(await other.resources.version())
    assert versions == sorted(set(versions))
    assert not await storage.resources.unsubscribe(SUBSCRIBED)


async def test_what_waits_for_review_is_listed(storage: Storage) -> None:
    waiting = a_resource(organisation="acme", visibility="organisation", publish_status="pending")
    await storage.resources.add(waiting)
    await storage.resources.add(a_resource("r2", "ada--other"))

    assert list(await storage.resources.list_published("pending")) == [waiting]
    assert list(await storage.resources.list_published("approved")) == []


USERS = ("u1", "u2", "u3")
ORGANISATIONS = ("", "acme", "zoo")
EVERY = [
    a_resource(
        f"r{number}",
        f"r{number}",
        owner=owner,
        organisation=organisation,
        visibility=visibility,
        publish_status=status,
    )
    for number, (owner, organisation, visibility, status, _) in enumerate(
        product(
            USERS[:2],
            ORGANISATIONS,
            ("private", "organisation", "global"),
            ("none", "draft", "pending", "approved", "rejected"),
            (True, False),
        )
    )
]
SUBSCRIPTIONS = [
    Subscription(resource=item.id, user=user)
    for number, item in enumerate(EVERY)
    for user in USERS
    if number % 2 == 0
]
CALLERS = some.builds(
    Principal,
    id=some.just("caller"),
    user=some.sampled_from(("", *USERS)),
    scopes=some.frozensets(some.sampled_from(("*", "operator", "acme/people:write"))),
    organisations=some.frozensets(some.sampled_from(ORGANISATIONS[1:])),
)


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def full(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """A storage that has a resource in each state."""
    storage = a_storage(request.param, tmp_path_factory.mktemp("full"), FakeClock())

    async def fill() -> None:
        for item in EVERY:
            await storage.resources.add(item)
        for subscription in SUBSCRIPTIONS:
            await storage.resources.subscribe(subscription)

    asyncio.run(fill())
    yield storage
    asyncio.run(storage.close())


@pytest.mark.slow
@given(caller=CALLERS)
def test_the_predicate_in_sql_is_the_one_in_python(full: Storage, caller: Principal) -> None:
    index = ResourceIndex()
    index.use(EVERY, SUBSCRIPTIONS)

    listed = asyncio.run(full.resources.list_visible(caller))

    assert [item.id for item in listed] == [
        item.id for item in index.list_visible(caller, "connector")
    ]
