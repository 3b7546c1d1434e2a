"""Opening a storage by its place."""

import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.storage.databases.sqlite_file import open_writer
from pegboard.storage.open import is_postgres


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("postgresql://ada@host/board", True),
        ("postgres://host/board", True),
        ("data", False),
        (Path("postgresql://host"), False),
    ],
    ids=["postgresql", "postgres", "folder", "path"],
)
def test_an_address_is_not_taken_for_a_folder(place: Path | str, expected: bool) -> None:
    assert is_postgres(place) == expected


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_start_that_migrates_nothing_does_not_load_alembic(tmp_path: Path) -> None:
    open_writer(tmp_path / "pegboard.db", 0.0).close()
    code = (
        "import sys\n"
        "from pegboard.storage import open_storage\n"
        "open_storage(sys.argv[1])\n"
        "print({'alembic', 'psycopg', 'sqlalchemy.orm', 'sqlalchemy'} & set(sys.modules))"
    )
    assert printed(code, tmp_path) == "{'sqlalchemy'}"


@pytest.mark.slow
def test_a_board_that_keeps_nothing_loads_no_database(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pegboard.storage import MemoryStorage, open_storage\n"
        "MemoryStorage()\n"
        "print({'sqlalchemy', 'alembic', 'psycopg'} & set(sys.modules))"
    )
    assert printed(code, tmp_path) == "set()"


def printed(code: str, directory: Path) -> str:
    command = [sys.executable, "-c", code, str(directory)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
