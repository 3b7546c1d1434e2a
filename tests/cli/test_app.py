"""The entry point of the command line."""

import pytest

from pegboard.cli.app import explain_platform


def test_windows_is_told_what_to_use_instead() -> None:
    reason = explain_platform("win32")

    assert "WSL 2" in reason
    assert "the library" in reason


@pytest.mark.parametrize("platform", ["linux", "darwin", "freebsd14"])
def test_systems_like_unix_run_the_commands(platform: str) -> None:
    assert explain_platform(platform) == ""
