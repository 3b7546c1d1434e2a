"""A database that goes away in the middle of runs, and comes back."""

import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.durability.served import Server, a_board, journal, step, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

CHAIN = [f"s{number}" for number in range(20)]


def test_a_database_that_is_gone_and_back_loses_nothing_and_repeats_nothing(
    tmp_path: Path, own_server: Any, own_postgres: str
) -> None:
    folder = a_board(tmp_path)
    with Server(folder, environment={"PEGBOARD_DATABASE": own_postgres}) as server:
        reads = server.start(
            step("a", "write"), step("b", "read_held", "a"), step("c", "write", "b")
        )
        writes = server.start(
            step("d", "write"), step("e", "write_held", "d"), step("f", "write", "e")
        )
        until(lambda: {"b begins", "e begins"} <= set(journal(folder)))
        own_server.stop()
        (folder / "go").touch()
        until(lambda: {"b", "e"} <= set(journal(folder)))
        time.sleep(1.0)
        own_server.start()
        ended = until(lambda: server.in_state(reads, "completed"))
        again = until(lambda: server.in_state(writes, "completed"))
        calls = server.get(f"/history?run_id={writes}")["calls"]

    assert ended["output"] == {"c": "c"}
    assert again["output"] == {"f": "f"}
    assert [call["status"] for call in calls] == ["completed"] * 3
    done = Counter(journal(folder))
    assert {name: done[name] for name in "abcdef"} == dict.fromkeys("abcdef", 1)


def test_a_database_that_is_gone_between_steps_fails_none_of_them(
    tmp_path: Path, own_server: Any, own_postgres: str
) -> None:
    folder = a_board(tmp_path)
    before = [(), *((name,) for name in CHAIN)]
    nodes = [step(name, "write_slowly", *names) for name, names in zip(CHAIN, before, strict=False)]
    with Server(folder, environment={"PEGBOARD_DATABASE": own_postgres}) as server:
        run_id = server.start(*nodes)
        for least in (3, 12):
            until(lambda least=least: _has_come(server, folder, run_id, least))
            own_server.stop()
            time.sleep(0.5)
            own_server.start()
            until(lambda least=least: _has_passed(server, folder, run_id, least))
        ended = until(lambda: _settled(server, folder, run_id))
        calls = server.get(f"/history?run_id={run_id}&limit=200")["calls"]

    assert ended["state"] == "completed", ended
    assert journal(folder) == CHAIN
    done = [call for call in calls if call["status"] == "completed"]
    assert len(done) == len(CHAIN)
    assert {call["status"] for call in calls} <= {"completed", "unavailable"}  # not even begun


def _has_come(server: Server, folder: Path, run_id: str, least: int) -> bool:
    """Whether so many steps are done, or it has ended; what it asks until then is answered."""
    return len(journal(folder)) >= least or _settled(server, folder, run_id) is not None


def _has_passed(server: Server, folder: Path, run_id: str, least: int) -> bool:
    """Whether it has gone on from there; what it asks is answered."""
    return _settled(server, folder, run_id) is not None or len(journal(folder)) > least + 2


def _settled(server: Server, folder: Path, run_id: str) -> dict[str, Any] | None:
    """The run once it has ended; a write that was cut off is answered as it was."""
    run = server.run(run_id)
    if run["state"] in {"completed", "failed"}:
        return run
    if run["state"] == "waiting":
        has_happened = run["pending"][0]["step"] in journal(folder)
        _answer(server, run, "happened" if has_happened else "did_not_happen")
    return None


def _answer(server: Server, run: dict[str, Any], answer: str) -> None:
    [asked] = run["pending"]
    given = {"answer": answer, "output": asked["step"]}
    server.post(f"/runs/{run['run_id']}/answers", {"pending_id": asked["id"], "answer": given})
