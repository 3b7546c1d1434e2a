"""`email_send`, and the delivery behind it, on a real SMTP server."""

import asyncio
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from tests.network.loopback import CERTIFICATE
from tests.sources.builtin.mail_server import HOST, MailServer, mail_server
from tests.sources.builtin.providers import why_unavailable

from pegboard import ToolContext, ToolRegistry
from pegboard.core.ports.services import Services
from pegboard.core.ports.source_services.providers import MailAccess
from pegboard.core.result import ToolResult
from pegboard.errors import InvalidRequest, PegboardError, SourceUnavailable, Unavailable
from pegboard.runtime.board_file.models import NetworkEntry
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.providers import create_providers
from pegboard.sources.builtin import bind_tools
from pegboard.sources.builtin.smtp_delivery import deliver
from pegboard.sources.builtin.tools.email_send import email_send
from pegboard.testing import FakeClock
from pegboard.tools import as_tool

MAIL: dict[str, Any] = {"to": ["ada@example.com"], "subject": "Hello", "text": "Text."}
PASSWORD = "p@ss word"


def tools(url: str, folder: Path | None = None, **variables: str) -> ToolRegistry:
    given = {"PEGBOARD_SMTP_URL": url, "PEGBOARD_EMAIL_FROM": "Shop <shop@example.com>"}
    providers = create_providers(Settings.from_environment(given | variables), NetworkEntry())
    services = Services(providers=providers, workspace=folder, clock=FakeClock())
    return ToolRegistry(bind_tools(services))


async def send(mail: MailServer, **changes: Any) -> ToolResult:
    return await tools(f"smtp+plain://127.0.0.1:{mail.port}").call("email_send", MAIL | changes)


