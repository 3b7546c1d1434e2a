"""Reading a stored result page by page."""

from dataclasses import dataclass
from typing import Any

from pegboard.core.ports.call_stores import ResultStore
from pegboard.core.principal import Principal
from pegboard.core.result import Part, ResourcePart, TextPart
from pegboard.errors import HandleNotFound
from pegboard.execution.results.handles import PREFIX, load_result, page_bytes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultPage:
    """One page of a stored result.

    Attributes:
        page: From 1.
        text: The page's characters; the result is read as text.
    """

    handle: str
    page: int
    pages: int
    media_type: str
    total_bytes: int
    text: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data."""
        return {
            "handle": self.handle,
            "page": self.page,
            "pages": self.pages,
            "media_type": self.media_type,
            "total_bytes": self.total_bytes,
            "text": self.text,
        }


async def read_page(
    handle: str, results: ResultStore, principal: Principal, *, page: int, size: int
) -> ResultPage:
    """Read one page of a stored result.

    Args:
        handle: The whole handle, or its last part.
        results: The store.
        principal: The caller, who must be its owner.
        page: From 1.
        size: Bytes of a page where the handle does not say.

    Raises:
        HandleNotFound: Unknown, expired, owned by another caller, or no such page.
    """
    if not handle.startswith(PREFIX):
        handle = PREFIX + handle
    stored = await load_result(handle, results, principal.owner)
    text = _text_of(stored.body)
    cut = page_bytes_of(handle)
    longest = page_length(text, size if cut is None else cut)
    pages = max(1, -(-len(text) // longest))
    if not 1 <= page <= pages:
        raise HandleNotFound(f"{handle} has {pages} pages; there is no page {page}.")
    return ResultPage(
        handle=handle,
        page=page,
        pages=pages,
        media_type=stored.media_type,
        total_bytes=len(stored.body),
        text=text[(page - 1) * longest : page * longest],
    )


def _text_of(body: bytes) -> str:
    try:
        return body.decode("utf-8", "surrogatepass")  # as it was when page 1 was cut
    except UnicodeDecodeError:
        return body.decode("utf-8", "replace")


def page_length(text: str, budget: int) -> int:
    """The number of characters of this text that fit into the budget as UTF-8."""
    if not budget:
        return max(1, len(text))
    return max(1, budget if text.isascii() else budget // 4)


def size_of(content: str | tuple[Part, ...]) -> int:
    """Bytes of the text; images and audio are not paged."""
    texts = (content,) if isinstance(content, str) else map(words_of, content)
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def words_of(part: Part) -> str:
    """The text of a part; empty when it has none."""
    return (part.text or "") if isinstance(part, (TextPart, ResourcePart)) else ""
