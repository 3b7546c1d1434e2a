"""A database of a person is reached at the address that was checked, and at no other."""

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest, SourceUnavailable
from pegboard.network import PolicyAddressGuard, SsrfPolicy
from pegboard.sources.sql import KIND
from pegboard.sources.sql.config import SqlConfig


class Guard:
    """Sends everything to this machine."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def resolve(self, host: str, port: int) -> str:
        self.asked.append((host, port))
        if host == "nowhere.example.com":
            raise OSError("no such name")
        return "127.0.0.1"


@contextmanager
def a_listener() -> Generator[tuple[int, list[bool]]]:
    """A port of this machine that closes each connection, and whether it had one."""
    connected: list[bool] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connected.append(True)
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], connected
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


async def list_tools(url: str, services: Services) -> None:
    source = await KIND.open("shop", SqlConfig.model_validate({"url": url}), services)
    try:
        await source.tools()
    finally:
        await source.close()


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
async def test_a_driver_connects_to_the_address_that_was_checked(scheme: str) -> None:
    guard = Guard()
    with a_listener() as (port, connected), pytest.raises(SourceUnavailable):
        await list_tools(f"{scheme}://u:p@db.example.com:{port}/shop", Services(addresses=guard))

    assert connected
    assert set(guard.asked) == {("db.example.com", port)}


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
async def test_a_name_that_leads_to_this_machine_is_refused_before_anything_is_sent(
    scheme: str,
) -> None:
    guard = PolicyAddressGuard(SsrfPolicy(), resolver=lambda _host, _port: ["127.0.0.1"])
    with a_listener() as (port, connected):
        url = f"{scheme}://u:p@db.example.com:{port}/shop"
        with pytest.raises(SourceUnavailable, match="leads to a loopback address") as refused:
            await list_tools(url, Services(addresses=guard))

    assert not connected
    assert isinstance(refused.value.__cause__, InvalidRequest)


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
async def test_a_name_without_an_address_is_an_unavailable_database(scheme: str) -> None:
    with pytest.raises(SourceUnavailable):
        await list_tools(f"{scheme}://u:p@nowhere.example.com/shop", Services(addresses=Guard()))


async def test_a_private_host_that_an_operator_names_is_not_checked() -> None:
    guard = Guard()
    with a_listener() as (port, connected), pytest.raises(SourceUnavailable):
        await list_tools(f"postgresql://u:p@127.0.0.1:{port}/shop", Services(addresses=guard))

    assert connected
    assert guard.asked == []
