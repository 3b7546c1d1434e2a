"""What a command can reach of the network and of this machine's sockets."""

import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.inside import attempt, shell

from pegboard.errors import Unavailable
from pegboard.sandbox import ProbedSandbox

REFUSED = {"PermissionError", "ConnectionRefusedError", "FileNotFoundError", "OSError"}
TCP = "socket.create_connection(('127.0.0.1', int(given[0])), 2)"
UNIX = "s = socket.socket(socket.AF_UNIX); s.connect(given[0])"


@pytest.fixture
def tcp() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


async def test_a_loopback_server_is_out_of_reach(sandbox: ProbedSandbox, tcp: int) -> None:
    assert await attempt(sandbox, TCP, tcp) in REFUSED


async def test_udp_does_not_arrive(sandbox: ProbedSandbox) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.2)
        port = server.getsockname()[1]
        statement = (
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
            ".sendto(b'x', ('127.0.0.1', int(given[0])))"
        )
        await attempt(sandbox, statement, port)

        with pytest.raises(TimeoutError):
            server.recv(1)


async def test_an_abstract_socket_is_out_of_reach(sandbox: ProbedSandbox) -> None:
    name = f"pegboard-{secrets.token_hex(6)}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("\0" + name)
        server.listen()

        assert await attempt(sandbox, UNIX.replace("given[0]", "'\\0' + given[0]"), name) in REFUSED


async def test_a_socket_in_the_file_system_is_out_of_reach(
    sandbox: ProbedSandbox, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()

        assert await attempt(sandbox, UNIX, tmp_path / "s") in REFUSED


@pytest.mark.parametrize(
    "family", [17, 29, 31, 38, 40, 44], ids=["packet", "can", "bluetooth", "alg", "vsock", "xdp"]
)
async def test_other_families_of_sockets_cannot_be_made(
    sandbox: ProbedSandbox, family: int
) -> None:
    told = await attempt(sandbox, f"socket.socket({family}, socket.SOCK_RAW)")

    assert told == "PermissionError"


async def test_a_listening_socket_is_not_seen_from_outside(sandbox: ProbedSandbox) -> None:
    statement = "s = socket.create_server(('127.0.0.1', 0)); s.settimeout(0.1); s.accept()"

    assert await attempt(sandbox, statement) in {"PermissionError", "TimeoutError"}


async def test_who_may_reach_the_network_reaches_it(sandbox: ProbedSandbox, tcp: int) -> None:
    assert await attempt(sandbox, TCP, tcp, network=True) == "done"


async def test_who_may_reach_the_network_reaches_no_unix_sockets(
    sandbox: ProbedSandbox, tmp_path: Path
) -> None:
    name = f"pegboard-{secrets.token_hex(6)}"
    with socket.socket(socket.AF_UNIX) as abstract, socket.socket(socket.AF_UNIX) as named:
        abstract.bind("\0" + name)
        abstract.listen()
        named.bind(str(tmp_path / "s"))
        named.listen()
        to_abstract = UNIX.replace("given[0]", "'\\0' + given[0]")

        assert await attempt(sandbox, to_abstract, name, network=True) in REFUSED
        assert await attempt(sandbox, UNIX, tmp_path / "s", network=True) in REFUSED


async def test_without_leave_nobody_reaches_the_network() -> None:
    offline = ProbedSandbox(network=False)

    with pytest.raises(Unavailable, match=r"may not reach the network.*network: true"):
        await shell(offline, "true", network=True)
