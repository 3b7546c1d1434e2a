"""A plan whose first tool's source is not there asks the next tool: on a whole board."""

from collections.abc import Generator
from pathlib import Path

import pytest

from pegboard.core.graph import Fallback, Graph, Node, NodeState
from pegboard.core.principal import LOCAL
from pegboard.errors import GraphInvalid
from pegboard.graphs import write_graph
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.plugins import list_kinds

_PLUG = """
from pydantic import BaseModel
from pegboard.core.ports.source import SourceKind

class Nothing(BaseModel):
    pass

async def open_it(name, config, services):
    raise KeyError("price")

KIND = SourceKind(kind="courier", title="Courier", config=Nothing, open=open_it)
"""
_SHOP = """
from pegboard import tool

@tool(effect="read")
def post_price() -> int:
    return 7
"""
_PRICE = Graph(
    nodes=(Node(id="price", tool="courier__price", fallbacks=(Fallback(tool="shop__post_price"),)),)
)


@pytest.fixture
def board_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A board with a shop, and a courier of a kind that raises what nobody expects."""
    (tmp_path / "courier_plug.py").write_text(_PLUG)
    info = tmp_path / "courier_plug-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: courier-plug\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pegboard.sources]\ncourier = courier_plug:KIND\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    list_kinds.cache_clear()
    (tmp_path / "shop.py").write_text(_SHOP)
    path = tmp_path / "board.yaml"
    path.write_text(
        "sources:\n"
        "  - {kind: functions, name: shop, config: {files: [shop.py]}}\n"
        "  - {kind: courier, name: courier}\n"
    )
    yield path
    list_kinds.cache_clear()


@pytest.mark.parametrize("on_demand", [False, True], ids=["at once", "on demand"])
@pytest.mark.parametrize("kept", [False, True], ids=["in memory", "kept"])
async def test_a_source_that_fails_on_opening_leaves_its_step_to_the_next_tool(
    board_file: Path, tmp_path: Path, on_demand: bool, kept: bool
) -> None:
    settings = Settings(open_on_demand=on_demand, data=tmp_path / "data" if kept else None)
    async with Pegboard(board_file, settings=settings) as board:
        view = await board.runs.start_graph(_PRICE, principal=LOCAL)
        ended = await board.runs.wait(view.id, principal=LOCAL)
        tried = [
            (event.data["node"], event.data.get("tool"), event.data.get("reason", ""))
            async for event in board.runs.events(view.id, principal=LOCAL)
            if "~" in event.data.get("node", "")
        ]

    assert ended.result.state is NodeState.COMPLETED
    assert ended.result.output == {"price": 7}
    assert [step[:2] for step in tried] == [
        ("price~1", "courier__price"),
        ("price~2", "shop__post_price"),
    ]
    assert tried[0][2].startswith("'courier__price' is unavailable: its source 'courier' failed")


async def test_a_step_with_nothing_but_a_failed_source_is_refused_with_the_reason(
    board_file: Path,
) -> None:
    async with Pegboard(board_file) as board:
        with pytest.raises(GraphInvalid, match="its source 'courier' failed"):
            await board.runs.start_graph(
                Graph(nodes=(Node(id="price", tool="courier__price"),)), principal=LOCAL
            )


async def test_what_is_noted_of_a_chain_is_that_another_tool_will_be_tried(
    board_file: Path,
) -> None:
    async with Pegboard(board_file) as board:
        checked = board.plans.check(write_graph(_PRICE), principal=LOCAL)

    assert checked.is_runnable
    assert [(note.code, note.place) for note in checked.preview.faults] == [
        ("tool_unknown", "nodes[0].tool")
    ]
    assert checked.preview.faults[0].message.endswith("Another tool of this node will be tried.")
