"""Ranges of a download."""

import pytest

from pegboard.servers.http.byte_ranges import ByteRange, read_range


@pytest.mark.parametrize(
    ("header", "start", "length"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-99", 0, 10),
        ("bytes=3-", 3, 7),
        ("bytes=-4", 6, 4),
        ("bytes=-99", 0, 10),
    ],
)
def test_a_range_is_read(header: str, start: int, length: int) -> None:
    assert read_range(header, 10) == ByteRange(start=start, length=length, size=10)


@pytest.mark.parametrize(
    "header",
    ["", "bytes=-", "bytes=5-3", "bytes=0-1,3-4", "lines=0-1", "bytes=a-b", "bytes=\u0661-"],
)
def test_what_is_no_single_range_asks_for_the_whole(header: str) -> None:
    assert read_range(header, 10) is None


@pytest.mark.parametrize(
    ("header", "size"), [("bytes=10-", 10), ("bytes=-0", 10), ("bytes=0-", 0), ("bytes=99-100", 10)]
)
def test_a_range_behind_the_end_is_refused(header: str, size: int) -> None:
    found = read_range(header, size)

    assert found is not None
    assert (found.length, found.header) == (0, f"bytes */{size}")
