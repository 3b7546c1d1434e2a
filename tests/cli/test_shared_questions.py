"""What a tool asks on one server is answered from the command line, through another server."""

from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command
from tests.durability.served import Server, a_board, journal, step, two_servers, until
from tests.storage.conftest import postgres, postgres_server

__all__ = ["postgres", "postgres_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]  # two servers and a database start


def asked_at(server: Server, run_id: str, node: str) -> dict[str, Any]:
    """The question of a node, as soon as a server knows of it."""

    def look() -> list[dict[str, Any]]:
        return [q for q in server.run(run_id)["questions"] if q["step"] == node]

    (question,) = until(look)
    return question


def test_a_question_of_one_server_is_answered_at_the_other(
    pegboard: Command, postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder: Path = a_board(tmp_path_factory.mktemp("shared"))
    with two_servers(folder, postgres, lease=30.0) as (one, other):
        at = ("--url", str(other.client.base_url).rstrip("/"))
        run_id = one.start(step("buy", "ask"), step("again", "ask", "buy"))
        first = asked_at(other, run_id, "buy")
        shown = pegboard("runs", "show", run_id, *at)
        odd = pegboard("runs", "answer", run_id, first["id"], "large", *at)
        other.post(
            f"/runs/{run_id}/questions/{first['id']}", {"action": "accept", "content": {"size": 7}}
        )
        until(lambda: journal(folder))
        second = asked_at(other, run_id, "again")
        answered = pegboard("runs", "answer", run_id, second["id"], "--decline", *at)
        late = pegboard("runs", "answer", run_id, second["id"], "8", *at)

    assert f"pegboard runs answer {run_id} {first['id']}" in shown.stderr
    assert "by its tool my__ask" in shown.stderr
    assert odd.returncode == 2
    assert "does not fit the form" in odd.stderr
    assert journal(folder) == ["buy accept {'size': 7}", "again decline {}"]
    assert (answered.returncode, answered.stdout.splitlines()[0]) == (0, f"{run_id}  completed")
    assert late.returncode != 0
