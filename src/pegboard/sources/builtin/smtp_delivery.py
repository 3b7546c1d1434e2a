"""Delivers a message to the operator's mail server, off the event loop."""

import asyncio
import smtplib
import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from email.message import EmailMessage
from typing import Any

from pegboard.core.ports.source_services.providers import MailAccess
from pegboard.errors import InvalidRequest, SourceUnavailable, Unavailable
from pegboard.sources.builtin.email_message import describe_refused

_STEP_SECONDS = 20.0
_GOODBYE_SECONDS = 2.0
_SETTING = "PEGBOARD_SMTP_URL"
_UNKNOWN = " Whether the message was sent is unknown: check before you repeat it."

Refused = Mapping[str, tuple[int, bytes]]


async def deliver(
    access: MailAccess,
    message: EmailMessage,
    *,
    sender: str,
    recipients: Sequence[str],
    seconds: float,
) -> Refused:
    """Deliver a message and return the recipients that the server refuses; not all of them.

    The connection is shut down at the deadline and on cancellation, so that its thread ends.

    Args:
        access: The mail server.
        message: The message.
        sender: The plain address that undeliverable mail returns to.
        recipients: Plain addresses.
        seconds: For everything.

    Raises:
        InvalidRequest: The server refuses the message or all recipients.
        SourceUnavailable: A setting is wrong; names it.
        Unavailable: The server cannot be reached, or cannot take the message now.
    """
    delivery = _Delivery(access, message, sender=sender, recipients=recipients, seconds=seconds)
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.to_thread(delivery.run)
    except TimeoutError as error:
        raise delivery.unavailable(f"did not answer within {seconds:g} s") from error
    finally:
        delivery.cut()


class _Delivery:
    """One conversation with a server; `run` blocks, `cut` ends it from another thread."""

    def __init__(
        self,
        access: MailAccess,
        message: EmailMessage,
        *,
        sender: str,
        recipients: Sequence[str],
        seconds: float,
    ) -> None:
        self._access = access
        self._message = message
        self._sender = sender
        self._recipients = list(recipients)
        self._seconds = seconds
        self._smtp: smtplib.SMTP | None = None
        self._is_cut = False
        self._has_sent = False

    def run(self) -> Refused:
        """Deliver; see `deliver`."""
        try:
            smtp = self._connect()
            try:
                self._log_in(smtp)
                refused = self._send(smtp)
                self._leave(smtp)
            finally:
                smtp.close()
            return refused
        except ssl.SSLCertVerificationError as error:
            raise self._wrong(
                f"its certificate is not valid ({error.verify_message.rstrip('.')})"
            ) from error
        except ssl.SSLError as error:
            raise self._wrong("no secure connection can be made") from error
        except smtplib.SMTPNotSupportedError as error:
            raise self._wrong("it offers no STARTTLS, or no login over it") from error
        except smtplib.SMTPAuthenticationError as error:
            raise self._wrong("it refuses the user or the password") from error
        except smtplib.SMTPResponseException as error:
            raise self.unavailable(f"answered {error.smtp_code}") from error
        except (OSError, smtplib.SMTPException) as error:
            raise self.unavailable("cannot be reached, or broke off") from error

    def cut(self) -> None:
        """Shut the connection down; what waits for the server fails at once."""
        self._is_cut = True
        sock: socket.socket | None = getattr(self._smtp, "sock", None)
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def unavailable(self, problem: str) -> Unavailable:
        """Return the error for a server that does not take the message now."""
        return Unavailable(
            f"The mail server {problem}.{_UNKNOWN if self._has_sent else ''}",
            nothing_done=not self._has_sent,
            permanent=self._has_sent,
        )

    def _connect(self) -> smtplib.SMTP:
        access = self._access
        if self._is_cut:
            raise smtplib.SMTPServerDisconnected("the call is over")
        # without a name of its own the library asks DNS for one
        options: dict[str, Any] = {
            "timeout": min(_STEP_SECONDS, self._seconds),
            "local_hostname": self._sender.rpartition("@")[2],
        }
        if access.tls == "implicit":
            options["context"] = ssl.create_default_context()
            smtp = smtplib.SMTP_SSL(access.host, access.port, **options)
        else:
            smtp = smtplib.SMTP(access.host, access.port, **options)
        self._smtp = smtp
        if self._is_cut:
            smtp.close()
            raise smtplib.SMTPServerDisconnected("the call is over")
        return smtp

    def _log_in(self, smtp: smtplib.SMTP) -> None:
        if self._access.tls == "starttls":
            smtp.starttls(context=ssl.create_default_context())
        if self._access.user:
            smtp.login(self._access.user, self._access.password)

    def _send(self, smtp: smtplib.SMTP) -> Refused:
        self._has_sent = True
        try:
            return smtp.send_message(self._message, self._sender, self._recipients)
        except smtplib.SMTPRecipientsRefused as error:
            self._has_sent = False
            raise _refusal(error.recipients) from error
        except smtplib.SMTPSenderRefused as error:
            self._has_sent = False
            if error.smtp_code < 500:
                raise
            raise self._wrong(f"it refuses the sender ({error.smtp_code})") from error
        except smtplib.SMTPDataError as error:
            self._has_sent = False
            if error.smtp_code < 500:
                raise
            raise InvalidRequest(
                f"The mail server refuses the message ({error.smtp_code})."
            ) from error

    def _leave(self, smtp: smtplib.SMTP) -> None:
        """Say goodbye; the message is delivered, whatever the server makes of it."""
        with suppress(OSError, smtplib.SMTPException):
            if smtp.sock is not None:
                smtp.sock.settimeout(_GOODBYE_SECONDS)
            smtp.quit()

    def _wrong(self, problem: str) -> SourceUnavailable:
        return SourceUnavailable(
            f"The mail server cannot be used: {problem}. The operator must check {_SETTING} "
            "and PEGBOARD_EMAIL_FROM.",
            nothing_done=True,
            permanent=True,
        )


def _refusal(refused: Refused) -> InvalidRequest | Unavailable:
    said = f"The mail server refuses all recipients: {describe_refused(refused)}."
    if all(code < 500 for code, _ in refused.values()):
        return Unavailable(said, nothing_done=True)
    return InvalidRequest(said)
