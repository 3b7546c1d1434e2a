"""Requests that change the board, with one key on two servers: done once, or refused."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.durability.served import Asked, Server, a_board, ask_until_free, two_servers, until
from tests.storage.conftest import postgres, postgres_server

__all__ = ["postgres", "postgres_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

LEASE = 2.0
LONG = 5.0
"""A lease that outlasts a machine that stands still for a while, and no lock of the database."""
OFF = {"turn": "off", "kind": "source", "name": "my", "reason": "an incident"}
ON = {"turn": "on", "kind": "source", "name": "my"}
TOOL = {
    "tool_id": "search_v1",
    "type": "RestAPI",
    "url": "https://api.example.com/x",
    "input_schema": {"q": "string"},
}


@contextmanager
def written_by_nobody(database: str, table: str) -> Generator[Callable[[], bool]]:
    """Whoever writes into it waits; whether somebody does."""
    with psycopg.connect(database) as held, psycopg.connect(database, autocommit=True) as looking:
        held.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE".encode())

        def is_waited_for() -> bool:
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
            return looking.execute(waiting, [table]).fetchone() != (0,)

        yield is_waited_for


def test_the_second_server_refuses_until_it_gives_the_answer_of_the_first(
    tmp_path: Path, postgres: str
) -> None:
    with two_servers(a_board(tmp_path), postgres, lease=LONG) as (one, other):
        with written_by_nobody(postgres, "tool_versions") as is_begun:
            first = Asked(one, "/tools/register", TOOL)
            until(is_begun)
            refused = Asked(other, "/tools/register", TOOL | {"description": "another"}).ended()
            time.sleep(1.2 * LONG)  # the lease is renewed
            busy = Asked(other, "/tools/register", TOOL).ended()
        answers = [first.ended(), Asked(other, "/tools/register", TOOL).ended()]
        versions = one.get("/tools/search_v1/versions")["versions"]
        until(lambda: told(other, "catalogue"))
        records = told(other, "catalogue")

    assert [item.status for item in answers] == [201, 201]
    assert answers[0].answer == answers[1].answer
    assert (refused.status, refused.answer["code"]) == (409, "idempotency_conflict")
    assert (busy.status, busy.answer["code"]) == (409, "idempotency_in_progress")
    assert (busy.answer["retryable"], busy.answer["retry_after"]) == (True, 1.0)
    assert max(refused.took, busy.took) < LEASE
    assert [item["version"] for item in versions] == ["1.0.0"]
    assert len(records) == 1


def told(server: Server, kind: str) -> list[dict[str, Any]]:
    """What the audit trail says of this kind."""
    return server.get(f"/audit?kind={kind}")["records"]


def test_turning_off_waits_for_no_other_server_that_is_at_it(tmp_path: Path, postgres: str) -> None:
    with two_servers(a_board(tmp_path), postgres, lease=LONG) as (one, other):
        with written_by_nobody(postgres, "switches") as is_begun:
            first = Asked(one, "/switches", OFF)
            until(is_begun)
            second = Asked(other, "/switches", OFF)
            until(lambda: not other.get("/tools?source=my")["tools"])
            assert first.is_alive()
        answers = [first.ended(), second.ended()]
        until(
            lambda: all(server.get("/switches")["switches"][0]["kept"] for server in (one, other))
        )
        listed = [server.get("/switches")["switches"] for server in (one, other)]

    assert [item.status for item in answers] == [200, 200]
    assert [len(switches) for switches in listed] == [1, 1]


def test_what_may_be_repeated_is_done_by_the_server_that_is_left(
    tmp_path: Path, postgres: str
) -> None:
    with two_servers(a_board(tmp_path), postgres, lease=LEASE) as (one, other):
        with written_by_nobody(postgres, "tool_versions") as is_begun:
            first = Asked(one, "/tools/register", TOOL)
            until(is_begun)
            one.kill()
            first.ended()
            busy = Asked(other, "/tools/register", TOOL).ended()
        second = ask_until_free(lambda: Asked(other, "/tools/register", TOOL))
        again = Asked(other, "/tools/register", TOOL).ended()
        versions = other.get("/tools/search_v1/versions")["versions"]

    assert (busy.status, busy.answer["code"]) == (409, "idempotency_in_progress")
    assert second.status in {200, 201}  # the database may have taken what the first sent
    assert (again.status, again.answer) == (second.status, second.answer)
    assert [item["version"] for item in versions] == ["1.0.0"]


def test_turning_on_again_is_unknown_once_the_first_server_was_killed(
    tmp_path: Path, postgres: str
) -> None:
    with two_servers(a_board(tmp_path), postgres, lease=LEASE) as (one, other):
        one.post("/switches", OFF)
        with written_by_nobody(postgres, "switches") as is_begun:
            first = Asked(one, "/switches", ON)
            until(is_begun)
            one.kill()
            first.ended()
            began = time.monotonic()
            unknown = ask_until_free(lambda: Asked(other, "/switches", ON))
            took = time.monotonic() - began
        again = Asked(other, "/switches", ON).ended()

    assert (unknown.status, unknown.answer["code"]) == (409, "idempotency_conflict")
    assert "whether it took effect is unknown" in unknown.answer["detail"]
    assert took < LEASE + 3
    assert again.answer["detail"] == unknown.answer["detail"]
    assert again.took < 1
