"""A crash at every point of every operation: what is found is what was before it, or after it.

A crash is what the disk holds at that moment: the files are copied, and opened elsewhere.
"""

import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest
from tests.storage.made import NOON, a_result, a_start, a_written, an_outcome
from tests.storage.test_approvals import an_approval
from tests.storage.test_audit import an_entry
from tests.storage.test_catalogue import a_version
from tests.storage.test_conversations import a_conversation, an_exchange
from tests.storage.test_credentials import SEALED, a_credential
from tests.storage.test_documents import TEXT, a_document
from tests.storage.test_files import NO_QUOTA, a_file
from tests.storage.test_identity import A_CODE, a_founding, a_key, a_link, a_session
from tests.storage.test_knowledge_index import EAST, MODEL, a_piece, indexed
from tests.storage.test_pins import a_held, a_pin
from tests.storage.test_quotas import A_QUOTA, A_USAGE
from tests.storage.test_resources import SUBSCRIBED, a_resource
from tests.storage.test_roles import A_ROLE
from tests.storage.test_runs import WAITING
from tests.storage.test_runs import a_result as a_run_result
from tests.storage.test_runs import a_start as a_run_start
from tests.storage.test_seen_tools import a_seen
from tests.storage.test_switches import a_switch
from tests.storage.test_taints import A_TAINT

from pegboard.core.ports.catalogue_stores import DependencyChange
from pegboard.core.ports.durability import Signal
from pegboard.core.ports.run_store import RunEvent, StoredPlan, StoredStep
from pegboard.core.result import ToolResult
from pegboard.storage import Storage, open_storage
from pegboard.storage.databases.transaction import Operation, Transaction
from pegboard.storage.sql.knowledge import segments as knowledge_segments
from pegboard.storage.tables import METADATA
from pegboard.testing import FakeClock

Dump = dict[str, list[tuple[Any, ...]]]

STEP = StoredStep(path="fetch", started_at=NOON, finished_at=NOON + 1, value=[1])
PIECE, SECOND = a_piece("d1", 1, "one"), a_piece("d1", 2, "two")
EVENTS = [RunEvent(kind="node", at=NOON), RunEvent(kind="node", at=NOON)]


