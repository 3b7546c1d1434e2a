"""Files that configurations name are read when they are files, and no further than they may be."""

import os
import socket
from pathlib import Path

import pytest
from tests.peers.descriptors import descriptors

from pegboard.tools.safe_files import read_file, read_start


def test_a_file_is_read_whole_and_a_link_followed(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"12345")
    (tmp_path / "link").symlink_to(file)

    assert read_file(file, most=5) == read_file(tmp_path / "link", most=99) == b"12345"
    assert read_start(file, most=3) == b"123"


def test_a_file_that_is_too_large_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(5 * 2**30)

    with pytest.raises(OSError, match="it has more than 1,000 bytes"):
        read_file(tmp_path / "big", most=1_000)
    assert read_start(tmp_path / "big", most=4) == b"\0" * 4


def test_what_lies_about_its_size_is_bounded_too() -> None:
    assert Path("/proc/self/status").stat().st_size == 0

    with pytest.raises(OSError, match="it has more than 10 bytes"):
        read_file(Path("/proc/self/status"), most=10)


@pytest.mark.parametrize("name", ["pipe", "socket", "/dev/zero", "/dev/null"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))

        for read in (read_file, read_start):
            with pytest.raises(OSError, match="it is a device, a pipe or a socket, not a file"):
                read(tmp_path / name, most=10)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".", "it is a folder, not a file"),
        ("absent", "No such file or directory"),
        ("a\0b", "it is no file name"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(OSError, match=said) as caught:
        read_file(tmp_path / name, most=10)

    assert caught.value.strerror == said


def test_nothing_stays_open(tmp_path: Path) -> None:
    before = _open_in(tmp_path)
    for name in (".", "/dev/zero"):
        with pytest.raises(OSError, match="it is a"):
            read_file(tmp_path / name, most=10)

    assert _open_in(tmp_path) == before


def _open_in(folder: Path) -> list[str]:
    """Which descriptors point here or to a device; tests before may give back others meanwhile."""
    return sorted(path for _, path in descriptors() if path in {str(folder.resolve()), "/dev/zero"})
