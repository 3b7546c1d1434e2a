"""What one worker has rewritten, the others find."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.rewriting import rewrite_share


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    made = [tmp_path / f"test_{number}.py" for number in range(5)]
    for path in made:
        path.write_text("def test_one() -> None:\n    one = 1\n    assert one == 2\n")
    return made


def rewritten(folder: Path) -> list[str]:
    return sorted(path.name.partition(".")[0] for path in folder.glob("__pycache__/*-pytest-*.pyc"))


def test_each_worker_rewrites_its_share(
    files: list[Path], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    rewrite_share(files, pytestconfig, worker=1, workers=2)
    assert rewritten(tmp_path) == ["test_1", "test_3"]

    rewrite_share(files, pytestconfig, worker=0, workers=2)
    assert rewritten(tmp_path) == ["test_0", "test_1", "test_2", "test_3", "test_4"]


def test_a_file_that_cannot_be_read_is_left_to_its_collection(
    files: list[Path], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    files[0].write_text("def (")

    rewrite_share(files, pytestconfig, worker=0, workers=1)

    assert rewritten(tmp_path) == ["test_1", "test_2", "test_3", "test_4"]


@pytest.mark.slow
def test_pytest_takes_what_was_rewritten(
    files: list[Path], tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    rewrite_share(files, pytestconfig, worker=0, workers=1)
    (made,) = tmp_path.glob("__pycache__/test_0.*")
    before = made.stat().st_ino

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", files[0]],
        cwd=tmp_path,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert "assert 1 == 2" in done.stdout
    assert made.stat().st_ino == before
