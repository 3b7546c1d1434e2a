"""Two servers on one PostgreSQL: each shows what the other plays, and takes over when it dies."""

from pathlib import Path
from typing import Any

import pytest
from tests.durability.served import STANDSTILL, a_board, journal, step, two_servers, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

LEASE = 2.0


def kinds(run: dict[str, Any]) -> list[tuple[str, str]]:
    return [(item["kind"], item["step"]) for item in run["pending"]]


def test_one_takes_over_from_the_other_and_repeats_nothing(tmp_path: Path, postgres: str) -> None:
    folder = a_board(tmp_path)
    with two_servers(folder, postgres, lease=LEASE) as (first, second):
        reads = first.start(
            step("a", "write"), step("b", "read_held", "a"), step("c", "write", "b")
        )
        writes = first.start(
            step("d", "write"), step("e", "write_held", "d"), step("f", "write", "e")
        )
        until(lambda: {"b begins", "e begins"} <= set(journal(folder)))
        seen = until(lambda: _has_done(second.run(reads), "a"))
        watched = second.client.stream("GET", f"/runs/{reads}/events")
        with watched as events:
            lines = events.iter_lines()
            first.kill()
            killed_at = STANDSTILL.clock()
            asked = until(lambda: second.in_state(writes, "waiting"))
            took = STANDSTILL.clock() - killed_at
            (folder / "go").touch()
            ended = until(lambda: second.in_state(reads, "completed"))
            told = [line for line in lines if line.startswith("event:")]
        second.post(
            f"/runs/{writes}/answers",
            {"pending_id": asked["pending"][0]["id"], "answer": {"answer": "did_not_happen"}},
        )
        again = until(lambda: second.in_state(writes, "completed"))
        calls = second.get(f"/history?run_id={writes}")["calls"]

    assert seen["state"] == "in_progress"
    assert kinds(asked) == [("unknown", "e")]
    assert took < 25  # with the usual lease it takes thirty seconds and more
    assert ended["output"] == {"c": "c"}
    assert again["output"] == {"f": "f"}
    assert told[0] == "event: run_started"
    assert told[-1] == "event: run_finished"
    done = journal(folder)
    assert {name: done.count(name) for name in "acdf"} == dict.fromkeys("acdf", 1)
    assert (done.count("b begins"), done.count("b")) == (2, 1)
    assert (done.count("e begins"), done.count("e")) == (2, 1)
    assert sorted(call["status"] for call in calls) == [*["completed"] * 3, "unknown"]


def test_what_is_decided_at_one_wakes_a_run_of_the_other(tmp_path: Path, postgres: str) -> None:
    folder = a_board(tmp_path)
    asks = {"id": "ask", "kind": "wait", "wait": {"question": "Go on?"}}
    with two_servers(folder, postgres, lease=LEASE) as (first, second):
        asked = first.start(asks, step("a", "write", "ask"))
        guarded = first.start(step("b", "guarded"))
        held = first.start(step("c", "read_held"), step("d", "write", "c"))
        until(lambda: "c begins" in journal(folder))
        question = until(lambda: second.in_state(asked, "waiting"))["pending"][0]
        until(lambda: second.in_state(guarded, "waiting"))
        [approval] = second.get("/approvals?state=pending")["approvals"]
        second.post(f"/approvals/{approval['id']}", {"decision": "approve"})
        second.post(f"/runs/{asked}/answers", {"pending_id": question["id"], "answer": "yes"})
        second.post(f"/runs/{held}/cancel", {})
        ended = [until(first.in_state, run, "completed") for run in (asked, guarded)]
        cancelled = until(lambda: first.in_state(held, "cancelled"))
        (folder / "go").touch()
        used = first.get(f"/approvals/{approval['id']}")

    assert [run["output"] for run in ended] == [{"a": "a"}, {"b": "b"}]
    assert cancelled["nodes"][1]["state"] == "cancelled"
    assert used["state"] == "used"
    assert sorted(line for line in journal(folder) if not line.startswith("c")) == ["a", "b"]


def _has_done(run: dict[str, Any], name: str) -> dict[str, Any] | None:
    done = {node["id"] for node in run["nodes"] if node["state"] == "completed"}
    return run if name in done else None
