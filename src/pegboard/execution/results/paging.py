"""Reading a stored result page by page."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.core.ports.call_stores import ResultStore, StoredResult
from pegboard.core.principal import Principal
from pegboard.core.result import RESULT_URI, Part, ResourcePart, TextPart
from pegboard.errors import HandleNotFound
from pegboard.execution.results.handles import load_result, page_bytes_of
from pegboard.execution.results.json_layout import JsonLayout, read_layout

JSON = "application/json"


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
    handle, stored, text = await _load(handle, results, principal)
    cut = page_bytes_of(handle)
    layout = read_layout(text) if stored.media_type == JSON else None
    starts = page_starts(text, size if cut is None else cut, layout)
    pages = len(starts)
    if not 1 <= page <= pages:
        raise HandleNotFound(f"{handle} has {pages} pages; there is no page {page}.")
    return ResultPage(
        handle=handle,
        page=page,
        pages=pages,
        media_type=stored.media_type,
        total_bytes=len(stored.body),
        text=text[starts[page - 1] : starts[page] if page < pages else len(text)],
    )


async def read_whole(handle: str, results: ResultStore, principal: Principal) -> ResultPage:
    """Read a stored result as one page; the arguments are those of `read_page`.

    Raises:
        HandleNotFound: Unknown, expired, or owned by another caller.
    """
    handle, stored, text = await _load(handle, results, principal)
    return ResultPage(
        handle=handle,
        page=1,
        pages=1,
        media_type=stored.media_type,
        total_bytes=len(stored.body),
        text=text,
    )


async def _load(
    handle: str, results: ResultStore, principal: Principal
) -> tuple[str, StoredResult, str]:
    """The whole handle, what is stored under it, and its text."""
    if not handle.startswith(RESULT_URI):
        handle = RESULT_URI + handle
    stored = await load_result(handle, results, principal.owner)
    return handle, stored, _text_of(stored.body)


def _text_of(body: bytes) -> str:
    try:
        return body.decode("utf-8", "surrogatepass")  # as it was when page 1 was cut
    except UnicodeDecodeError:
        return body.decode("utf-8", "replace")


def page_starts(text: str, budget: int, layout: JsonLayout | None) -> Sequence[int]:
    """Where the pages of a text begin, in characters.

    Args:
        text: The whole result.
        budget: Bytes of a page; 0 for one page.
        layout: The items of a JSON text: a page ends between two of them unless one item is
            longer than a page.
    """
    longest = page_length(text, budget)
    if layout is None:
        return range(0, max(1, len(text)), longest)
    starts = [0]
    while len(text) - starts[-1] > longest:
        end = starts[-1] + longest
        last = bisect_right(layout.cuts, end) - 1
        fits = last >= 0 and layout.cuts[last] > starts[-1]
        starts.append(layout.cuts[last] if fits else end)
    return starts


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
