"""What a row may say."""

from pathlib import Path

from tests.storage.made import a_record, a_start, a_storage

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.record_snapshot import freeze
from pegboard.storage.history_rows import MAX_TEXT, call_row, detail_row, redact_nothing, start_row
from pegboard.testing import FakeClock


async def test_messages_and_details_are_redacted(
    kind: str, tmp_path: Path, clock: FakeClock
) -> None:
    def redact(text: str) -> str:
        return text.replace("s3cret", "***")

    async with a_storage(kind, tmp_path, clock, redact=redact) as storage:
        storage.listener.on_event(
            a_record(status="failed", error_id="e1", error_message="s3cret", error_detail="s3cret")
        )
        page = await storage.history.calls(HistoryQuery())
        detail = await storage.history.detail("e1")

    assert "s3cret" not in repr((page.calls, detail))


def test_a_started_write_is_shown_with_the_digest_it_came_with() -> None:
    row = start_row(a_start(arguments_digest="abc", tenant="acme", run_id="r1"))

    shown = {key: row[key] for key in ("status", "reason", "arguments_digest", "tenant", "run_id")}
    assert shown == {
        "status": "unknown",
        "reason": "started, outcome unknown",
        "arguments_digest": "abc",
        "tenant": "acme",
        "run_id": "r1",
    }


def test_stored_arguments_and_details_are_cut_where_they_get_long() -> None:
    frozen = freeze(a_record(arguments="x" * 100_000), keep_arguments=True)
    row = call_row(frozen, keep_arguments=True, redact=redact_nothing)
    detail = detail_row(a_record(error_id="e1", error_detail="y" * 100_000), redact_nothing)

    assert len(row["arguments"]) == MAX_TEXT
    assert len(detail["detail"]) == MAX_TEXT
