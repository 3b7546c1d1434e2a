"""Changed rules are told and provable; without a data directory there is no trail."""

import json
from pathlib import Path

from pegboard.runtime import Pegboard

BOARD = "sources: []\npolicy: {{deny: [{glob}]}}\n"


async def test_other_rules_of_a_reloaded_board_are_in_the_trail(tmp_path: Path) -> None:
    file = tmp_path / "board.yaml"
    file.write_text(BOARD.format(glob="pay"))
    async with Pegboard(file, data=tmp_path / "data") as board:
        await board.reload()
        file.write_text(BOARD.format(glob="refund"))
        await board.reload()
        records = await board.audit.records(kind="policy")

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
        records = await board.audit.records(kind="policy")

    (body,) = [json.loads(record.body) for record in records]
    assert (body["action"], body["subject"]) == ("changed", "healing")
    assert body["detail"]["rules"]["policy"] == "apply"


async def test_without_a_data_directory_there_is_no_trail(tmp_path: Path) -> None:
    async with Pegboard() as board:
        board.registry.switches.turn_off(writes=True)
        assert await board.audit.records() == []