def operations(storage: Storage) -> list[Callable[[], Awaitable[Any]]]:
    """One of each that writes, in an order in which each has something to do."""
    return [
        lambda: storage.journal.record_start(a_start("w1")),
        lambda: storage.outcomes.claim(an_outcome("k1")),
        lambda: storage.outcomes.hold(an_outcome("k1"), by="c1", until=NOON + 30),
        lambda: storage.outcomes.settle(an_outcome("k1", holder="c1"), ToolResult(content="done")),
        lambda: storage.outcomes.claim(an_outcome("k2")),
        lambda: storage.outcomes.release(an_outcome("k2")),
        lambda: storage.results.put(a_result()),
        lambda: storage.catalogue.add([a_version(f"t{number}") for number in range(50)]),
        lambda: storage.catalogue.add([a_version("t1", "2.0.0")]),
        lambda: storage.catalogue.activate("t1", "1.0.0"),
        lambda: storage.catalogue.mark("t1", "1.0.0", status="deprecated", deprecated_at=NOON),
        lambda: storage.catalogue.deactivate("t2"),
        lambda: storage.pins.hold([a_held(), a_held(name="pay")]),
        lambda: storage.pins.approve([a_pin(digest="d2"), a_pin(name="pay")]),
        lambda: storage.pins.drop("shop", pins=True),
        lambda: storage.seen_tools.put([a_seen(), a_seen("shop__pay")]),
        lambda: storage.switches.put(a_switch()),
        lambda: storage.switches.put(a_switch(reason="a better one")),
        lambda: storage.switches.remove("tool", "shop__*"),
        lambda: storage.dependencies.append(DependencyChange(version=1, at=NOON)),
        lambda: storage.approvals.ask(an_approval()),
        lambda: storage.approvals.decide("a1", "approved", by="bob"),
        lambda: storage.approvals.use("a1", digest="digest of a1", call_id="c1"),
        lambda: storage.approvals.ask(an_approval("late", expires_at=NOON - 1)),
        storage.approvals.expire,
        lambda: storage.runs.put_plan(StoredPlan(id="p1", graph={}, created_at=NOON)),
        lambda: storage.runs.create(a_run_start()),
        lambda: storage.runs.take("one"),
        lambda: storage.runs.signal("r1", Signal(id="s1", topic="event:paid")),
        lambda: storage.runs.reserve("r1", "fetch", "one", takes="s1"),
        lambda: storage.runs.record("r1", STEP, "one"),
        lambda: storage.runs.store_result(WAITING, "one", last_signal=99, wake_at=NOON),
        lambda: storage.runs.lease("r1", "two"),
        lambda: storage.runs.emit("r1", EVENTS),
        lambda: storage.runs.store_result(a_run_result(), "two"),
        lambda: storage.runs.forget(finished_before=NOON + 1),
        lambda: storage.conversations.create(a_conversation()),
        lambda: storage.conversations.append(an_exchange("x1")),
        lambda: storage.conversations.append(an_exchange("x2")),
        lambda: storage.conversations.append(an_exchange("x3")),
        lambda: storage.conversations.withdraw("x3"),
        lambda: storage.conversations.steer("c1", "x2"),
        lambda: storage.conversations.finish(an_exchange("x1", state="completed")),
        lambda: storage.conversations.update("c1", {"title": "Pears"}),
        lambda: storage.conversations.delete("c1"),
        lambda: storage.identity.put_link(a_link()),
        lambda: storage.identity.put_link(a_link("old", expires_at=NOON - 1)),
        lambda: storage.identity.add(a_founding(link="first")),
        lambda: storage.identity.update_user("local", {"disabled_at": NOON}),
        lambda: storage.identity.put_session(a_session()),
        lambda: storage.identity.count_attempt({"ada": 3}, at=NOON, window=60),
        lambda: storage.identity.put_record(A_CODE),
        lambda: storage.identity.take_record("code", "a", at=NOON),
        lambda: storage.identity.end_sessions(user="local"),
        lambda: storage.identity.add_key(a_key()),
        lambda: storage.identity.update_key("k1", {"revoked_at": NOON}),
        lambda: storage.identity.remove_membership("acme", "local"),
        lambda: storage.identity.forget(before=NOON),
        lambda: storage.files.add(a_file(), quota=NO_QUOTA),
        lambda: storage.files.replace(a_file(state="ready", revision=2)),
        lambda: storage.files.remove("f1"),
        lambda: storage.resources.add(a_resource()),
        lambda: storage.resources.replace(a_resource(title="GitHub", revision=2)),
        lambda: storage.resources.subscribe(SUBSCRIBED),
        lambda: storage.resources.put_definitions("r1", [{"name": "ada--github__list"}]),
        lambda: storage.resources.unsubscribe(SUBSCRIBED),
        lambda: storage.resources.delete("r1"),
        lambda: storage.credentials.add(a_credential()),
        lambda: storage.credentials.add(a_credential("k2", name="home", is_default=True)),
        lambda: storage.credentials.claim_refresh("k1", version=1, now=NOON, until=NOON + 30),
        lambda: storage.credentials.update("k1", {"expires_at": NOON}, sealed=SEALED),
        lambda: storage.credentials.claim_refresh("k1", version=2, now=NOON, until=NOON + 30),
        lambda: storage.credentials.release_refresh("k1"),
        lambda: storage.credentials.remove("k1"),
        lambda: storage.taints.add("c1", A_TAINT),
        lambda: storage.taints.forget(before=NOON + 1),
        lambda: storage.roles.put(A_ROLE),
        lambda: storage.roles.remove("acme", "support"),
        lambda: storage.quotas.put(A_QUOTA),
        lambda: storage.quotas.add([A_USAGE]),
        lambda: storage.quotas.remove(A_QUOTA.key),
        lambda: storage.tool_vectors.put(MODEL, {b"a": [0.5, 1.0]}),
        lambda: storage.tool_vectors.forget(MODEL),
        lambda: storage.documents.add(a_document()),
        lambda: storage.documents.put_text("d1", 1, TEXT),
        lambda: storage.knowledge_index.put("d1", 1, [indexed(PIECE, EAST)], embedder=MODEL),
        lambda: storage.knowledge_index.put("d1", 2, [indexed(PIECE), indexed(SECOND, EAST)]),
        lambda: storage.knowledge_index.put_vectors(MODEL, {SECOND.id: [EAST]}),
        lambda: storage.knowledge_index.pack("b1"),
        lambda: storage.documents.change("d1", {"state": "held"}),
        lambda: storage.documents.delete("d1"),
        lambda: storage.audit.append([an_entry(number) for number in range(5)]),
        lambda: storage.audit.retain(since=NOON + 3, by="ada"),
        lambda: _written(storage),
        storage.sweep,
    ]


