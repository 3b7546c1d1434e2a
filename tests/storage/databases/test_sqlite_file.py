"""Opening files that are as they should be, and others."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.storage.made import NOON, a_record, a_start

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.errors import ConfigError, StoreUnavailable, Unavailable
from pegboard.storage import open_history, open_storage
from pegboard.storage.databases.sqlite_file import open_reader, open_writer
from pegboard.storage.databases.sqlite_reader import SqliteReader
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.migrate import REVISIONS
from pegboard.testing import FakeClock


def spoil_header(path: Path) -> None:
    path.write_bytes(b"this is no database, it is a letter" * 100)


def spoil_schema(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE holidays (day TEXT)")
    connection.close()


def make_newer(path: Path) -> None:
    transaction = open_writer(path, NOON)
    transaction.driver.execute("UPDATE pegboard_schema SET version_num = '9999'")
    transaction.close()


async def test_what_is_kept_can_be_read_by_its_user_alone(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    async with open_storage(data) as storage:
        await storage.journal.record_start(a_start())
        modes = {path.name: path.stat().st_mode & 0o777 for path in (data, *data.iterdir())}

    assert modes == {
        "data": 0o700,
        "lock": 0o600,
        "pegboard.db": 0o600,
        "pegboard.db-wal": 0o600,
        "pegboard.db-shm": 0o600,
    }


async def test_the_file_is_in_wal_mode(tmp_path: Path) -> None:
    async with open_storage(tmp_path):
        pass

    with sqlite3.connect(tmp_path / "pegboard.db") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (spoil_header, "file is not a database. Repair it or move it away"),
        (spoil_schema, "it was not created by Pegboard; move it away, or use another directory"),
        (
            make_newer,
            (
                "it was created by a newer Pegboard .schema 9999, this one knows "
                f"{REVISIONS[-1]}.; upgrade, or use another directory with --data DIR"
            ),
        ),
        (Path.mkdir, "(unable to open database file|disk I/O error)"),
    ],
    ids=["damaged", "not ours", "newer", "a folder"],
)
async def test_a_file_that_cannot_be_used_is_one_clear_line(
    tmp_path: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    spoil(tmp_path / "pegboard.db")

    with pytest.raises(ConfigError, match=reason) as caught:
        open_storage(tmp_path)
    with pytest.raises(ConfigError, match=f"pegboard.db cannot be opened: .*{reason}"):
        async with open_history(tmp_path):
            pass

    assert str(tmp_path / "pegboard.db") in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_file_that_another_program_locks_answers_later(
    tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.storage.databases.sqlite_file.BUSY_SECONDS", 0.05)
    async with open_storage(tmp_path, clock=clock) as storage:
        other = sqlite3.connect(tmp_path / "pegboard.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        storage.listener.on_event(a_record("c1"))
        with pytest.raises(StoreUnavailable, match="locked by another program") as caught:
            await storage.journal.record_start(a_start("w1"))
        readable = await storage.history.calls(HistoryQuery())
        other.execute("COMMIT")
        other.close()
        await storage.journal.record_start(a_start("w2"))
        page = await storage.history.calls(HistoryQuery())

    assert caught.value.retry_after == 1.0
    assert list(readable.calls) == []
    assert sorted(row["call_id"] for row in page.calls) == ["c1", "w2"]


async def test_a_refused_file_leaves_no_lock_behind(tmp_path: Path) -> None:
    spoil_header(tmp_path / "pegboard.db")
    with pytest.raises(ConfigError, match="not a database"):
        open_storage(tmp_path)
    (tmp_path / "pegboard.db").unlink()

    async with open_storage(tmp_path) as storage:
        await storage.flush()


async def test_a_file_that_cannot_be_made_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "pegboard.db").symlink_to(tmp_path / "gone" / "pegboard.db")

    with pytest.raises(ConfigError, match=r"pegboard.db cannot be opened: No such file"):
        open_storage(tmp_path)


async def test_a_file_damaged_while_it_is_open_answers_unavailable(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with open_storage(tmp_path, clock=clock) as storage:
        for number in range(50):
            storage.listener.on_event(a_record(f"c{number}", reason="r" * 1000))
    path = tmp_path / "pegboard.db"
    data = bytearray(path.read_bytes())
    data[-4096 * 15 :] = b"\xff" * (4096 * 15)
    path.write_bytes(data)

    async with open_storage(tmp_path, clock=clock) as storage:
        with pytest.raises(StoreUnavailable, match="its file is damaged"):
            await storage.history.calls(HistoryQuery())


def test_storage_that_cannot_be_read_back_is_let_go_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[Transaction]()

    def write(path: Path, now: float) -> Transaction:
        opened.append(open_writer(path, now))
        return opened[0]

    def read(path: Path) -> Transaction:
        raise ConfigError(f"{path.name} cannot be read")

    # a file that can be written and then not read is a fault that no test can bring about by itself
    with monkeypatch.context() as patched:
        patched.setattr("pegboard.storage.databases.sqlite.open_writer", write)
        patched.setattr("pegboard.storage.databases.sqlite.open_reader", read)
        with pytest.raises(ConfigError, match="cannot be read"):
            open_storage(tmp_path)

    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].driver.execute("SELECT 1")


async def test_a_reader_that_was_closed_says_so(tmp_path: Path) -> None:
    open_writer(tmp_path / "pegboard.db", NOON).close()
    reader = SqliteReader(open_reader(tmp_path / "pegboard.db"))
    reader.close()
    reader.close()

    with pytest.raises(Unavailable, match="closed"):
        await reader.read(lambda transaction: transaction)


_ON_A_FULL_DISK = """
import sys
from pathlib import Path
from pegboard.errors import ConfigError
from pegboard.storage import open_storage

folder = Path(sys.argv[1])
size = 16384
with (folder / "ballast").open("wb", buffering=0) as ballast:
    while size:
        try:
            ballast.write(bytes(size))
        except OSError:
            size //= 2
    ballast.truncate(ballast.tell() - int(sys.argv[2]))
try:
    open_storage(folder)
except ConfigError as error:
    print(error)
"""


def open_on_a_full_disk(folder: Path, *, made_before: bool, spare: int) -> str:
    """What opening a storage on a full file system prints."""
    made = "import sys; from pegboard.storage import open_storage; open_storage(sys.argv[1])"
    make = f"{sys.executable} -c '{made}' \"$0\"" if made_before else "true"
    script = f'mount -t tmpfs -o size=4m none "$0" && {make} && exec "$1" -c "$2" "$0" {spare}'
    done = subprocess.run(
        ["unshare", "-Urm", "sh", "-c", script, folder, sys.executable, _ON_A_FULL_DISK],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("a file system cannot be mounted here")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("spare", [0, 4096, 16_384])
def test_opening_on_a_full_disk_says_to_free_space(tmp_path: Path, spare: int) -> None:
    said = open_on_a_full_disk(tmp_path, made_before=False, spare=spare)

    assert "free some space" in said.lower()
    assert "move it away" not in said


@pytest.mark.slow
@pytest.mark.parametrize("spare", [0, 4096, 16_384])
def test_what_was_stored_is_opened_on_a_full_disk(tmp_path: Path, spare: int) -> None:
    assert open_on_a_full_disk(tmp_path, made_before=True, spare=spare) == ""
