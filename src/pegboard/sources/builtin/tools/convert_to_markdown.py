"""`convert_to_markdown`: reads a document as Markdown, part by part."""

import asyncio
import tempfile
from pathlib import Path, PurePosixPath
from typing import Annotated
from urllib.parse import unquote, urlsplit

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.knowledge import ConvertedDocument
from pegboard.core.ports.http import HttpRequest
from pegboard.core.ports.knowledge.document_converter import DocumentConverter
from pegboard.core.ports.services import Services
from pegboard.errors import HostUnavailable, InvalidRequest, SourceUnavailable
from pegboard.sources.builtin.response_text import find_part_end
from pegboard.sources.builtin.service_access import send_request, services_of
from pegboard.sources.builtin.workspaces import files_of
from pegboard.tools import tool

_MAX_BYTES = 50_000_000
_SECONDS = 60.0
_MAX_GAPS = 50
_NO_CONVERTER = "it needs a sandbox to open documents in, and there is none: use it on a board"
_LATER = frozenset({408, 425, 429, 500, 502, 503, 504})


class DocumentPage(TypedDict):
    """Where a page of a document begins in its text."""

    number: int
    label: str
    offset: int


class MarkdownDocument(TypedDict):
    """A part of a document; `next_offset` is None when it is the last.

    `gaps` says what did not come out of it, `hidden` what a person who opens it would not see.
    """

    source: str
    title: str
    media_type: str
    text: str
    offset: int
    length: int
    next_offset: int | None
    pages: list[DocumentPage]
    gaps: list[str]
    hidden: list[str]


def availability(services: Services) -> str:
    """Return why the tool is unavailable; empty if it is available."""
    return "" if services.converter is not None else _NO_CONVERTER


async def probe(services: Services) -> str:
    """Return why documents cannot be read on this machine; empty if they can."""
    return "" if services.converter is None else await services.converter.why_unavailable()


@tool(
    effect="read",
    category="filesystem",
    trusted=False,
    idempotent=True,
    timeout=300,
    tags=("document", "pdf", "markdown", "convert"),
    capabilities=("read_document",),
)
async def convert_to_markdown(
    source: Annotated[str, Field(min_length=1, max_length=8000)],
    ctx: ToolContext[Services],
    *,
    offset: Annotated[int, Field(ge=0)] = 0,
    max_length: Annotated[int, Field(ge=100, le=200_000)] = 20_000,
) -> MarkdownDocument:
    """Read a document as Markdown: PDF, Word, PowerPoint, Excel, HTML, CSV or text.

    Headings, lists and tables are kept, and `pages` says where each page, slide or sheet begins.
    A long document comes in parts: call again with `offset` set to `next_offset` for the next one.

    Args:
        source: A file of the workspace, such as "reports/may.pdf", or an address with https://.
        ctx: Has the converter, and says which workspace.
        offset: At which character of the text to begin.
        max_length: How many characters to return at most.
    """
    services = services_of(ctx)
    converter = services.converter
    if converter is None:
        raise SourceUnavailable(
            f"This tool is unavailable: {_NO_CONVERTER}.", nothing_done=True, permanent=True
        )
    if source.lower().startswith(("http://", "https://")):
        data, name, media_type = await _fetch(source, ctx)
    else:
        data = await asyncio.to_thread(lambda: files_of(ctx).read(source, max_bytes=_MAX_BYTES))
        name, media_type = PurePosixPath(source).name, ""
    document = await _convert(
        converter, data, name=name, media_type=media_type, working=services.working
    )
    return _part(source, document, offset=offset, max_length=max_length)


async def _fetch(url: str, ctx: ToolContext[Services]) -> tuple[bytes, str, str]:
    """The content at an address, the name of its file, and its type as the host says it."""
    response = await send_request(
        ctx, HttpRequest(method="GET", url=url, timeout=_SECONDS, max_bytes=_MAX_BYTES)
    )
    parts = urlsplit(response.url)
    if response.status in _LATER:
        wait = response.retry_after(services_of(ctx).clock.time())
        raise HostUnavailable(f"{parts.netloc} answered {response.status}.", retry_after=wait)
    if response.status >= 300:
        raise InvalidRequest(f"{parts.netloc} answered {response.status}.")
    if response.truncated:
        raise InvalidRequest(f"The document has more than {_MAX_BYTES // 1_000_000} MB.")
    return response.content, PurePosixPath(unquote(parts.path)).name, response.media_type


async def _convert(
    converter: DocumentConverter,
    data: bytes,
    *,
    name: str,
    media_type: str,
    working: Path | None,
) -> ConvertedDocument:
    folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="document-", dir=working)
    try:
        file = Path(folder.name) / "document"
        await asyncio.to_thread(lambda: file.write_bytes(data))
        return await converter.convert(file, name=name, media_type=media_type)
    finally:
        await asyncio.to_thread(folder.cleanup)


def _part(
    source: str, document: ConvertedDocument, *, offset: int, max_length: int
) -> MarkdownDocument:
    text = document.text
    if offset > len(text):
        raise InvalidRequest(f"The text has {len(text)} characters; {offset} is beyond its end.")
    end = find_part_end(text, offset, max_length)
    return MarkdownDocument(
        source=source,
        title=document.title,
        media_type=document.media_type,
        text=text[offset:end],
        offset=offset,
        length=len(text),
        next_offset=end if end < len(text) else None,
        pages=[
            DocumentPage(number=page.number, label=page.label, offset=page.start)
            for page in document.pages
            if page.end >= offset and page.start <= end
        ],
        gaps=[
            f"Page {gap.page}: {gap.reason}" if gap.page else gap.reason
            for gap in document.receipt.gaps[:_MAX_GAPS]
        ],
        hidden=[
            f"Characters {item.start} to {item.end}: {item.reason}"
            for item in document.findings
            if item.kind == "hidden" and item.start < end and item.end > offset
        ][:_MAX_GAPS],
    )