@asynccontextmanager
async def silent_server() -> AsyncGenerator[int]:
    """A server that takes connections and says nothing."""
    over = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        over.set()

    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    await over.wait()
    server.close()


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the name of the certificate resolve to loopback, and trust it."""
    real = socket.getaddrinfo

    def resolve(host: Any, *rest: Any, **more: Any) -> Any:
        return real("127.0.0.1" if host == HOST else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


async def test_an_email_arrives_from_the_boards_address() -> None:
    async with mail_server() as mail:
        result = await send(mail, to=["Ada <ada@example.com>"], cc=["bob@example.com"])

    assert mail.envelopes[0].mail_from == "shop@example.com"
    assert mail.envelopes[0].rcpt_tos == ["ada@example.com", "bob@example.com"]
    assert (mail.message()["From"], mail.message()["To"], mail.message()["Cc"]) == (
        "Shop <shop@example.com>",
        "Ada <ada@example.com>",
        "bob@example.com",
    )
    assert mail.message()["Subject"] == "Hello"
    assert result.unwrap() == {
        "message_id": mail.message()["Message-ID"],
        "recipients": ["ada@example.com", "bob@example.com"],
        "refused": [],
    }


@pytest.mark.parametrize(("tls", "scheme"), [("starttls", "smtp"), ("implicit", "smtps")])
@pytest.mark.usefixtures("named")
async def test_it_logs_in_over_tls(tls: str, scheme: str) -> None:
    async with mail_server(tls=tls) as mail:
        registry = tools(f"{scheme}://shop%40example.com:p%40ss%20word@{HOST}:{mail.port}")
        result = await registry.call("email_send", MAIL)

    assert result.unwrap()["recipients"] == ["ada@example.com"]
    assert mail.users == [(b"shop@example.com", b"p@ss word")]


@pytest.mark.parametrize(
    ("tls", "url", "message"),
    [
        ("starttls", f"smtp://shop:wrong@{HOST}", "it refuses the user or the password"),
        ("none", f"smtp://shop:p%40ss%20word@{HOST}", "it offers no STARTTLS"),
        ("starttls", "smtp://127.0.0.1", "its certificate is not valid"),
        ("implicit", "smtps://127.0.0.1", "its certificate is not valid"),
        ("none", f"smtps://{HOST}", "no secure connection can be made"),
    ],
    ids=["password", "no starttls", "starttls name", "tls name", "no tls"],
)
@pytest.mark.usefixtures("named")
async def test_a_wrong_setting_is_named(tls: str, url: str, message: str) -> None:
    async with mail_server(tls=tls) as mail:
        result = await tools(f"{url}:{mail.port}").call("email_send", MAIL)

    assert type(result.error) is SourceUnavailable
    assert not result.error.retryable
    assert message in result.text
    assert "PEGBOARD_SMTP_URL" in result.text
    assert "wrong" not in result.text
    assert mail.envelopes == []


@pytest.mark.parametrize(
    "changes",
    [
        {"to": ["ada@example.com\r\nBcc: eve@evil.example"]},
        {"cc": ["a@example.com>\r\nRCPT TO:<eve@evil.example"]},
        {"subject": "Hello\r\nBcc: eve@evil.example"},
        {"to": ["a@example.com, b@example.com"]},
        {"to": []},
        {"to": ["a@example.com"] * 51},
        {"attachments": [{"name": "a\r\nX-Evil: 1.txt", "content": "x"}]},
        {"attachments": [{"name": "a.txt"}]},
        {"attachments": [{"path": "a.txt", "content": "x"}]},
        {"attachments": [{"path": "../../etc/passwd"}]},
        {"attachments": [{"path": "/etc/passwd"}]},
        {"attachments": [{"name": "a.png", "content": "no base64!"}]},
        {"attachments": [{"name": "a.txt", "content": "x" * 10_000_001}]},
    ],
    ids=lambda value: ascii(value)[:60],
)
async def test_bad_arguments_reach_no_server(changes: dict[str, Any]) -> None:
    async with mail_server() as mail:
        result = await send(mail, **changes)

    assert result.is_error
    assert result.error is not None
    assert result.error.code in {"request_invalid", "arguments_invalid"}
    assert mail.connections == 0


async def test_files_of_the_workspace_and_values_are_attached(tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.7")
    files = [{"path": "report.pdf"}, {"name": "notes.txt", "content": "Hi"}]
    async with mail_server() as mail:
        registry = tools(f"smtp+plain://127.0.0.1:{mail.port}", tmp_path)
        (await registry.call("email_send", MAIL | {"attachments": files})).unwrap()

    sent = [(part.get_filename(), part.get_content()) for part in mail.message().iter_attachments()]
    assert sent == [("report.pdf", b"%PDF-1.7"), ("notes.txt", "Hi")]


async def test_a_stored_file_is_attached_by_its_handle(tmp_path: Path) -> None:
    (tmp_path / "chart.png").write_bytes(b"\x89PNG\xff")
    async with mail_server() as mail:
        registry = tools(f"smtp+plain://127.0.0.1:{mail.port}", tmp_path)
        [stored] = (await registry.call("file_read", {"path": "chart.png"})).artifacts
        files = [{"name": "chart.png", "content": stored.handle}]
        (await registry.call("email_send", MAIL | {"attachments": files})).unwrap()

    [part] = mail.message().iter_attachments()
    assert (part.get_content_type(), part.get_content()) == ("image/png", b"\x89PNG\xff")


def refuse(step: str, answer: str) -> Any:
    return lambda asked, _envelope: answer if asked.startswith(step) else None


@pytest.mark.parametrize(
    ("step", "answer", "kind", "retryable", "message"),
    [
        (
            "RCPT",
            "550 no such user",
            InvalidRequest,
            False,
            "all recipients: ada@example.com (550)",
        ),
        ("RCPT", "451 try later", Unavailable, True, "all recipients: ada@example.com (451)"),
        ("MAIL", "550 not you", SourceUnavailable, False, "refuses the sender (550)"),
        ("MAIL", "451 try later", Unavailable, True, "The mail server answered 451."),
        ("DATA", "554 spam", InvalidRequest, False, "refuses the message (554)"),
        ("DATA", "452 full", Unavailable, True, "The mail server answered 452."),
        ("DATA", "break", Unavailable, False, "Whether the message was sent is unknown"),
    ],
)
async def test_what_a_refusal_of_the_server_means(
    step: str, answer: str, kind: type[PegboardError], retryable: bool, message: str
) -> None:
    async with mail_server(answer=refuse(step, answer)) as mail:
        result = await send(mail)

    assert isinstance(result.error, PegboardError)
    assert (type(result.error), result.error.retryable) == (kind, retryable)
    assert message in result.text


@pytest.mark.parametrize("answer", ["break", "500 what"])
async def test_a_delivered_message_stays_so_however_the_server_parts(answer: str) -> None:
    async with mail_server(answer=refuse("QUIT", answer)) as mail:
        result = await send(mail)

    assert result.unwrap()["recipients"] == ["ada@example.com"]


async def test_a_refused_recipient_keeps_no_mail_from_the_others() -> None:
    async with mail_server(answer=refuse("RCPT bob", "550 no such user")) as mail:
        result = await send(mail, cc=["bob@example.com"])

    assert mail.envelopes[0].rcpt_tos == ["ada@example.com"]
    assert result.unwrap()["recipients"] == ["ada@example.com"]
    assert result.unwrap()["refused"] == ["bob@example.com"]


async def test_a_server_that_is_not_there_is_unavailable() -> None:
    result = await tools("smtp+plain://127.0.0.1:9").call("email_send", MAIL)

    assert type(result.error) is Unavailable
    assert result.error.nothing_done
    assert result.text.startswith("The mail server cannot be reached, or broke off.")


async def test_a_server_that_says_nothing_is_left_before_the_call_ends() -> None:
    async with silent_server() as port:
        ctx = ToolContext(deadline=time.monotonic() + 1.3)
        result = await tools(f"smtp+plain://127.0.0.1:{port}").call("email_send", MAIL, ctx)

    assert type(result.error) is Unavailable
    assert result.error.nothing_done


async def test_a_cancelled_call_ends_its_conversation() -> None:
    ended = asyncio.Event()
    begun = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 here\r\n")
        await reader.readline()
        begun.set()
        await reader.read()
        ended.set()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    task = asyncio.ensure_future(tools(f"smtp+plain://127.0.0.1:{port}").call("email_send", MAIL))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    await asyncio.wait_for(ended.wait(), 5)
    server.close()


@pytest.mark.parametrize(
    ("allowed", "to", "goes"),
    [
        ("", "eve@evil.example", True),
        ("*@example.com", "ada@example.com", True),
        ("bob@x.example, *@example.com", "ADA@Example.com", True),
        ("*@example.com", "eve@evil.example", False),
        ("*@example.com", "Ada@example.com <eve@evil.example>", False),
        ("*@example.com", "ada@example.com.evil.example", False),
    ],
)
async def test_the_operator_says_who_may_get_mail(allowed: str, to: str, goes: bool) -> None:
    async with mail_server() as mail:
        url = f"smtp+plain://127.0.0.1:{mail.port}"
        registry = tools(url, PEGBOARD_EMAIL_RECIPIENTS=allowed)
        result = await registry.call("email_send", MAIL | {"to": [to]})

    assert result.is_error is not goes
    assert len(mail.envelopes) == goes


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        pytest.param({}, "it needs a mail server: set PEGBOARD_SMTP_URL", id="nothing"),
        pytest.param(
            {"PEGBOARD_SMTP_URL": "smtps://h"},
            "it needs a sender: set PEGBOARD_EMAIL_FROM",
            id="no sender",
        ),
        pytest.param(
            {"PEGBOARD_SMTP_URL": "smtps://h", "PEGBOARD_EMAIL_FROM": "shop"},
            "it needs a sender: set PEGBOARD_EMAIL_FROM",
            id="a wrong sender",
        ),
    ],
)
def test_without_a_server_and_a_sender_it_is_unavailable(
    variables: dict[str, str], reason: str
) -> None:
    assert why_unavailable("email_send", variables).startswith(reason)


def test_it_counts_as_writing() -> None:
    assert as_tool(email_send).spec.effect == "write"


async def test_a_delivery_has_one_deadline_for_all_its_steps() -> None:
    async with silent_server() as port:
        access = MailAccess(host="127.0.0.1", port=port, tls="none")
        with pytest.raises(Unavailable, match=r"did not answer within 0\.1 s") as caught:
            await deliver(
                access, EmailMessage(), sender="a@x.example", recipients=["b@x"], seconds=0.1
            )

    assert caught.value.nothing_done
