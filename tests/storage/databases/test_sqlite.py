"""The storage with a data directory."""

from pathlib import Path

import pytest
from tests.storage.made import a_record, a_result, a_start, an_outcome

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.errors import ConfigError
from pegboard.storage import open_history, open_storage
from pegboard.testing import FakeClock


async def test_what_was_kept_is_there_after_a_restart(tmp_path: Path, clock: FakeClock) -> None:
    async with open_storage(tmp_path, clock=clock) as storage:
        storage.listener.on_event(a_record("c1"))
        await storage.journal.record_start(a_start("w1"))
        await storage.results.put(a_result())
        await storage.outcomes.claim(an_outcome())

    async with open_storage(tmp_path, clock=clock) as storage:
        page = await storage.history.calls(HistoryQuery())
        assert [row["call_id"] for row in page.calls] == ["w1", "c1"]
        assert await storage.results.get("pegboard://results/r1", "acme/ada") == a_result()
        assert await storage.outcomes.claim(an_outcome()) == an_outcome()


async def test_a_reader_sees_what_another_has_open(tmp_path: Path) -> None:
    async with open_storage(tmp_path) as storage:
        await storage.journal.record_start(a_start("w1"))
        async with open_history(tmp_path) as history:
            page = await history.calls(HistoryQuery())

    assert [row["call_id"] for row in page.calls] == ["w1"]


async def test_a_reader_needs_nobody_to_have_it_open(tmp_path: Path) -> None:
    async with open_storage(tmp_path) as storage:
        storage.listener.on_event(a_record("c1", status="failed", error_id="e", error_detail="d"))

    async with open_history(tmp_path) as history:
        page = await history.calls(HistoryQuery())
        detail = await history.detail("e")

    assert [row["call_id"] for row in page.calls] == ["c1"]
    assert detail is not None


async def test_a_reader_of_an_empty_directory_is_told_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing has been recorded there"):
        async with open_history(tmp_path):
            pass


@pytest.mark.parametrize("below", ["file/data", "file"], ids=["inside a file", "a file"])
def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match="cannot be created"):
        open_storage(tmp_path / below)


async def test_after_a_clean_end_everything_is_in_the_one_file(tmp_path: Path) -> None:
    async with open_storage(tmp_path) as storage:
        await storage.journal.record_start(a_start())

    assert names_in(tmp_path) == {"lock", "pegboard.db"}


def names_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}
