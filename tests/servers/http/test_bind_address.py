import errno
import secrets
import socket

import pytest
from pydantic import SecretStr
from tests.peers.ports import free_port

from pegboard.errors import ConfigError
from pegboard.runtime import Settings
from pegboard.servers.http.bind_address import address_error, bind_socket, url_of

TOKEN = SecretStr("e21d0b7c5fa94386")


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:"),
        ("127.1.2.3", "http://127.1.2.3:"),
        ("localhost", "http://127.0.0.1:"),
        ("::1", "http://[::1]:"),
    ],
)
def test_loopback_needs_no_token(host: str, url: str) -> None:
    with bind_socket(Settings(host=host, port=0)) as bound:
        assert url_of(bound).startswith(url)
        assert bound.getsockname()[1] > 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_beyond_loopback_a_token_is_needed(host: str) -> None:
    with pytest.raises(ConfigError, match=r"^Listening on .* set PEGBOARD_TOKEN"):
        bind_socket(Settings(host=host, port=0))


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_with_a_token_the_server_listens_anywhere(host: str) -> None:
    with bind_socket(Settings(host=host, port=0, token=TOKEN)) as bound:
        assert bound.getsockname()[0] == host


@pytest.mark.parametrize("token", ["test", "changeme", "x" * 40, "passwordpassword"])
def test_a_weak_token_is_refused_beyond_loopback_and_warned_of_on_it(
    caplog: pytest.LogCaptureFixture, token: str
) -> None:
    with pytest.raises(ConfigError, match=r"easy to guess.*openssl rand -hex 32") as caught:
        bind_socket(Settings(host="0.0.0.0", port=0, token=SecretStr(token)))
    assert token not in str(caught.value)

    with bind_socket(Settings(port=0, token=SecretStr(token))):
        assert "PEGBOARD_TOKEN is easy to guess" in caplog.text


def test_a_random_token_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(20):
        with bind_socket(Settings(port=0, token=SecretStr(secrets.token_hex(32)))):
            pass

    assert caplog.text == ""


def test_a_port_in_use_is_named_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        with pytest.raises(ConfigError, match=rf"^127.0.0.1:{port} is in use: .*--port"):
            bind_socket(Settings(port=port))


@pytest.mark.parametrize("host", ["nowhere.example", "x" * 300, "256.1.1.1"])
def test_a_host_that_is_none_is_named(host: str) -> None:
    with pytest.raises(ConfigError, match="PEGBOARD_HOST"):
        bind_socket(Settings(host=host, port=0))


def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    with pytest.raises(ConfigError, match=r"192.0.2.1:0 cannot be listened on"):
        bind_socket(Settings(host="192.0.2.1", port=0, token=TOKEN))


def test_a_port_that_only_root_may_have_is_said() -> None:
    error = OSError(errno.EACCES, "Permission denied")

    assert "above 1023" in str(address_error(Settings(port=80), error))


def test_a_server_that_ended_can_be_started_again_at_once() -> None:
    port = free_port()
    first = bind_socket(Settings(port=port))
    first.listen()
    with socket.create_connection(("127.0.0.1", port)):
        accepted, _ = first.accept()
        accepted.close()  # the server's end waits in TIME_WAIT
    first.close()

    with bind_socket(Settings(port=port)) as again:
        assert again.getsockname()[1] == port


def test_what_is_written_is_sent_at_once() -> None:
    with bind_socket(Settings(port=0)) as listening:
        listening.listen()
        with (
            socket.create_connection(listening.getsockname()),
            listening.accept()[0] as accepted,
        ):
            protocol = accepted.proto

    assert protocol == socket.IPPROTO_TCP  # by which asyncio knows that it may turn delays off
