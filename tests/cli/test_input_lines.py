"""Lines of the input that are read beside the event loop."""

import asyncio
import io
import os
from collections.abc import Generator

import pytest

from pegboard.cli.input_lines import InputLines


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Generator[int]:
    """What is written to this pipe is read from stdin."""
    read, write = os.pipe()
    with os.fdopen(read, encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield write
    try:
        os.close(write)
    except OSError:
        return  # the test has ended the input


async def test_lines_come_one_by_one_and_an_empty_one_is_the_end(typing: int) -> None:
    os.write(typing, "one\r\ntwo\n\nthé".encode()[:-1])
    lines = InputLines()
    read = [await lines.read(), await lines.read(), await lines.read()]
    os.write(typing, "é".encode()[1:])
    os.close(typing)
    read += [await lines.read(), await lines.read()]

    assert read == ["one\n", "two\n", "\n", "thé", ""]


async def test_the_loop_goes_on_while_a_line_is_awaited(typing: int) -> None:
    reading = asyncio.create_task(InputLines().read())
    await asyncio.sleep(0.01)
    os.write(typing, b"typed\n")

    assert await reading == "typed\n"


async def test_a_read_that_is_cancelled_takes_no_line(typing: int) -> None:
    lines = InputLines()
    reading = asyncio.create_task(lines.read())
    await asyncio.sleep(0.01)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    os.write(typing, b"typed later\n")

    assert await lines.read() == "typed later\n"


async def test_text_in_the_place_of_stdin_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo")))
    lines = InputLines()

    assert [await lines.read() for _ in range(3)] == ["one\n", "two", ""]
