"""The `files` section of a board file."""

import pytest
from pydantic import ValidationError

from pegboard.core.ports.accounts.file_store import FileLimits, FileQuota
from pegboard.runtime.board_file.files import FilesEntry
from pegboard.runtime.settings import Settings

SETTINGS = Settings(max_file_bytes=5, max_part_bytes=4, max_owned_bytes=3, max_owned_files=2)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (FilesEntry(), FileLimits(quota=FileQuota(bytes=3, files=2), file_bytes=5, part_bytes=4)),
        (
            FilesEntry(max_file_bytes=50, max_owned_bytes=0, max_owned_files=20),
            FileLimits(quota=FileQuota(bytes=0, files=20), file_bytes=50, part_bytes=4),
        ),
    ],
    ids=["settings", "file"],
)
def test_the_board_file_goes_before_the_settings(entry: FilesEntry, expected: FileLimits) -> None:
    assert entry.to_limits(SETTINGS) == expected


def test_a_negative_limit_is_refused() -> None:
    with pytest.raises(ValidationError):
        FilesEntry(max_owned_files=-1)
