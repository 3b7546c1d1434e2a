"""Documents of knowledge bases, in every storage."""

import asyncio
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.storage.made import NOON, a_storage

from pegboard.access.document_visibility import is_in_scope
from pegboard.core.knowledge import ConvertedDocument, PageSpan
from pegboard.core.ports.knowledge.document_store import DocumentScope, ReadyCount, StoredDocument
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import DocumentNotFound
from pegboard.storage import Storage
from pegboard.testing import FakeClock

ADA = Principal(id="ada", user="u1", organisations=frozenset({"acme"}))
BOB = Principal(id="bob", user="u2", organisations=frozenset({"zoo"}))
TEXT = ConvertedDocument(text="One\ntwo", media_type="text/plain", pages=(PageSpan(1, 0, 7),))


def a_document(id: str = "d1", **changes: Any) -> StoredDocument:
    fields: dict[str, Any] = {
        "base": "b1",
        "name": f"{id}.txt",
        "outer_id": id,
        "owner": "/u1",
        "created_at": NOON,
        "updated_at": NOON,
        "state": "ready",
        "answers": True,
    }
    return StoredDocument(id=id, **(fields | changes))


def a_scope(principal: Principal = LOCAL, *bases: str, **filters: Any) -> DocumentScope:
    return DocumentScope(bases=bases or ("b1",), principal=principal, **filters)


async def test_a_document_is_stored_once_for_its_base_source_and_outer_id(
    storage: Storage, other: Storage
) -> None:
    first = a_document()
    assert await storage.documents.add(first) == first
    assert await storage.documents.add(a_document("d2", outer_id="d1")) == first
    elsewhere = a_document("d3", base="b2", outer_id="d1")
    assert await storage.documents.add(elsewhere) == elsewhere

    assert await other.documents.get("d1") == first
    assert await other.documents.get("d2") is None


async def test_the_bases_that_have_documents_are_listed_once_each(
    storage: Storage, other: Storage
) -> None:
    for id_, base in (("d1", "b2"), ("d2", "b1"), ("d3", "b2"), ("d4", "b3")):
        await storage.documents.add(a_document(id_, base=base))
    await storage.documents.delete("d4")

    assert await other.documents.list_bases() == ["b1", "b2"]


async def test_a_change_of_a_document_that_is_gone_is_refused(storage: Storage) -> None:
    await storage.documents.add(a_document())
    changes = {"state": "failed", "code": "document_unreadable", "reason": "It is encrypted."}
    changed = a_document(**changes)

    assert await storage.documents.change("d1", changes) == changed
    assert await storage.documents.change("d2", changes) is None
    assert await storage.documents.get("d1") == changed


async def test_changes_of_different_fields_do_not_undo_each_other(
    storage: Storage, other: Storage
) -> None:
    await storage.documents.add(a_document())

    await asyncio.gather(
        *(
            store.documents.change("d1", {name: "mine"})
            for store in (storage, other)
            for name in ("title", "edition", "run")
        )
    )

    found = await storage.documents.get("d1")
    assert found == a_document(title="mine", edition="mine", run="mine")


async def test_of_two_that_take_a_document_in_the_first_has_it(
    storage: Storage, other: Storage
) -> None:
    await storage.documents.add(a_document())

    first = await storage.documents.change("d1", {"run": "r1"}, run="")
    second = await other.documents.change("d1", {"run": "r2"}, run="")
    again = await other.documents.change("d1", {"run": "r3"}, run="r1")

    assert (first, second, again) == (a_document(run="r1"), None, a_document(run="r3"))


async def test_a_change_of_an_earlier_attempt_is_refused(storage: Storage) -> None:
    await storage.documents.add(a_document(attempt=2, title="Mine"))

    assert await storage.documents.change("d1", {"state": "ready"}, attempt=1) is None
    defaults = {"title": "Found", "edition": "2026"}
    changed = await storage.documents.change(
        "d1", {"state": "cutting"}, attempt=2, defaults=defaults
    )
    assert changed == a_document(attempt=2, title="Mine", edition="2026", state="cutting")


async def list_digest(storage: Storage, base: str, principal: Principal) -> list[str]:
    scope = DocumentScope(bases=(base,), principal=principal, include_replaced=True)
    return [row.id for row in await storage.documents.list_digest(scope, "abc")]


async def test_the_same_file_is_found_by_its_digest(storage: Storage) -> None:
    await storage.documents.add(a_document(digest="abc", audience="private"))

    await storage.documents.add(a_document("d2", outer_id="b.md", digest="abc"))
    eve = Principal(id="eve", user="u2")

    assert await list_digest(storage, "b1", LOCAL) == ["d1", "d2"]
    assert await list_digest(storage, "b1", eve) == ["d2"]
    assert await list_digest(storage, "b2", LOCAL) == []


async def test_texts_are_stored_by_revision_and_deleted_with_their_document(
    storage: Storage,
) -> None:
    await storage.documents.add(a_document())
    await storage.documents.put_text("d1", 1, TEXT)
    await storage.documents.put_text("d1", 1, TEXT)
    await storage.documents.put_text("d1", 2, ConvertedDocument(text="new", media_type="x"))

    assert await storage.documents.get_text("d1", 1) == TEXT
    assert await storage.documents.get_text("d1", 3) is None
    assert await storage.documents.delete("d1")
    assert not await storage.documents.delete("d1")
    assert await storage.documents.get_text("d1", 1) is None