async def _written(storage: Storage) -> None:
    storage.listener.on_event(a_written("w1"))
    storage.auditor.on_event(a_written("w1"))
    await storage.flush()


class Points:
    """Copies the files before each transaction is committed, and after."""

    def __init__(self, storage: Storage, data: Path, copies: Path) -> None:
        self._data = data
        self._copies = copies
        self.taken: list[Path] = []
        database = cast("Any", storage)._database
        run = database.run

        async def watched(operation: Operation[Any], *, atomic: bool = False) -> Any:
            def midway(transaction: Transaction) -> Any:
                value = operation(transaction)
                self.take()
                return value

            self.take()
            value = await run(midway, atomic=atomic)
            self.take()
            return value

        flush = database.flush

        async def flushed() -> None:
            self.take()
            await flush()
            self.take()

        database.run = watched
        database.flush = flushed

    def take(self) -> None:
        copy = self._copies / str(len(self.taken))
        copy.mkdir(parents=True)
        for file in self._data.glob("pegboard.db*"):
            shutil.copy(file, copy)
        self.taken.append(copy)


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_after_a_crash_each_operation_is_there_whole_or_not_at_all(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_MIN_PIECES", "_MIN_SEGMENT"):
        monkeypatch.setattr(knowledge_segments, name, 1)
    data = tmp_path / "data"
    storage = open_storage(data, clock=clock)
    points = Points(storage, data, tmp_path / "copies")
    before = dump(data)
    checked = changed = 0
    for operation in operations(storage):
        points.taken.clear()
        shutil.rmtree(tmp_path / "copies", ignore_errors=True)
        await operation()
        after = dump(data)
        found = [await reopened(copy, clock) for copy in points.taken]
        checked += len(found)
        changed += before != after

        assert all(state in (before, after, on_its_way(before, after)) for state in found)
        assert found[0] == before
        assert found[-1] == after  # what was answered is there
        before = after
    await storage.close()

    # `sweep` has nothing to do, every other operation something.
    assert changed == len(operations(storage)) - 1
    # rows in passing have no midway, and the trail is let go in two steps
    assert checked == 3 * len(operations(storage)) - 1 + 3


def on_its_way(before: Dump, after: Dump) -> Dump:
    """Records of the trail that are let go are still there when it says so."""
    both = {*before["audit"], *after["audit"]}
    return {**after, "audit": sorted(both, key=repr)}


async def reopened(copy: Path, clock: FakeClock) -> Dump:
    """What is found by whoever comes after the crash."""
    async with open_storage(copy, clock=clock) as storage:
        report = await storage.audit.verify()
    assert report.fault == ""
    return dump(copy)


def dump(data: Path) -> Dump:
    connection = sqlite3.connect(data / "pegboard.db")
    try:
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr)
            for name in METADATA.tables
        }
    finally:
        connection.close()
