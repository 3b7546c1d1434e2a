import ctypes
import os
import socket
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.peers.descriptors import descriptors

from pegboard.errors import InvalidRequest, ToolFailed
from pegboard.sources.builtin.workspace_files import WorkspaceFiles

SECRET = b"outside the jail"
AT_FDCWD = -100
RENAME_EXCHANGE = 2


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_bytes(SECRET)
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("alpha")
    (folder / "sub" / "b.txt").write_text("beta")
    return folder


@pytest.fixture
def jail(root: Path) -> WorkspaceFiles:
    return WorkspaceFiles(root)


def read(jail: WorkspaceFiles, path: str) -> bytes:
    return jail.read(path, max_bytes=1000)


@pytest.mark.parametrize("path", ["sub/b.txt", "./sub/b.txt", "sub/./b.txt", "sub//b.txt"])
def test_a_file_inside_is_read(jail: WorkspaceFiles, path: str) -> None:
    assert read(jail, path) == b"beta"


@pytest.mark.parametrize(
    "path",
    ["../outside/secret.txt", "sub/../../outside/secret.txt", "..", "sub/..", "a.txt/../a.txt"],
)
def test_dots_do_not_lead_out(jail: WorkspaceFiles, outside: Path, path: str) -> None:
    with pytest.raises(InvalidRequest, match=r"leads out of the workspace"):
        read(jail, path)


def test_an_absolute_path_is_refused_even_inside(jail: WorkspaceFiles, root: Path) -> None:
    with pytest.raises(InvalidRequest, match="absolute"):
        read(jail, str(root / "a.txt"))


@pytest.mark.parametrize("path", ["", ".", "/", "a\0b", "x/" * 65 + "y", "n" * 1025])
def test_what_is_no_path_is_refused(jail: WorkspaceFiles, path: str) -> None:
    with pytest.raises(InvalidRequest):
        read(jail, path)


@pytest.mark.parametrize("target", ["../outside/secret.txt", "{outside}/secret.txt", "a.txt"])
def test_a_link_to_a_file_is_not_followed(jail, root, outside, target) -> None:
    (root / "link").symlink_to(target.format(outside=outside))

    with pytest.raises(InvalidRequest, match="link"):
        read(jail, "link")


def test_a_link_to_a_folder_is_not_followed(
    jail: WorkspaceFiles, root: Path, outside: Path
) -> None:
    (root / "link").symlink_to(outside)

    with pytest.raises(InvalidRequest, match="link"):
        read(jail, "link/secret.txt")
    with pytest.raises(InvalidRequest, match="link"):
        list(jail.entries("link"))
    with pytest.raises(InvalidRequest, match="link"):
        jail.write("link/new.txt", b"x", replace=True)
    assert sorted(item.name for item in outside.iterdir()) == ["secret.txt"]


def test_writing_onto_a_link_is_refused(jail: WorkspaceFiles, root: Path, outside: Path) -> None:
    (root / "link").symlink_to(outside / "secret.txt")

    with pytest.raises(InvalidRequest, match="not a regular file"):
        jail.write("link", b"x", replace=True)
    assert (outside / "secret.txt").read_bytes() == SECRET


def test_listing_shows_links_and_does_not_enter_them(jail, root, outside) -> None:
    (root / "link").symlink_to(outside)

    found = {item.path: item.kind for item in jail.entries(".", deep=True)}

    assert found == {"a.txt": "file", "link": "link", "sub": "folder", "sub/b.txt": "file"}


def test_pipes_sockets_and_devices_are_not_opened(jail: WorkspaceFiles, root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "socket"))

        for name in ("pipe", "socket"):
            with pytest.raises(InvalidRequest, match="not a regular file"):
                read(jail, name)
            with pytest.raises(InvalidRequest, match="not a regular file"):
                jail.write(name, b"x", replace=True)

    assert {item.kind for item in jail.entries(".")} == {"file", "folder", "other"}


def test_a_jail_around_devices_reads_none() -> None:
    with pytest.raises(InvalidRequest, match="not a regular file"):
        read(WorkspaceFiles(Path("/dev")), "zero")


@pytest.fixture
def swapping(root: Path, outside: Path) -> Iterator[None]:
    """Somebody who keeps exchanging a folder for a link that leads out, in one step."""
    done = threading.Event()
    (root / "inner").mkdir()
    (root / "inner" / "secret.txt").write_text("inside")
    (root / "bait").symlink_to(outside)
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    inner, bait = os.fsencode(root / "inner"), os.fsencode(root / "bait")

    def swap() -> None:
        while not done.is_set():
            exchange(AT_FDCWD, inner, AT_FDCWD, bait, RENAME_EXCHANGE)

    thread = threading.Thread(target=swap)
    thread.start()
    yield
    done.set()
    thread.join()


@pytest.mark.usefixtures("swapping")
def test_a_race_never_leads_out(jail: WorkspaceFiles, outside: Path) -> None:
    answers: set[bytes] = set()
    for number in range(1500):
        try:
            answers.add(read(jail, "inner/secret.txt"))
            jail.write("inner/new.txt", b"%d" % number, replace=True)
        except InvalidRequest:
            answers.add(b"refused")

    assert answers == {b"inside", b"refused"}
    assert sorted(item.name for item in outside.iterdir()) == ["secret.txt"]


