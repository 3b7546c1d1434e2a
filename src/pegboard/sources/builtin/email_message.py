"""Puts an e-mail together, and refuses what could change its headers."""

import base64
import binascii
import json
import mimetypes
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from typing import Any

from pegboard.errors import InvalidRequest

MAX_ATTACHED = 10_000_000
"""Bytes of all attachments; many servers refuse more than twice this, encoded."""

_PLAIN = r"""[^\s@<>()\[\]\\,;:"]{1,64}@[^\s@<>()\[\]\\,;:"]{1,255}"""
_NAME = r"""(?:"[^"\\]*" *|[^"<>@,;:\\]*)"""
_ADDRESS = re.compile(rf"(?P<plain>{_PLAIN})|(?P<name>{_NAME})<(?P<inner>{_PLAIN})>")
_TEXTS = frozenset({"application/json", "application/xml", "image/svg+xml", ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """A file that goes with an e-mail."""

    name: str
    data: bytes


def parse_address(text: str) -> Address:
    """Return the address that a text is, with its display name.

    Raises:
        InvalidRequest: It is none, or has control characters, which could begin another header.
    """
    found = _ADDRESS.fullmatch(text.strip(" ")) if text.isprintable() else None
    plain = (found["inner"] or found["plain"]) if found is not None else ""
    if found is not None and plain.isascii():  # few servers take others
        with suppress(ValueError, IndexError):
            return Address(display_name=(found["name"] or "").strip(' "'), addr_spec=plain)
    shown = text[:100] if text.isprintable() else ascii(text[:100])
    raise InvalidRequest(
        f"'{shown}' is not an e-mail address of ASCII characters; write ada@example.com."
    )


def create_message(
    *,
    sender: Address,
    to: Sequence[Address],
    cc: Sequence[Address],
    subject: str,
    text: str,
    html: str,
    files: Sequence[AttachedFile],
    at: float,
) -> EmailMessage:
    """Return the message; `at` is its date in Unix seconds.

    Raises:
        InvalidRequest: The subject or the name of a file has control characters.
    """
    if not subject.isprintable():
        raise InvalidRequest("'subject' is one line of text without control characters.")
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = tuple(to)
    if cc:
        message["Cc"] = tuple(cc)
    message["Subject"] = subject
    message["Date"] = format_datetime(datetime.fromtimestamp(at, UTC))
    message["Message-ID"] = make_msgid(domain=sender.domain)
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html")
    for file in files:
        maintype, _, subtype = _media_type(file.name).partition("/")
        message.add_attachment(
            file.data,
            maintype=maintype if subtype else "application",
            subtype=subtype or "octet-stream",
            filename=file.name,
        )
    return message


def check_file_name(name: str) -> str:
    """Return the name of an attachment.

    Raises:
        InvalidRequest: It is no plain file name.
    """
    if not name.isprintable() or not name.strip(". ") or "/" in name or "\\" in name:
        raise InvalidRequest("The name of an attachment is a file name, such as report.pdf.")
    return name


def bytes_of(name: str, content: Any) -> bytes:
    """Return the bytes of an attachment that was given as a value.

    Text stays text where the name is that of a text file; for any other file it is base64, as the
    handle of a stored file stands for. Other values are written as JSON.

    Raises:
        InvalidRequest: It is not base64, and the file is no text.
    """
    if not isinstance(content, str):
        return json.dumps(content, ensure_ascii=False, indent=1).encode()
    media_type = _media_type(name)
    if media_type in _TEXTS or media_type.startswith("text/"):
        return content.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(
            f"The content of '{name}' is neither base64 nor the handle of a stored file."
        ) from error


def check_total(files: Sequence[AttachedFile]) -> None:
    """Check the size of all attachments together.

    Raises:
        InvalidRequest: They are too large.
    """
    total = sum(len(file.data) for file in files)
    if total > MAX_ATTACHED:
        raise InvalidRequest(f"The attachments have {total} bytes; at most {MAX_ATTACHED} go.")


def describe_refused(refused: Mapping[str, tuple[int, bytes]]) -> str:
    """Return which recipients a server refuses, and why."""
    return "; ".join(f"{address} ({code})" for address, (code, _) in refused.items())


def _media_type(name: str) -> str:
    return mimetypes.guess_type(name)[0] or ""
