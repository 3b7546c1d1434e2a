"""A board whose audit trail is required is changed only as far as that could be proved."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import SecretStr
from tests.runtime.test_required_audit import on_the_writer
from tests.servers.http.made import client_of
from tests.storage.conftest import kind, postgres, postgres_server
from tests.storage.databases.conftest import own_postgres, own_server
from tests.storage.made import is_postgres

from pegboard import Pegboard
from pegboard.core.ports.audit_store import AuditEntry, AuditRecord
from pegboard.core.ports.catalogue_stores import HeldDefinition
from pegboard.core.principal import LOCAL
from pegboard.errors import AuditUnavailable, ConfigError, StoreUnavailable
from pegboard.runtime import Settings

__all__ = ["kind", "own_postgres", "own_server", "postgres", "postgres_server"]
pytestmark = pytest.mark.timeout(60)
BOARD = "sources: [{kind: builtin, name: std}]\n"
TOOL = {"tool_id": "pay_v1", "type": "RestAPI", "url": "https://api.example.com/x"}
NEWER = TOOL | {"description": "Pay."}
HELD = HeldDefinition(source="bank", name="wire", digest="d" * 64, definition={}, held_at=1.0)


class Away:
    """The audit trail of an open board, which may be away while all else is there."""

    def __init__(self, board: Pegboard) -> None:
        self.is_away = False
        self._storage = cast("Any", board)._opened.storage
        self._audit, self._storage.audit = self._storage.audit, self

    async def append(self, entries: Sequence[AuditEntry]) -> Sequence[AuditRecord]:
        if self.is_away:
            raise StoreUnavailable("Its disk is full.", retry_after=3.0)
        return await self._audit.append(entries)

    async def hold(self, *held: HeldDefinition) -> None:
        await self._storage.pins.hold(held)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._audit, name)


def settings(kind: str, folder: Path) -> Settings:
    """Of a board whose trail is required, in this kind of storage."""
    (folder / "board.yaml").write_text(BOARD)
    given: dict[str, Any] = {"board": folder / "board.yaml", "audit_required": True}
    if kind == "memory":
        given |= {"audit": "on"}
    elif is_postgres(kind):
        given |= {"database": SecretStr(kind)}
    else:
        given |= {"data": folder / "data"}
    return Settings.model_validate(given)


async def decisions(board: Pegboard) -> list[tuple[str, str, str]]:
    """About what, which and by whom."""
    records = await board.audit.records(kind="decision", limit=1000, principal=LOCAL)
    bodies = [json.loads(record.body) for record in records]
    return [(body["about"], body["action"], body["subject"]) for body in bodies]


CHANGES: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/tools/register", TOOL | {"tool_id": "new_v1"}),
    ("POST", "/tools/bulk", {"tools": [TOOL | {"tool_id": f"t{n}_v1"} for n in range(3)]}),
    ("POST", "/tools/pay/rollback", {"version": "1.0.0"}),
    ("POST", "/tools/pay/deprecate", {}),
    ("DELETE", "/tools/pay", None),
    ("POST", "/graph/update", {"add_nodes": ["x_v1"]}),
    ("POST", "/tools/held/bank/wire", {"decision": "approve", "digest": "d" * 64}),
)


async def state(client: Any) -> list[Any]:
    """What the doors show of all that can be changed."""
    paths = ("/tools", "/tools/pay/versions", "/graph", "/tools/held", "/tools/pins")
    return [(await client.get(path)).json() for path in paths]


async def test_over_http_nothing_changes_that_could_not_be_proved(
    kind: str, tmp_path: Path
) -> None:
    async with Pegboard(settings=settings(kind, tmp_path)) as board, client_of(board) as client:
        await board.catalogue.register([TOOL], principal=LOCAL)
        await board.catalogue.register([NEWER], principal=LOCAL)
        audit = Away(board)
        await audit.hold(HELD)
        before, known = await state(client), await decisions(board)
        audit.is_away = True
        refused = [await client.request(verb, at, json=body) for verb, at, body in CHANGES]
        after = await state(client)
        audit.is_away = False
        made = [await client.request(verb, at, json=body) for verb, at, body in CHANGES]
        proved = (await decisions(board))[len(known) :]
        kinds = [record.kind for record in await board.audit.records(limit=1000, principal=LOCAL)]
        report = await board.audit.verify(principal=LOCAL)

    assert {(answer.status_code, answer.json()["code"]) for answer in refused} == {
        (503, "audit_unavailable")
    }
    assert "Nothing was done" in refused[0].json()["detail"]
    assert refused[0].headers["Retry-After"] == "3"
    assert before == after
    assert [answer.status_code for answer in made] == [201, 201, 200, 200, 204, 200, 200]
    assert proved == [
        ("catalogue", "register", "new"),
        ("catalogue", "register", ""),
        ("catalogue", "roll_back", "pay"),
        ("catalogue", "deprecate", "pay"),
        ("catalogue", "remove", "pay"),
        ("graph", "change", ""),
        ("definition", "approve", "wire"),
    ]
    assert kinds.count("catalogue") == 2 + 5
    assert (kinds.count("graph"), kinds.count("definition"), report.fault) == (1, 1, "")


@pytest.mark.slow
async def test_a_reload_that_could_not_be_proved_leaves_the_board_as_it_was(
    kind: str, tmp_path: Path
) -> None:
    given = settings(kind, tmp_path)
    async with Pegboard(settings=given) as board:
        audit = Away(board)
        (tmp_path / "board.yaml").write_text(BOARD.replace("std", "tools"))
        audit.is_away = True
        with pytest.raises(AuditUnavailable, match="Its disk is full"):
            await board.reload()
        refused = [source.name for source in board.sources], board.problem
        audit.is_away = False
        await board.reload()
        await board.flush()  # what came of it is queued
        done = [source.name for source in board.sources], board.problem
        (tmp_path / "board.yaml").write_text("sources: []\nnetwork: {allow_hosts: [a.example]}\n")
        with pytest.raises(ConfigError, match="requires a restart"):
            await board.reload()
        records = await board.audit.records(limit=1000, principal=LOCAL)
        report = await board.audit.verify(principal=LOCAL)

    assert refused[0] == ["std"]
    assert "could not be written to the audit trail" in refused[1]
    assert done == (["tools"], "")
    bodies = [
        (record.kind, json.loads(record.body))
        for record in records
        if record.kind in {"decision", "board"}
    ]
    told = [(kind, body["action"], body["subject"]) for kind, body in bodies]
    assert told == [
        ("decision", "reload", "board.yaml"),
        ("board", "reloaded", "board.yaml"),
        ("decision", "reload", "board.yaml"),
        ("board", "failed", "board.yaml"),
    ]
    assert bodies[0][1]["before"] != bodies[0][1]["after"] == bodies[2][1]["before"]
    assert (bodies[0][1]["added"], bodies[0][1]["removed"]) == (["tools"], ["std"])
    assert bodies[3][1]["detail"]["error_code"] == "config_invalid"
    assert report.fault == ""


async def test_a_board_that_was_reloaded_is_told_as_such_although_its_tools_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Pegboard(settings=settings("sqlite", tmp_path)) as board:

        async def away() -> int:
            raise StoreUnavailable("its disk is gone", nothing_done=True)

        store = cast("Any", board)._opened.storage.catalogue
        monkeypatch.setattr(store, "revision", away)
        (tmp_path / "board.yaml").write_text(BOARD.replace("std", "tools"))
        with pytest.raises(StoreUnavailable, match="its disk is gone"):
            await board.reload()
        await board.flush()
        told = [
            json.loads(record.body)
            for record in await board.audit.records(kind="board", principal=LOCAL)
        ]
        now = [source.name for source in board.sources]

    assert (now, [body["action"] for body in told]) == (["tools"], ["reloaded"])


async def test_a_changed_file_is_followed_once_the_trail_can_take_it(tmp_path: Path) -> None:
    async with Pegboard(settings=settings("sqlite", tmp_path)) as board:
        audit = Away(board)
        audit.is_away = True
        board.watch(0.01)
        (tmp_path / "board.yaml").write_text(BOARD.replace("std", "tools"))
        while not board.problem:  # noqa: ASYNC110 - a board tells nobody that it was refused
            await asyncio.sleep(0.01)
        refused = [source.name for source in board.sources]
        audit.is_away = False
        while board.problem:  # noqa: ASYNC110 - nor that it is well again
            await asyncio.sleep(0.01)

        assert (refused, [source.name for source in board.sources]) == (["std"], ["tools"])


async def test_without_the_setting_a_change_is_told_afterwards_alone(tmp_path: Path) -> None:
    given = settings("sqlite", tmp_path).model_copy(update={"audit_required": False})
    async with Pegboard(settings=given) as board:
        audit = Away(board)
        audit.is_away = True
        await board.catalogue.register([TOOL], principal=LOCAL)
        await board.reload()
        kinds = {record.kind for record in await board.audit.records(principal=LOCAL)}

    assert kinds == {"catalogue", "source"}


async def test_a_database_that_can_only_be_read_refuses_each_of_them(tmp_path: Path) -> None:
    given = settings("sqlite", tmp_path)
    async with Pegboard(settings=given) as board, client_of(board) as client:
        await board.catalogue.register([TOOL], principal=LOCAL)
        await board.catalogue.register([NEWER], principal=LOCAL)
        await cast("Any", board)._opened.storage.pins.hold([HELD])
        await board.flush()
        await on_the_writer(board, "query_only = 1")
        refused = [await client.request(verb, at, json=body) for verb, at, body in CHANGES]
        with pytest.raises(AuditUnavailable):
            await board.reload()
        await on_the_writer(board, "query_only = 0")
        made = [await client.request(verb, at, json=body) for verb, at, body in CHANGES]
        report = await board.audit.verify(principal=LOCAL)

    assert {answer.json()["code"] for answer in refused} == {"audit_unavailable"}
    assert [answer.is_success for answer in made] == [True] * len(CHANGES)
    assert report.fault == ""


@pytest.mark.slow
async def test_a_postgresql_that_is_stopped_refuses_and_takes_it_later(
    own_server: Any, own_postgres: str, tmp_path: Path
) -> None:
    async with Pegboard(settings=settings(own_postgres, tmp_path)) as board:
        await board.catalogue.register([TOOL], principal=LOCAL)
        await asyncio.to_thread(own_server.stop)
        with pytest.raises(StoreUnavailable):
            await board.catalogue.register([NEWER], principal=LOCAL)
        with pytest.raises(AuditUnavailable):
            await board.reload()
        await asyncio.to_thread(own_server.start)
        await board.catalogue.register([NEWER], principal=LOCAL)
        versions = [row["version"] for row in board.catalogue.history("pay")]
        decided = await decisions(board)

    assert versions == ["1.0.0", "1.0.1"]
    assert decided == [("catalogue", "register", "pay")] * 2
