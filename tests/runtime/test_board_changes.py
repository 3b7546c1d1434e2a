"""Changed rules are told and provable; without a data directory there is no trail."""

import json
from pathlib import Path

import pytest

from pegboard.core.principal import LOCAL
from pegboard.runtime import Pegboard

BOARD = "sources: []\npolicy: {{deny: [{glob}]}}\n"


@pytest.mark.slow
async def test_other_rules_of_a_reloaded_board_are_in_the_trail(tmp_path: Path) -> None:
    file = tmp_path / "board.yaml"
    file.write_text(BOARD.format(glob="pay"))
    async with Pegboard(file, data=tmp_path / "data") as board:
        await board.reload()
        file.write_text(BOARD.format(glob="refund"))
        await board.reload()
        records = await board.audit.records(kind="policy", principal=LOCAL)

    assert len(records) == 1
    assert '"rules":{"deny":["refund"]}' in records[0].body


async def test_what_others_may_do_by_themselves_is_in_the_trail_when_it_changes(
    tmp_path: Path,
) -> None:
    file = tmp_path / "board.yaml"
    file.write_text("sources: []\nhealing: {policy: propose}\npinning: {default: ask}\n")
    async with Pegboard(file, data=tmp_path / "data") as board:
        file.write_text("sources: []\nhealing: {policy: apply}\npinning: {default: ask}\n")
        await board.reload()
        records = await board.audit.records(kind="policy", principal=LOCAL)

    (body,) = [json.loads(record.body) for record in records]
    assert (body["action"], body["subject"]) == ("changed", "healing")
    assert body["detail"]["rules"]["policy"] == "apply"


async def test_without_a_data_directory_there_is_no_trail(tmp_path: Path) -> None:
    async with Pegboard() as board:
        board.registry.switches.turn_off(writes=True)
        assert await board.audit.records(principal=LOCAL) == []


async def test_the_trail_has_changes_of_sources_and_of_a_brief_board_no_opening(
    tmp_path: Path,
) -> None:
    """A board of one command tells nothing by opening, and all that changes while it is open."""
    file, tools = tmp_path / "board.yaml", tmp_path / "mine.py"
    file.write_text("sources: [{kind: functions, name: mine, config: {files: [mine.py]}}]\n")
    trails: list[list[tuple[str, int]]] = []
    for brief in (True, False):
        tools.write_text(_TOOLS.format(more=""))
        async with Pegboard(file, data=tmp_path / f"data {brief}", brief=brief) as board:
            for more in ("", "@tool\ndef two() -> None: ...\n", "", ""):
                tools.write_text(_TOOLS.format(more=more))
                await board.reload()
            found = [
                json.loads(record.body)
                for record in await board.audit.records(kind="source", principal=LOCAL)
            ]
            trails.append([(body["status"], body["tools"]) for body in found])

    assert trails == [[("ok", 2), ("ok", 1)], [("ok", 1), ("ok", 2), ("ok", 1)]]


@pytest.mark.parametrize(
    ("broken", "status", "health"),
    [("not python at all", "degraded", "degraded"), (None, "failed", "unhealthy")],
)
async def test_a_source_that_cannot_be_listed_is_not_well_whatever_its_check_says(
    tmp_path: Path, broken: str | None, status: str, health: str
) -> None:
    file, tools = tmp_path / "board.yaml", tmp_path / "mine.py"
    file.write_text("sources: [{kind: functions, name: mine, config: {files: [mine.py]}}]\n")
    if broken is not None:
        tools.write_text(_TOOLS.format(more=""))
    async with Pegboard(file) as board:
        if broken is not None:
            tools.write_text(broken)
            await board.reload()
        (asked,), (known,) = await board.health(), board.observe_sources()

    assert (asked["status"], asked["health"]) == (status, health)
    assert asked["health_reason"] == asked["reason"] != ""
    assert known == asked


_TOOLS = "from pegboard import tool\n\n@tool\ndef one() -> None: ...\n{more}"
