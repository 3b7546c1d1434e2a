"""Where a server has the data, the request that does the same is named."""

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegboard.cli.offline_storage import http_hint
from pegboard.errors import ConfigError
from pegboard.runtime import Settings
from pegboard.runtime.wiring.storage import write_address
from pegboard.storage.databases.directory_lock import DirectoryLock


def test_what_else_is_wrong_is_told_as_it_is() -> None:
    with pytest.raises(ConfigError, match=r"^broken$"), http_hint(Settings(), "GET /audit"):
        raise ConfigError("broken")


@pytest.fixture
def chosen(tmp_path: Path) -> Iterator[Settings]:
    """Settings whose data somebody has."""
    lock = DirectoryLock(tmp_path)
    yield Settings(data=tmp_path, host="127.0.0.1", port=8321)
    lock.release()


def test_the_request_goes_where_the_server_says_that_it_listens(chosen: Settings) -> None:
    write_address(chosen, "http://10.0.0.1:99")
    with (
        pytest.raises(ConfigError, match=r"curl -X GET http://10\.0\.0\.1:99/audit$"),
        http_hint(chosen, "GET /audit"),
    ):
        raise ConfigError("The data directory d is in use by process 7.") from BlockingIOError()


@pytest.mark.parametrize(
    ("body", "said"), [("", "GET /audit"), ("{}", "GET /audit with the body {}")]
)
def test_no_address_is_named_that_nobody_said(chosen: Settings, body: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused, http_hint(chosen, "GET /audit", body):
        raise ConfigError("The data directory d is in use by process 7.") from BlockingIOError()

    assert refused.value.message.endswith(f"\nIf it is a server, send the request to it: {said}")


def test_the_request_can_be_typed_as_it_stands(chosen: Settings) -> None:
    write_address(chosen, "http://127.0.0.1:8321")
    body = '{"answer": "it\'s & it was"}'
    with (
        pytest.raises(ConfigError) as refused,
        http_hint(chosen, "GET /tools/held?source=a&state=waiting", body),
    ):
        raise ConfigError("The data directory d is in use by process 7.") from BlockingIOError()

    words = shlex.split(refused.value.message.partition("curl ")[2])
    assert words[2].endswith("/tools/held?source=a&state=waiting")
    assert words[-1] == body
