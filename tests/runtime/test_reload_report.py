from pathlib import Path

import pytest
from tests.runtime.steered import Heard

from pegboard.core.event import Notice
from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard

ONE = "sources: [{kind: builtin, name: std, config: {include: [echo]}}]\n"
BOTH = (
    "sources: [{kind: builtin, name: std, config: {include: [echo]}}, {kind: builtin, name: two}]\n"
)


async def notices(folder: Path, *texts: str) -> list[Notice]:
    """What a board reports while its file changes from one text to the next."""
    heard, path = Heard(), folder / "board.yaml"
    path.write_text(texts[0])
    async with Pegboard(path, listeners=[heard]) as board:
        for text in texts[1:]:
            path.write_text(text)
            try:
                await board.reload()
            except ConfigError:
                continue
    return [event for event in heard.events if isinstance(event, Notice)]


async def test_a_reload_reports_what_it_changed(tmp_path: Path) -> None:
    (told,) = await notices(tmp_path, ONE, BOTH + 'policy: {deny: ["two__*"]}')

    assert told.level == "info"
    count = len(told.detail["new_tools"])
    assert told.message == (
        f"board.yaml reloaded: added source two; changed section policy; {count} new tools"
    )
    assert told.detail["added"] == ["two"]
    assert "two__echo" in told.detail["new_tools"]


async def test_a_reload_without_a_difference_says_so(tmp_path: Path) -> None:
    (told,) = await notices(tmp_path, ONE, f"# a comment\n{ONE}")

    assert told.message == "board.yaml reloaded: nothing changed"


async def test_a_reload_warns_of_rules_that_match_nothing(tmp_path: Path) -> None:
    (told,) = await notices(tmp_path, ONE, ONE + "policy: {deny: [std__eccho], allow: [nothing]}")

    assert told.level == "warning"
    assert [rule["glob"] for rule in told.detail["rules"]] == ["std__eccho"]


async def test_a_refused_reload_is_reported_once(tmp_path: Path) -> None:
    wrong = ONE + "polcy: {}"
    (told,) = await notices(tmp_path, ONE, wrong, f"{wrong}\n")

    assert told.level == "error"
    assert told.message.startswith(
        "reload refused, the board is unchanged: board.yaml:2: polcy: unknown key"
    )


@pytest.mark.parametrize("text", [ONE, ONE + "policy: {deny: [std__eccho]}"])
async def test_opening_a_board_reports_nothing(tmp_path: Path, text: str) -> None:
    assert await notices(tmp_path, text) == []