def test_a_file_that_is_too_large_is_refused(jail: WorkspaceFiles) -> None:
    with pytest.raises(InvalidRequest, match="larger than 4 bytes"):
        jail.read("a.txt", max_bytes=4)


def test_writing_makes_folders_and_says_whether_the_file_is_new(
    jail: WorkspaceFiles, root: Path
) -> None:
    assert jail.write("x/y/z.txt", b"1", replace=False) is True
    assert jail.write("x/y/z.txt", b"2", replace=True) is False
    assert (root / "x" / "y" / "z.txt").read_bytes() == b"2"


def test_creating_does_not_replace(jail: WorkspaceFiles, root: Path) -> None:
    with pytest.raises(InvalidRequest, match="exists already"):
        jail.write("a.txt", b"x", replace=False)
    assert (root / "a.txt").read_text() == "alpha"


def test_of_many_creators_one_wins(jail: WorkspaceFiles, root: Path) -> None:
    results: list[bool] = []

    def create(number: int) -> None:
        try:
            results.append(jail.write("race.txt", b"%d" % number, replace=False))
        except InvalidRequest:
            results.append(False)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results.count(True) == 1
    assert sorted(item.name for item in root.iterdir()) == ["a.txt", "race.txt", "sub"]


def test_a_reader_never_sees_half_a_file(jail: WorkspaceFiles, root: Path) -> None:
    versions = [b"a" * 200_000, b"b" * 200_000]
    jail.write("big", versions[0], replace=True)
    seen: set[bytes] = set()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            seen.add((root / "big").read_bytes())

    thread = threading.Thread(target=look)
    thread.start()
    for number in range(60):
        jail.write("big", versions[number % 2], replace=True)
    done.set()
    thread.join()

    assert seen <= set(versions)


def test_a_failed_write_leaves_nothing_behind(jail: WorkspaceFiles, root: Path) -> None:
    with pytest.raises(InvalidRequest):
        jail.write("sub", b"x", replace=True)
    with pytest.raises(InvalidRequest, match="not a folder"):
        jail.write("a.txt/x", b"x", replace=True)
    with pytest.raises(InvalidRequest, match="not a name"):
        jail.write("n" * 300, b"x", replace=True)

    assert sorted(item.name for item in root.iterdir()) == ["a.txt", "sub"]


@pytest.mark.parametrize("name", ["sub", "x/new.txt", "..", "", "n" * 300])
def test_files_are_written_together_or_not_at_all(
    jail: WorkspaceFiles, root: Path, name: str
) -> None:
    before = sorted(root.rglob("*"))
    with pytest.raises(InvalidRequest):
        jail.write_together({"a.txt": b"other", "one.txt": b"1", name: b"2"})
    after = sorted(root.rglob("*"))
    kept = jail.read("a.txt", max_bytes=100)
    jail.write_together({"a.txt": b"other", "one.txt": b"1"})

    assert (after, kept) == (before, b"alpha")
    assert jail.read("a.txt", max_bytes=100) == b"other"
    assert jail.read("one.txt", max_bytes=100) == b"1"
    assert len(list(root.rglob("*"))) == len(before) + 1


def test_a_replaced_file_keeps_its_mode(jail: WorkspaceFiles, root: Path) -> None:
    (root / "a.txt").chmod(0o751)

    jail.write("a.txt", b"new", replace=True)

    assert stat.S_IMODE((root / "a.txt").stat().st_mode) == 0o751


def test_errors_do_not_say_where_the_workspace_is(jail: WorkspaceFiles, root: Path) -> None:
    for path in ("nothing", "sub", "a.txt/x", "nothing/x"):
        with pytest.raises(InvalidRequest) as caught:
            read(jail, path)
        assert str(root) not in str(caught.value)


def test_no_descriptor_is_left_open(jail: WorkspaceFiles, root: Path) -> None:
    (root / "link").symlink_to("a.txt")
    before = _open_below(root)

    for path in ("a.txt", "sub/b.txt", "nothing/x/y", "link", "sub", "a.txt/x"):
        with suppress(InvalidRequest):
            read(jail, path)
            jail.write(path, b"alpha", replace=True)
    list(jail.entries(".", deep=True))

    assert _open_below(root) == before


def _open_below(folder: Path) -> list[str]:
    """What descriptors of ours point to; those of tests before may be given back at any time."""
    at = [Path(path) for _, path in descriptors()]
    return sorted(str(path) for path in at if path.is_relative_to(folder.resolve()))


def test_names_that_are_not_utf8_are_passed_over(jail: WorkspaceFiles, root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/\xff.txt")).write_text("x")

    assert [item.path for item in jail.entries(".")] == ["a.txt", "sub"]


def test_what_the_system_forbids_is_the_tools_failure() -> None:
    with pytest.raises(ToolFailed, match=r"The file system reports an error for|does not permit"):
        WorkspaceFiles(Path("/sys")).write("new/file.txt", b"x", replace=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=st.text(alphabet="ab./\\~%\0 ünk", max_size=20))
def test_no_path_writes_outside(tmp_path: Path, path: str) -> None:
    root = tmp_path / "hypothesis"
    with suppress(InvalidRequest):
        WorkspaceFiles(root).write(path, b"x", replace=True)

    assert {item.name for item in tmp_path.iterdir()} <= {"hypothesis"}
