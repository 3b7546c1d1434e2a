import pytest

from pegboard.cli.client.local import LocalBoard
from pegboard.cli.filter_suggestions import suggest_values
from pegboard.registry.search import ToolQuery
from pegboard.runtime import Pegboard, Settings


@pytest.mark.parametrize(
    ("query", "told"),
    [
        (ToolQuery(), ""),
        (ToolQuery(source="builtin", effect="read"), ""),
        (ToolQuery(source="bultin"), "no tool has the source 'bultin'; did you mean 'builtin'?\n"),
        (
            ToolQuery(effect="nope"),
            "no tool has the effect 'nope'; there are admin, read, write\n",
        ),
        (
            ToolQuery(tags=("pagin",)),
            "no tool has the tag 'pagin'; did you mean 'paging' or 'page'?\n",
        ),
        (
            ToolQuery(category="filesytem"),
            "no tool has the category 'filesytem'; did you mean 'filesystem' or 'system'?\n",
        ),
    ],
    ids=["no filter", "known", "source", "effect", "tag", "category"],
)
async def test_what_no_tool_has_is_told_with_what_was_meant(
    query: ToolQuery, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async with Pegboard(settings=Settings()) as board:
        await board.wait_for_sources()
        await suggest_values(LocalBoard(board), query)

    assert capsys.readouterr().err == told
