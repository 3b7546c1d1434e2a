"""The history of a failed call is about as large as that of a good one."""

from pathlib import Path

import pytest

from pegboard import Pegboard, tool

CALLS = 200


@tool(effect="read")
def look_up(city: str) -> str:
    """Find a city."""
    return {"city": city}[city if city == "city" else "town"]


async def bytes_of_calls(folder: Path, city: str) -> int:
    """Bytes that the calls added to the database."""
    async with Pegboard(data=folder, tools=[look_up]) as board:
        await board.call("look_up", {"city": city})
        await board.flush()
    before = (folder / "pegboard.db").stat().st_size
    async with Pegboard(data=folder, tools=[look_up]) as board:
        for _ in range(CALLS):
            await board.call("look_up", {"city": city})
        await board.flush()
    return (folder / "pegboard.db").stat().st_size - before


@pytest.mark.slow
async def test_a_failed_call_takes_at_most_twice_the_space_of_a_good_one(tmp_path: Path) -> None:
    good = await bytes_of_calls(tmp_path / "good", "city")
    failed = await bytes_of_calls(tmp_path / "failed", "Bern")

    assert good > 0
    assert failed <= 2 * good
