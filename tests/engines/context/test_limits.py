"""The room of a request in a window."""

import pytest

from pegboard.engines.context import ContextLimits


@pytest.mark.parametrize(
    ("limits", "window", "room"),
    [
        (ContextLimits(), None, None),
        (ContextLimits(), 100_000, 100_000 - 8_192 - 5_000),
        (ContextLimits(), 4_000, 4_000 - 1_000 - 200),
        (ContextLimits(window=10_000, max_output=1_000, reserve=0), 100_000, 9_000),
    ],
    ids=["unknown", "large", "small", "its own"],
)
def test_room_is_what_the_answer_and_the_reserve_leave(
    limits: ContextLimits, window: int | None, room: int | None
) -> None:
    assert limits.room(window) == room
