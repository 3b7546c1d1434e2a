from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.runtime.steered import Heard

from pegboard.core.event import Notice
from pegboard.runtime import Pegboard, Settings
from pegboard.servers.http.start_report import (
    NO_BOARD,
    NO_CONSOLE,
    NO_DATA,
    describe_data,
    report_start,
)

HALF = """
sources:
  - {kind: functions, name: gone, config: {modules: [there_is_none]}}
policy: {deny: [nothing], allow: [nothing_either]}
"""


async def report(board: Pegboard, heard: Heard) -> Notice:
    async with board:
        report_start(board, "http://127.0.0.1:1")
    (told,) = [event for event in heard.events if isinstance(event, Notice)]
    return told


async def test_a_server_without_a_board_file_says_what_it_serves_instead() -> None:
    heard = Heard()
    told = await report(Pegboard(settings=Settings(), listeners=[heard]), heard)

    assert (told.about, told.level) == ("server", "info")
    assert told.detail["board"] == NO_BOARD
    assert told.detail["data"] == NO_DATA
    assert told.detail["console"] in {NO_CONSOLE, "http://127.0.0.1:1/ui/"}
    assert [item["name"] for item in told.detail["sources"]] == ["builtin"]


async def test_a_failed_source_and_an_unused_rule_are_in_the_report(tmp_path: Path) -> None:
    path, heard = tmp_path / "board.yaml", Heard()
    path.write_text(HALF)
    told = await report(
        Pegboard(path, data=tmp_path / "data", settings=Settings(), listeners=[heard]), heard
    )

    (source,) = told.detail["sources"]
    assert told.level == "warning"
    assert (source["name"], source["status"]) == ("gone", "failed")
    assert "there_is_none" in source["reason"]
    assert [rule["glob"] for rule in told.detail["rules"]] == ["nothing"]
    assert told.detail["data"] == str(tmp_path / "data")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ann:hunter2@db.example:5432/board", "PostgreSQL db.example/board"),
        ("postgresql:///board", "PostgreSQL /board"),
    ],
)
def test_a_database_is_named_without_its_password(url: str, expected: str) -> None:
    assert describe_data(Settings(database=SecretStr(url))) == expected
