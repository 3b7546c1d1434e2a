"""Who talks without end is told from who has much to say."""

from pegboard.sources.mcp.pace import Pace


def test_much_in_a_short_while_is_too_much_and_in_a_long_one_is_not() -> None:
    now = 0.0
    pace = Pace(most=3, seconds=10, monotonic=lambda: now)

    assert [pace.exceeded() for _ in range(4)] == [False, False, False, True]
    assert [pace.exceeded() for _ in range(3)] == [False] * 3
    now = 11.0
    assert [pace.exceeded() for _ in range(4)] == [False] * 4
    assert str(pace) == "more than 3 messages in 10 s"
