"""The rules of this test suite hold: a test that needs the world fails."""

import asyncio
import socket
import sys
import tomllib
import warnings
from pathlib import Path

import pytest
from hypothesis import settings

OUTSIDE = "192.0.2.1"  # reserved for documentation (RFC 5737): nobody answers there


def test_a_connection_beyond_loopback_is_blocked() -> None:
    with (
        socket.socket() as client,
        pytest.raises(Exception, match=f'with host "{OUTSIDE}"'),
    ):
        client.connect((OUTSIDE, 80))


async def test_an_asyncio_connection_beyond_loopback_is_blocked() -> None:
    with pytest.raises(Exception, match=f'with host "{OUTSIDE}"'):
        await asyncio.open_connection(OUTSIDE, 80)


@pytest.mark.parametrize("host", ["example.com", "metadata.google.internal"])
async def test_a_name_beyond_this_machine_does_not_resolve(host: str) -> None:
    with pytest.raises(socket.gaierror, match="no names beyond this machine"):
        await asyncio.get_running_loop().getaddrinfo(host, 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_loopback_is_open(host: str) -> None:
    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"here")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        reader, writer = await asyncio.open_connection(host, server.sockets[0].getsockname()[1])
        said = await reader.read()
        writer.close()

    assert said == b"here"


def test_unix_sockets_are_open(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(path)
        server.listen()
        client.connect(path)

        assert client.getpeername() == path


def test_a_warning_is_an_error() -> None:
    with pytest.raises(UserWarning, match="careless"):
        warnings.warn("careless", stacklevel=1)


def test_every_test_has_ten_seconds(pytestconfig: pytest.Config) -> None:
    project = tomllib.loads((pytestconfig.rootpath / "pyproject.toml").read_text(encoding="utf-8"))

    assert project["tool"]["pytest"]["ini_options"]["timeout"] == 10
    # `.ci/run` gives more: a machine that others use too may stand still
    assert 10 <= float(pytestconfig.getini("timeout")) <= 60


def test_the_order_is_random(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.hasplugin("randomly")


def test_examples_are_the_same_at_each_run() -> None:
    assert settings().derandomize


async def test_an_async_test_runs_without_a_mark() -> None:
    assert asyncio.get_running_loop().is_running()


def test_test_modules_do_not_enter_the_import_path() -> None:
    assert str(Path(__file__).parent) not in sys.path
