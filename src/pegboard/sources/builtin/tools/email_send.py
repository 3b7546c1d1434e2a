"""`email_send`: sends an e-mail through the operator's mail server."""

import asyncio
from collections.abc import Sequence
from email.headerregistry import Address
from fnmatch import fnmatchcase
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.ports.source_services.providers import MailAccess
from pegboard.core.tool import Limits
from pegboard.errors import InvalidRequest, SourceUnavailable
from pegboard.sources.builtin.email_message import (
    MAX_ATTACHED,
    AttachedFile,
    bytes_of,
    check_file_name,
    check_total,
    create_message,
    parse_address,
)
from pegboard.sources.builtin.service_access import services_of
from pegboard.sources.builtin.smtp_delivery import deliver
from pegboard.sources.builtin.workspaces import files_of
from pegboard.tools import tool

_SECONDS = 55.0
_SPARE_SECONDS = 1.0
_MAX_RECIPIENTS = 50
Addresses = Annotated[
    list[Annotated[str, Field(max_length=320)]], Field(max_length=_MAX_RECIPIENTS)
]


class Attachment(TypedDict):
    """A file of the workspace by its `path`, or any other by `name` and `content`."""

    path: NotRequired[Annotated[str, Field(max_length=1024, description="In the workspace.")]]
    name: NotRequired[Annotated[str, Field(max_length=200, description="Such as chart.png.")]]
    content: NotRequired[
        Annotated[Any, Field(description="Text, base64, or the handle of a stored file.")]
    ]


class EmailReceipt(TypedDict):
    """The server took the message, for all recipients but those it refused."""

    message_id: str
    recipients: list[str]
    refused: list[str]


def availability(services: Services) -> str:
    """Return why the tool is unavailable: it needs a mail server and a sender."""
    access = services.providers.mail
    if not access.host:
        return "it needs a mail server: set PEGBOARD_SMTP_URL, as smtps://user:password@example.com"
    try:
        parse_address(access.sender)
    except InvalidRequest:
        return "it needs a sender: set PEGBOARD_EMAIL_FROM, as Shop <shop@example.com>"
    return ""


@tool(
    effect="write",
    destructive=False,
    category="general",
    timeout=60,
    limits=Limits(concurrency=4),
    tags=("email", "mail", "message"),
)
async def email_send(
    to: Annotated[Addresses, Field(min_length=1)],
    subject: Annotated[str, Field(min_length=1, max_length=500)],
    text: Annotated[str, Field(max_length=1_000_000)],
    ctx: ToolContext[Services],
    *,
    cc: Addresses | None = None,
    html: Annotated[str, Field(max_length=1_000_000)] = "",
    attachments: Annotated[list[Attachment], Field(max_length=20)] | None = None,
) -> EmailReceipt:
    """Send an e-mail, with files if needed. It comes from the address of this board.

    Args:
        to: The recipients, such as ["ada@example.com"] or ["Ada <ada@example.com>"].
        subject: One line.
        text: The message as plain text.
        ctx: Knows the mail server and the workspace.
        cc: Further recipients.
        html: The message as HTML too, for programs that show it.
        attachments: Such as [{"path": "report.pdf"}], or [{"name": "chart.png", "content":
            "pegboard://results/..."}] with the handle of a stored file.
    """
    services = services_of(ctx)
    if reason := availability(services):
        raise SourceUnavailable(
            f"'email_send' is unavailable: {reason}.", nothing_done=True, permanent=True
        )
    access = services.providers.mail
    first, others = [*map(parse_address, to)], [*map(parse_address, cc or [])]
    recipients = _recipients([*first, *others], access)
    sender = parse_address(access.sender)
    message = create_message(
        sender=sender,
        to=first,
        cc=others,
        subject=subject,
        text=text,
        html=html,
        files=await asyncio.to_thread(_files, attachments or [], ctx),
        at=services.clock.time(),
    )
    remaining = ctx.remaining()
    seconds = _SECONDS if remaining is None else min(_SECONDS, remaining - _SPARE_SECONDS)
    refused = await deliver(
        access,
        message,
        sender=sender.addr_spec,
        recipients=recipients,
        seconds=max(seconds, 0.1),
    )
    return EmailReceipt(
        message_id=str(message["Message-ID"]),
        recipients=[address for address in recipients if address not in refused],
        refused=sorted(refused),
    )


def _recipients(addresses: Sequence[Address], access: MailAccess) -> list[str]:
    """Return the plain addresses, each once.

    Raises:
        InvalidRequest: The operator does not allow one of them.
    """
    plain = list(dict.fromkeys(address.addr_spec for address in addresses))
    globs = [glob.lower() for glob in access.recipients]
    for address in plain:
        if globs and not any(fnmatchcase(address.lower(), glob) for glob in globs):
            raise InvalidRequest(
                f"The operator allows no e-mail to '{address}', only to "
                f"{', '.join(access.recipients)}."
            )
    return plain


def _files(attachments: Sequence[Attachment], ctx: ToolContext[Services]) -> list[AttachedFile]:
    files: list[AttachedFile] = []
    for item in attachments:
        files.append(_file(item, ctx))
        check_total(files)
    return files


def _file(item: Attachment, ctx: ToolContext[Services]) -> AttachedFile:
    path, content = item.get("path"), item.get("content")
    if (path is None) == (content is None):
        raise InvalidRequest("An attachment has either a 'path', or a 'name' and its 'content'.")
    if path is not None:
        name = check_file_name(item.get("name") or path.rpartition("/")[2])
        return AttachedFile(name=name, data=files_of(ctx).read(path, max_bytes=MAX_ATTACHED))
    name = check_file_name(item.get("name", ""))
    return AttachedFile(name=name, data=bytes_of(name, content))
