"""The settings of files."""

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.file_settings import FileSettings
from pegboard.runtime.settings import Settings


def test_files_are_limited_by_default() -> None:
    found = Settings.from_environment({"PEGBOARD_FILES": "s3://bucket/board/"})

    assert isinstance(found, FileSettings)
    assert found.files == "s3://bucket/board"
    assert 0 < found.max_part_bytes < found.max_file_bytes < found.max_owned_bytes
    assert found.max_owned_files > 0


@pytest.mark.parametrize("value", ["bucket", "s3://", "s3:///prefix", "https://bucket", "/var"])
def test_what_is_no_bucket_is_named(value: str) -> None:
    with pytest.raises(ConfigError, match="PEGBOARD_FILES: write the name of a bucket"):
        Settings.from_environment({"PEGBOARD_FILES": value})


def test_the_secret_is_not_shown() -> None:
    found = Settings.from_environment({"PEGBOARD_S3_SECRET": "hunter2hunter2"})

    assert "hunter2" not in repr(found)
