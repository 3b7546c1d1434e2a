"""A board that opens its sources on demand opens those alone that somebody asks for."""

from pathlib import Path
from typing import Any

from pegboard import ToolContext, tool
from pegboard.runtime import Pegboard, Settings

ON_DEMAND = Settings(open_on_demand=True, list_timeout=8)


@tool(effect="read")
async def relay(*, ctx: ToolContext[Any]) -> Any:
    """Call a tool of a source that nobody has asked for."""
    return (await ctx.call("b__where", {})).unwrap()


def _board(folder: Path, names: str) -> Path:
    """A source for each letter, whose file leaves a mark when it is loaded."""
    for name in names:
        (folder / f"{name}.py").write_text(
            "from pathlib import Path\n"
            "from pegboard import tool\n"
            f"Path(__file__).with_suffix('.loaded').touch()\n"
            "@tool(effect='read')\n"
            f"def where() -> str:\n    return '{name}'\n"
        )
    path = folder / "board.yaml"
    lines = (f"  - {{kind: functions, name: {n}, config: {{files: [{n}.py]}}}}\n" for n in names)
    path.write_text("sources:\n" + "".join(lines))
    return path


def _loaded(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.loaded")}


async def test_a_call_opens_the_source_of_its_tool_alone(tmp_path: Path) -> None:
    async with Pegboard(_board(tmp_path, "abc"), settings=ON_DEMAND) as board:
        at_first = _loaded(tmp_path)
        answer = await board.call("b__where")
        states = {state.name: (state.status, state.reason) for state in board.sources}

    assert at_first == set()
    assert answer.unwrap() == "b"
    assert _loaded(tmp_path) == {"b"}
    assert states["a"] == (
        "pending",
        "it is opened on demand, and none of its tools has been requested yet",
    )
    assert states["b"] == ("ok", "")


async def test_a_tool_that_calls_another_has_its_source_opened(tmp_path: Path) -> None:
    path = _board(tmp_path, "abc")
    async with Pegboard(path, settings=ON_DEMAND, tools=[relay]) as board:
        answer = await board.call("relay")

    assert answer.unwrap() == "b"
    assert _loaded(tmp_path) == {"b"}


async def test_all_are_there_once_the_board_has_settled(tmp_path: Path) -> None:
    async with Pegboard(_board(tmp_path, "abc"), settings=ON_DEMAND) as board:
        before = set(board.registry.names())
        await board.wait_for_sources()
        after = set(board.registry.names())

    assert after - before == {"a__where", "b__where", "c__where"}


async def test_a_reload_waits_for_nobody_that_was_not_asked_for(tmp_path: Path) -> None:
    path = _board(tmp_path, "abc")
    async with Pegboard(path, settings=ON_DEMAND) as board:
        await board.call("a__where")
        path.write_text(path.read_text().replace("name: c,", "name: d,"))
        await board.reload()
        loaded = _loaded(tmp_path)
        answer = await board.call("d__where")

    assert loaded == {"a"}
    assert answer.unwrap() == "c"
