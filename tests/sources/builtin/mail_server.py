"""A real SMTP server on loopback that keeps what it is sent."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any, cast

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from tests.network.loopback import CERTIFICATE, KEY

HOST = "pinned.test"
"""The name in its certificate; tests let it resolve to loopback."""

Answer = Callable[[str, Envelope], str | None]


@dataclass
class MailServer:
    """What a server got; `answer` is asked at `MAIL`, each `RCPT`, `DATA` and `QUIT`."""

    port: int = 0
    answer: Answer = lambda _step, _envelope: None
    envelopes: list[Envelope] = field(default_factory=list)
    users: list[tuple[bytes, bytes]] = field(default_factory=list)
    connections: int = 0

    def message(self) -> EmailMessage:
        """The only message; a method, because the library reads all attributes."""
        [envelope] = self.envelopes
        content = cast("bytes", envelope.original_content)
        return message_from_bytes(content, policy=default)

    async def handle_MAIL(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        refused = self.answer(f"MAIL {address}", envelope)
        if refused is None:
            envelope.mail_from = address
        return refused or "250 OK"

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        refused = self.answer(f"RCPT {address}", envelope)
        if refused is None:
            envelope.rcpt_tos.append(address)
        return refused or "250 OK"

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:
        refused = self.answer("DATA", envelope)
        if refused == "break":
            cast("Any", server).transport.abort()
        if refused is None:
            self.envelopes.append(envelope)
        return refused or "250 OK"

    async def handle_QUIT(self, server: SMTP, _session: Session, envelope: Envelope) -> str:
        refused = self.answer("QUIT", envelope)
        if refused == "break":
            cast("Any", server).transport.abort()
        return refused or "221 Bye"

    def authenticate(
        self, _server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any
    ) -> AuthResult:
        self.users.append((data.login, data.password))
        return AuthResult(success=data.password == b"p@ss word", handled=False)


@asynccontextmanager
async def mail_server(
    *, tls: str = "none", answer: Answer = lambda _step, _envelope: None
) -> AsyncGenerator[MailServer]:
    """A server without TLS, with `starttls`, or with TLS from the first byte (`implicit`)."""
    mail = MailServer(answer=answer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE, KEY)

    def serve() -> SMTP:
        mail.connections += 1
        return SMTP(
            mail,
            hostname=HOST,
            enable_SMTPUTF8=False,
            tls_context=context if tls == "starttls" else None,
            authenticator=mail.authenticate,
            auth_require_tls=tls == "starttls",
        )

    implicit = context if tls == "implicit" else None
    loop = asyncio.get_running_loop()
    server = await loop.create_server(serve, "127.0.0.1", 0, ssl=implicit)
    mail.port = server.sockets[0].getsockname()[1]
    try:
        yield mail
    finally:
        server.close()
        await asyncio.sleep(0.01)
