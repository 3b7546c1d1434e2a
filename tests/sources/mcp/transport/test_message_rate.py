"""Who talks without end is told from who has much to say."""

import pytest

from pegboard.sources.mcp.transport.message_rate import EventCounter, MessageRate


def test_much_in_a_short_while_is_too_much_and_in_a_long_one_is_not() -> None:
    now = 0.0
    rate = MessageRate(most=3, seconds=10, monotonic=lambda: now)

    assert [rate.exceeds() for _ in range(4)] == [False, False, False, True]
    assert [rate.exceeds() for _ in range(3)] == [False] * 3
    now = 11.0
    assert [rate.exceeds() for _ in range(4)] == [False] * 4
    assert str(rate) == "more than 3 messages in 10 s"


def test_several_are_counted_at_once() -> None:
    rate = MessageRate(most=3, seconds=10, monotonic=lambda: 0.0)

    assert [rate.exceeds(2), rate.exceeds(0), rate.exceeds(1)] == [False] * 3
    assert rate.exceeds(5)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", 2),
        (b"event: message\r\ndata: a\r\n\r\nid: 1\r\ndata: b\r\n\r\n", 2),
        (b"data: a\rdata: b\r\r", 1),
        (b": ping\n: ping\n: ping\n", 2),  # what stands at the very beginning is let go
        (b"data: a\n\n:\n:\n\n", 4),
        (b"data: a\ndata: b\ndata: c\n\n", 1),
        (b"\n" * 10, 9),
        (b"data: " + b"x" * 1000, 0),
        (b"", 0),
    ],
)
def test_events_and_comments_are_counted_wherever_the_stream_is_cut(
    stream: bytes, expected: int
) -> None:
    for step in range(1, max(2, len(stream))):
        events = EventCounter()
        pieces = [stream[start : start + step] for start in range(0, len(stream), step)]
        assert sum(events.count(piece) for piece in pieces) == expected
