"""Files and streams that lines go to."""

import io
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.observability.log_sinks import FileSink, StreamSink


@pytest.fixture
def limit() -> Iterator[Callable[[int], None]]:
    """Let files of this process grow to so many bytes only."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_and_its_folder_are_made_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "calls.jsonl"
    sink = FileSink(path)
    sink.write("one\ntwo\n")
    sink.close()
    sink.close()

    assert path.read_text() == "one\ntwo\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_in_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text("before\n")
    sink = FileSink(path)
    sink.write("after\n")
    sink.close()

    assert path.read_text() == "before\nafter\n"


def test_a_file_that_was_moved_away_gets_a_successor(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    sink = FileSink(path)
    sink.write("one\n")
    path.rename(tmp_path / "calls.jsonl.1")
    sink.write("two\n")
    sink.close()

    assert path.read_text() == "two\n"
    assert (tmp_path / "calls.jsonl.1").read_text() == "one\n"


def test_after_a_write_that_broke_off_lines_are_whole_again(
    tmp_path: Path, limit: Callable[[int], None]
) -> None:
    path = tmp_path / "calls.jsonl"
    sink = FileSink(path)
    limit(6)
    with pytest.raises(OSError, match="File too large"):
        sink.write("a line too long\n")
    limit(1_000_000)
    sink.write("next\n")
    sink.write("last\n")
    sink.close()

    assert path.read_text() == "a line\nnext\nlast\n"


def test_a_full_disk_is_an_error() -> None:
    sink = FileSink(Path("/dev/full"))

    with pytest.raises(OSError, match="No space left"):
        sink.write("line\n")
    sink.close()


def test_a_file_that_cannot_be_opened_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match=r"log file .*calls.jsonl cannot be written"):
        FileSink(tmp_path / "file" / "calls.jsonl")


def test_a_stream_is_flushed_and_left_open() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw)
    sink = StreamSink(stream)
    sink.write("line\n")
    sink.close()

    assert raw.getvalue() == b"line\n"
    assert not stream.closed
