"""Pages of a stored result: together they are the whole, and only their owner reads them."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.execution.made import ADA, BOB

from pegboard.core.ports.call_stores import StoredResult
from pegboard.core.principal import Principal
from pegboard.core.result import RESULT_URI
from pegboard.core.stores.memory_results import MemoryResults
from pegboard.errors import HandleNotFound
from pegboard.execution.results.handles import new_handle
from pegboard.execution.results.paging import ResultPage, page_length, read_page, read_whole

HANDLE = f"{RESULT_URI}abc"


async def kept(body: bytes, handle: str = HANDLE) -> MemoryResults:
    results = MemoryResults()
    await results.put(
        StoredResult(
            handle=handle,
            owner="acme/ada",
            media_type="text/plain",
            body=body,
            created_at=0,
            expires_at=9e9,
        )
    )
    return results


async def read(results: MemoryResults, handle: str = HANDLE, **options: Any) -> ResultPage:
    chosen: dict[str, Any] = {"principal": ADA, "page": 1, "size": 4} | options
    return await read_page(
        handle, results, chosen["principal"], page=chosen["page"], size=chosen["size"]
    )


async def test_a_page_says_where_it_stands() -> None:
    results = await kept(b"abcdefghij")

    page = await read(results, page=3)

    assert page.to_dict() == {
        "handle": HANDLE,
        "page": 3,
        "pages": 3,
        "media_type": "text/plain",
        "total_bytes": 10,
        "text": "ij",
    }


async def test_the_last_part_of_a_handle_is_enough() -> None:
    assert (await read(await kept(b"abc"), "abc")).handle == HANDLE


async def test_the_handle_says_how_long_a_page_is() -> None:
    handle = new_handle(page_bytes=3)

    page = await read(await kept(b"abcdefgh", handle), handle, page=2, size=100)

    assert (page.text, page.pages) == ("def", 3)


@pytest.mark.parametrize("page", [-1, 0, 4])
async def test_a_page_that_is_not_there_is_refused(page: int) -> None:
    with pytest.raises(HandleNotFound, match=f"has 3 pages; there is no page {page}"):
        await read(await kept(b"abcdefghij"), page=page)


@pytest.mark.parametrize(
    "principal", [BOB, Principal(id="ada"), Principal(id="ada", tenant="other")], ids=str
)
async def test_only_the_owner_reads_it(principal: Principal) -> None:
    with pytest.raises(HandleNotFound, match="no stored result"):
        await read(await kept(b"abc"), principal=principal)


async def test_an_empty_result_has_one_empty_page() -> None:
    page = await read(await kept(b""))

    assert (page.text, page.pages) == ("", 1)


async def test_without_a_budget_there_is_one_page() -> None:
    assert (await read(await kept(b"x" * 1000), size=0)).text == "x" * 1000


async def test_bytes_that_are_no_text_are_shown_as_far_as_possible() -> None:
    assert (await read(await kept(b"a\xffb"), size=0)).text == "a\ufffdb"


@given(st.text(st.characters(), max_size=80), st.integers(1, 40))
def test_all_pages_together_are_the_whole(text: str, size: int) -> None:
    async def whole() -> str:
        results = await kept(text.encode("utf-8", "surrogatepass"))
        first = await read(results, size=size)
        pages = [await read(results, page=n, size=size) for n in range(1, first.pages + 1)]
        return "".join(page.text for page in pages)

    assert asyncio.run(whole()) == text


@given(st.text(max_size=80), st.integers(4, 60))
def test_a_page_fits_into_its_budget(text: str, size: int) -> None:
    length = page_length(text, size)

    assert length >= 1
    assert all(
        len(text[start : start + length].encode("utf-8", "surrogatepass")) <= size
        for start in range(0, len(text), length)
    )


async def test_a_whole_result_is_one_page_for_its_owner_alone() -> None:
    results = await kept(b"abcdefghij")

    whole = await read_whole("abc", results, ADA)

    assert (whole.handle, whole.pages, whole.text) == (HANDLE, 1, "abcdefghij")
    with pytest.raises(HandleNotFound):
        await read_whole("abc", results, BOB)
