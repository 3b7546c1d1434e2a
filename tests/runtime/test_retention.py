"""A board lets go of what is old, at its start and from time to time."""

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.storage.made import a_record, ids
from tests.storage.test_runs import a_result

from pegboard import Pegboard
from pegboard.core.knowledge import Evidence
from pegboard.core.ports.audit_store import AuditEntry, AuditRecord
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.knowledge.evidence_store import StoredEvidence
from pegboard.core.ports.run_store import RunQuery, StoredPlan
from pegboard.core.principal import LOCAL
from pegboard.features.files import NewUpload
from pegboard.runtime import Settings
from pegboard.runtime.wiring.retention import delete_expired
from pegboard.runtime.wiring.storage import create_storage
from pegboard.storage import MemoryStorage, open_storage

DAY = 86_400.0


async def _filled(data: Path) -> None:
    """A hundred and ten days ago somebody called, and a record was written."""
    old = time.time() - 110 * DAY
    async with open_storage(data) as opened:
        opened.listener.on_event(a_record("old", started_at=old))
        opened.listener.on_event(a_record("new", started_at=time.time()))
        await opened.audit.append([AuditEntry(kind="call", at=old, body={}) for _ in range(3)])
        await opened.flush()


async def _audited(board: Pegboard, kind: str) -> list[AuditRecord]:
    """The records of this kind, as soon as there are any."""
    while True:
        if records := await board.audit.records(kind=kind, principal=LOCAL):
            return records
        await asyncio.sleep(0.01)


async def test_an_open_board_lets_old_calls_go_and_keeps_the_audit_trail(tmp_path: Path) -> None:
    await _filled(tmp_path)
    async with Pegboard(settings=Settings(data=tmp_path)) as board:
        (said,) = await _audited(board, "storage")
        report = await board.audit.verify(principal=LOCAL)
    async with open_storage(tmp_path) as opened:
        calls = await ids(opened)

    assert calls == ["new"]
    body = json.loads(said.body)
    assert (body["action"], body["detail"], body["by"]) == ("forgotten", {"calls": 1}, "retention")
    assert (report.first, report.fault) == (1, "")


async def test_the_audit_trail_is_cut_where_it_is_asked_for_and_stays_whole(tmp_path: Path) -> None:
    await _filled(tmp_path)
    settings = Settings(data=tmp_path, keep_audit_days=100, keep_history_days=0)
    async with Pegboard(settings=settings) as board:
        said = await _audited(board, "retention")
        report = await board.audit.verify(principal=LOCAL)
    async with open_storage(tmp_path) as opened:
        calls = await ids(opened)

    assert calls == ["new", "old"]
    assert json.loads(said[0].body)["last"] == 3
    assert (report.first, report.fault) == (4, "")


async def test_runs_that_ended_long_ago_go_and_others_stay() -> None:
    async with MemoryStorage() as opened:
        for name in ("open", "ended"):
            start = RunStart(run_id=name, graph={}, params={}, principal=LOCAL, created_at=1.0)
            await opened.runs.create(start, owner="one")
        await opened.runs.store_result(a_result(run_id="ended"), "one")
        await opened.runs.put_plan(StoredPlan(id="p1", graph={}, created_at=1.0))
        async with Pegboard() as board:
            kit = replace(board.registry.environment, now=lambda: time.time() + 100 * DAY)
            gone = await delete_expired(Settings(), opened, kit)
        page = await opened.runs.runs(RunQuery())

    assert gone == {"runs": 1, "taints": 0, "plans": 1, "approvals": 0, "calls": 0}
    assert [run.start.run_id for run in page.runs] == ["open"]


async def test_what_was_found_in_documents_goes_with_the_days_of_conversations() -> None:
    async with MemoryStorage() as opened, Pegboard() as board:
        kit = board.registry.environment
        for name, at in (("old", kit.now() - 31 * DAY), ("new", kit.now())):
            evidence = Evidence(question="When?", enough=False)
            found = StoredEvidence(
                call=name, owner="/u", mode="grounding", question="When?", at=at, evidence=evidence
            )
            await opened.evidence.put(found)
        kept = await delete_expired(Settings(), opened, kit)
        gone = await delete_expired(Settings(keep_conversations_days=30), opened, kit)

        assert "evidence" not in kept
        assert gone["evidence"] == 1
        assert await opened.evidence.get("old") is None
        assert await opened.evidence.get("new") is not None


async def test_uploads_without_a_part_for_a_day_go() -> None:
    async with Pegboard() as board:
        uploads, storage = board.files.uploads, board._open.storage
        upload = await uploads.begin(NewUpload(name="a", size=1), principal=LOCAL)
        kit, gone = board.registry.environment, list[int]()
        for days in (0.9, 1.1):
            later = replace(kit, now=lambda days=days: time.time() + days * DAY)
            deleted = await delete_expired(Settings(), storage, later, files=board.files)
            gone.append(deleted["uploads"])

        assert gone == [0, 1]
        assert await storage.files.get(upload.id) is None


async def test_a_storage_that_is_gone_is_left_for_later(tmp_path: Path, caplog: Any) -> None:
    opened = create_storage(Settings(data=tmp_path), redact=None)
    await opened.close()
    async with Pegboard() as board:
        gone = await delete_expired(Settings(), opened, board.registry.environment)

    assert gone == {}
    assert "retention: old calls could not be deleted, trying again later" in caplog.text
