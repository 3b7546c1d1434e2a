"""What quotes a deleted document is found and forgotten, in every storage."""

from tests.storage.made import a_result, an_outcome
from tests.storage.test_approvals import an_approval
from tests.storage.test_conversations import a_conversation, an_exchange
from tests.storage.test_runs import a_result as a_run_result
from tests.storage.test_runs import a_start

from pegboard.core.ports.maintenance import QuotePlaces
from pegboard.core.ports.run_store import RunEvent, StoredStep
from pegboard.core.result import ToolResult
from pegboard.storage import Storage
from pegboard.testing import FakeClock

DOCUMENT = "d_0123456789abcdef0123"


async def test_runs_and_conversations_in_which_an_id_stands_are_found(
    storage: Storage, clock: FakeClock
) -> None:
    for name in ("params", "step", "event", "result", "none"):
        params = {"document": DOCUMENT} if name == "params" else {}
        await storage.runs.create(a_start(name, params=params), owner="one")
    step = StoredStep(path="find", started_at=1.0, finished_at=2.0, value={"cites": [DOCUMENT]})
    await storage.runs.record("step", step, "one")
    await storage.runs.emit("event", [RunEvent(kind="found", at=1.0, data={"it": DOCUMENT})])
    await storage.runs.store_result(a_run_result(run_id="result", output=DOCUMENT), "one")
    for name in ("c1", "c2"):
        await storage.conversations.create(a_conversation(name))
        messages = ({"role": "tool", "text": DOCUMENT},) if name == "c1" else ()
        exchange = an_exchange(f"x_{name}", conversation=name, messages=messages)
        await storage.conversations.append(exchange)

    found = await storage.upkeep.find_quoting(DOCUMENT)

    assert sorted(found.runs) == ["event", "params", "result", "step"]
    assert found.conversations == ("c1",)
    assert await storage.upkeep.find_quoting("d_nothing") == QuotePlaces()


async def test_runs_that_ended_before_are_not_read(storage: Storage, clock: FakeClock) -> None:
    for name in ("ended", "open"):
        start = a_start(name, params={"document": DOCUMENT}, created_at=clock.time())
        await storage.runs.create(start, owner="one")
    result = a_run_result(run_id="ended")
    await storage.runs.store_result(result, "one")
    clock.advance(10)

    found = await storage.upkeep.find_quoting(DOCUMENT, since=clock.time())
    earlier = await storage.upkeep.find_quoting(DOCUMENT, since=clock.time() - 10)

    assert found.runs == ("open",)
    assert sorted(earlier.runs) == ["ended", "open"]


async def test_runs_are_found_by_the_words_of_their_input(
    storage: Storage, clock: FakeClock
) -> None:
    for name, said in (("both", "one and two"), ("one", "one")):
        start = a_start(name, params={"said": said}, created_at=clock.time())
        await storage.runs.create(start, owner="one")

    found = await storage.upkeep.find_started_with(["one", "two"], since=clock.time())

    assert [*found] == ["both"]
    assert not await storage.upkeep.find_started_with(["one"], since=clock.time() + 1)


async def test_what_is_kept_of_the_calls_of_one_run_is_forgotten(storage: Storage) -> None:
    for name in ("r1", "r2"):
        await storage.runs.create(a_start(name), owner="one")
        await storage.approvals.ask(an_approval(f"a_{name}", run_id=name))
        claim = an_outcome(f"{name}:find:0")
        await storage.outcomes.claim(claim)
        await storage.outcomes.settle(claim, ToolResult(content="found"))
        handle = f"pegboard://results/of_{name}"
        await storage.results.put(a_result(handle))
        step = StoredStep(path="find", started_at=1.0, finished_at=2.0, value={"link": handle})
        await storage.runs.record(name, step, "one")

    assert await storage.upkeep.forget_calls_of(["r1"]) == 3

    assert await storage.approvals.get("a_r1") is None
    assert await storage.results.get("pegboard://results/of_r1", "acme/ada") is None
    assert await storage.outcomes.claim(an_outcome("r1:find:0")) is None
    assert await storage.approvals.get("a_r2") is not None
    assert await storage.results.get("pegboard://results/of_r2", "acme/ada") is not None
    assert await storage.outcomes.claim(an_outcome("r2:find:0")) is not None
    assert await storage.upkeep.forget_calls_of(["r3"]) == 0


async def test_runs_are_forgotten_together(storage: Storage) -> None:
    page = f"pegboard://results/{'0f' * 12}-p500"
    for name, said in (("r1", "none"), ("r1:x", f"{page} and more"), ("r2", f"{page}and more")):
        await storage.runs.create(a_start(name), owner="one")
        claim = an_outcome(f"{name}:find:0")
        await storage.outcomes.claim(claim)
        await storage.outcomes.settle(claim, ToolResult(content="found"))
        step = StoredStep(path="find", started_at=1.0, finished_at=2.0, value={"text": said})
        await storage.runs.record(name, step, "one")
        await storage.runs.store_result(a_run_result(run_id=name), "one")
    await storage.results.put(a_result(page))
    await storage.runs.create(a_start("open"), owner="one")

    assert await storage.upkeep.forget_calls_of(["r1:x", "r2"]) == 3
    assert await storage.runs.forget_runs(["r1:x", "r2", "open", "none"]) == 2

    assert await storage.results.get(page, "acme/ada") is None
    assert await storage.outcomes.claim(an_outcome("r1:find:0")) is not None
    assert await storage.outcomes.claim(an_outcome("r1:x:find:0")) is None
    assert {*await storage.runs.get_all(["r1", "r2", "open", "none"])} == {"r1", "open"}
    assert not await storage.runs.steps("r2")


async def test_conversations_are_told_from_other_ids(storage: Storage) -> None:
    await storage.conversations.create(a_conversation("c1"))

    assert await storage.conversations.list_known(["c1", "r1"]) == {"c1"}
    assert await storage.conversations.list_known([]) == frozenset()
