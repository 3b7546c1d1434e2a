"""One idempotency key on two servers that share a database: nothing runs twice."""

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.durability.served import (
    Asked,
    Server,
    a_board,
    ask_until_free,
    journal,
    two_servers,
    until,
)
from tests.storage.conftest import postgres, postgres_server

__all__ = ["postgres", "postgres_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

LEASE = 2.0
LONG = 8.0
"""A lease that outlasts a machine that stands still for a while."""


def asked(server: Server, tool: str) -> Asked:
    """A call with the key of all calls here."""
    body = {"name": f"my__{tool}", "input": {"step": "pay"}}
    return Asked(server, "/execute", body, key="invoice-98")


def begun(folder: Path) -> Callable[[], bool]:
    return lambda: "pay begins" in journal(folder)


def test_the_second_server_refuses_until_it_gives_the_answer_of_the_first(
    tmp_path: Path, postgres: str
) -> None:
    folder = a_board(tmp_path)
    with two_servers(folder, postgres, lease=LONG) as (one, other):
        first = asked(one, "write_held")
        until(begun(folder))
        time.sleep(1.25 * LONG)  # the lease is renewed
        busy = asked(other, "write_held").ended()
        (folder / "go").touch()
        answers = [first.ended(), asked(other, "write_held").ended()]
        # each server writes down what it has before it answers
        history = [server.get("/history")["calls"] for server in (one, other)][-1]

    assert [(item.status, item.answer["output"]) for item in answers] == [(200, "pay")] * 2
    assert [item.answer["metadata"]["replayed"] for item in answers] == [False, True]
    assert (busy.status, busy.answer["code"]) == (409, "idempotency_in_progress")
    assert (busy.answer["retryable"], busy.answer["retry_after"]) == (True, 1.0)
    assert busy.took < LEASE
    assert Counter(journal(folder)) == {"pay begins": 1, "pay": 1}
    assert len(history) == 3


def test_an_outcome_is_unknown_once_the_first_server_was_killed(
    tmp_path: Path, postgres: str
) -> None:
    folder = a_board(tmp_path)
    with two_servers(folder, postgres, lease=LEASE) as (one, other):
        first = asked(one, "write_held")
        until(begun(folder))
        one.kill()
        began = time.monotonic()
        unknown = ask_until_free(lambda: asked(other, "write_held"))
        took = time.monotonic() - began
        again = asked(other, "write_held").ended()
        (folder / "go").touch()
        first.ended()

    assert (unknown.status, unknown.answer["code"]) == (409, "idempotency_conflict")
    assert "whether it took effect is unknown" in unknown.answer["detail"]
    assert took < LEASE + 3
    assert again.status == 409
    assert again.took < 1
    assert journal(folder) == ["pay begins"]


def test_what_may_be_repeated_is_done_by_the_server_that_is_left(
    tmp_path: Path, postgres: str
) -> None:
    folder = a_board(tmp_path)
    with two_servers(folder, postgres, lease=LEASE) as (one, other):
        first = asked(one, "read_held")
        until(begun(folder))
        one.kill()
        (folder / "go").touch()
        answers = [ask_until_free(lambda: asked(other, "read_held")) for _ in range(2)]
        first.ended()

    assert [(item.status, item.answer["output"]) for item in answers] == [(200, "pay")] * 2
    assert journal(folder)[-2:] == ["pay begins", "pay"]
    assert journal(folder).count("pay begins") == 2
