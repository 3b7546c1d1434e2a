"""Puts a whole result in place of its first page, where the API is another Pegboard.

Its `POST /execute` answers a call with a large result with the first page as `output`, and names
the handle of the whole in `metadata`. `GET /results/{handle}?whole=true` gives the whole.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic_core import to_json

from pegboard.core.ports.http import HttpResponse
from pegboard.core.result import RESULT_URI
from pegboard.schemas import strict_json
from pegboard.sources.openapi.document.lenient_access import mapping

_EXECUTE = "/execute"
_HANDLE = re.compile(re.escape(RESULT_URI) + r"([0-9a-f]{8,64}(?:-p\d{1,15})?)")
_MARK = RESULT_URI.encode()
_OF_A_PAGE = frozenset({"truncated", "handle", "total_bytes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPage:
    """The first page of a result that another board has stored.

    Attributes:
        answer: What the board has answered.
        path: Where it gives the whole result, below the base URL.
    """

    answer: Mapping[str, Any]
    path: str


def find_stored_page(response: HttpResponse, *, method: str, path: str) -> StoredPage | None:
    """The page, if the response is one.

    Args:
        response: A response without an error status.
        method: The method of the request, in lower case.
        path: The path of the operation.
    """
    if method != "post" or not path.endswith(_EXECUTE) or _MARK not in response.content:
        return None
    try:
        answer = mapping(strict_json.decode(response.content))
    except ValueError:
        return None
    metadata = mapping(answer.get("metadata"))
    handle = metadata.get("handle")
    found = _HANDLE.fullmatch(handle) if isinstance(handle, str) else None
    is_page = metadata.get("truncated") is True and isinstance(answer.get("output"), str)
    if found is None or not is_page:
        return None
    whole = f"{path.removesuffix(_EXECUTE)}/results/{found[1]}?whole=true"
    return StoredPage(answer=answer, path=whole)


def complete(page: StoredPage, paged: HttpResponse, whole: HttpResponse) -> HttpResponse:
    """The response with the whole result; as it was, if the whole cannot be read.

    Args:
        page: The page.
        paged: The response with the page.
        whole: What the other board has stored.
    """
    try:
        stored = strict_json.decode(whole.content)
        text: str = stored["text"]
        is_json = stored["media_type"] == "application/json"
        output = strict_json.decode(text) if is_json else text
    except (ValueError, KeyError, TypeError):  # among others, where it was cut
        return paged
    metadata = {
        key: value for key, value in page.answer["metadata"].items() if key not in _OF_A_PAGE
    }
    answer = {**page.answer, "output": output, "metadata": {**metadata, "truncated": False}}
    return replace(paged, content=to_json(answer))