async def test_several_documents_and_texts_are_read_at_once(storage: Storage) -> None:
    for key in ("d1", "d2"):
        await storage.documents.add(a_document(key))
        await storage.documents.put_text(key, 1, TEXT)

    rows = await storage.documents.get_all(["d1", "d2", "d3"])

    assert rows == {"d1": a_document("d1"), "d2": a_document("d2")}
    wanted = {"d1": 1, "d2": 2, "d3": 1}
    assert await storage.documents.get_texts(wanted) == {"d1": TEXT}
    assert await storage.documents.get_texts(wanted) == {"d1": TEXT}
    assert await storage.documents.get_texts({}) == {}


async def test_a_text_that_was_read_goes_with_its_document_on_each_server(
    storage: Storage, other: Storage
) -> None:
    await storage.documents.add(a_document())
    await storage.documents.put_text("d1", 1, TEXT)
    for server in (storage, other):
        assert await server.documents.get_texts({"d1": 1}) == {"d1": TEXT}

    await other.documents.delete("d1")

    for server in (storage, other):
        assert await server.documents.get_texts({"d1": 1}) == {}


async def test_a_document_that_was_deleted_meanwhile_gets_no_text(storage: Storage) -> None:
    await storage.documents.add(a_document())
    await storage.documents.delete("d1")

    with pytest.raises(DocumentNotFound):
        await storage.documents.put_text("d1", 1, TEXT)

    assert await storage.documents.get_text("d1", 1) is None


async def test_unfinished_documents_are_listed_most_urgent_first(storage: Storage) -> None:
    for document in (
        a_document("late", state="waiting", created_at=NOON + 1),
        a_document("early", state="cutting"),
        a_document("urgent", state="waiting", created_at=NOON + 2, priority=5),
        a_document("done"),
        a_document("broken", state="failed"),
        a_document("asked", state="held"),
    ):
        await storage.documents.add(document)

    listed = await storage.documents.list_unfinished()
    assert [item.id for item in listed] == ["urgent", "early", "late"]


@pytest.mark.slow
@given(
    caller=some.builds(
        Principal,
        id=some.just("caller"),
        user=some.sampled_from(["", "u1", "u2"]),
        organisations=some.frozensets(some.sampled_from(["acme", "zoo"])),
    ),
    bases=some.sets(some.sampled_from(["b1", "b2"])),
    include_replaced=some.booleans(),
    editions=some.sampled_from([(), ("2024",)]),
)
def test_the_predicate_in_sql_is_the_one_in_python(full: Storage, **scope: Any) -> None:
    scope["bases"] = tuple(scope["bases"])
    wanted = DocumentScope(principal=scope.pop("caller"), **scope)

    listed = asyncio.run(full.documents.list_visible(wanted, limit=1_000))

    expected = [item.id for item in EVERY if is_in_scope(wanted, item)]
    assert [item.id for item in listed] == sorted(expected)


EVERY = [
    a_document(
        f"d{number}",
        base=base,
        owner=owner,
        audience=audience,
        organisation=organisation,
        replaced_by=replaced_by,
        edition=edition,
    )
    for number, (base, owner, audience, organisation, replaced_by, edition) in enumerate(
        product(
            ("b1", "b2"),
            ("/u1", "/u2"),
            ("base", "organisation", "private"),
            ("", "acme", "zoo"),
            ("", "d0"),
            ("", "2024"),
        )
    )
]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """A database that has a document of each kind."""
    storage = a_storage("sqlite", tmp_path_factory.mktemp("full"), FakeClock())

    async def fill() -> None:
        for item in EVERY:
            await storage.documents.add(item)

    asyncio.run(fill())
    yield storage
    asyncio.run(storage.close())


VISIBLE = [
    pytest.param(a_scope(LOCAL), ["base", "mine", "ours"], id="a caller without an account"),
    pytest.param(a_scope(ADA), ["base", "mine", "ours"], id="its owner"),
    pytest.param(a_scope(BOB), ["base"], id="another caller"),
    pytest.param(
        a_scope(Principal(id="eve", user="u3", organisations=frozenset({"acme"}))),
        ["base", "ours"],
        id="another of the organisation",
    ),
    pytest.param(
        a_scope(LOCAL, include_replaced=True),
        ["base", "mine", "old", "ours"],
        id="with what was replaced",
    ),
    pytest.param(a_scope(LOCAL, documents=("mine", "other")), ["mine"], id="some documents"),
    pytest.param(a_scope(LOCAL, editions=("2024",)), ["base"], id="an edition"),
    pytest.param(a_scope(LOCAL, media_types=("text/html",)), ["ours"], id="a media type"),
    pytest.param(a_scope(LOCAL, "b2"), ["other"], id="another base"),
]


@pytest.mark.parametrize(("scope", "expected"), VISIBLE)
async def test_what_is_not_in_the_scope_is_not_there(
    storage: Storage, scope: DocumentScope, expected: list[str]
) -> None:
    for document in (
        a_document("base", edition="2024"),
        a_document("mine", audience="private"),
        a_document("ours", audience="organisation", organisation="acme", media_type="text/html"),
        a_document("old", replaced_by="base"),
        a_document("other", base="b2"),
    ):
        await storage.documents.add(document)

    listed = await storage.documents.list_visible(scope)
    counted = await storage.documents.count_ready(scope)

    assert [item.id for item in listed] == expected
    assert counted == {scope.bases[0]: ReadyCount(len(expected), 0)}


async def test_a_list_goes_on_after_an_id(storage: Storage) -> None:
    for number in range(5):
        await storage.documents.add(a_document(f"d{number}", state=("ready", "held")[number % 2]))

    ready = await storage.documents.list_visible(a_scope(), states=["ready"], after="d0", limit=1)
    assert [item.id for item in ready] == ["d2"]
