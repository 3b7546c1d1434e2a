"""A board knows after a restart which tools were called before."""

from pathlib import Path

from pegboard import Pegboard, tool


@tool
def north_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"cold in {city}"


@tool
def south_weather(city: str) -> str:
    """Tell the weather of a city."""
    return f"warm in {city}"


async def test_search_prefers_what_was_called_before_a_restart(tmp_path: Path) -> None:
    names: list[list[str]] = []
    for _ in range(2):
        async with Pegboard(tools=[north_weather, south_weather], data=tmp_path / "data") as board:
            found = board.registry.search("weather of a city")
            names.append([item.spec.name for item in found])
            await board.call("south_weather", {"city": "Oslo"})

    assert names == [["north_weather", "south_weather"], ["south_weather", "north_weather"]]
