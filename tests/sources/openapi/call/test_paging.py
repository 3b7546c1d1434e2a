"""What an API says about its next page, as arguments, and several pages as one list."""

import json
from typing import Any

import pytest

from pegboard.core.ports.http import HttpResponse
from pegboard.sources.openapi.call.paging import (
    JoinedPages,
    PageSequence,
    describe_next,
    find_links,
    find_next,
)
from pegboard.sources.openapi.document.lenient_access import LocatedNode


def response(body: Any = None, **headers: str) -> HttpResponse:
    return HttpResponse(
        status=200,
        headers={"content-type": "application/json", **headers},
        content=json.dumps(body).encode(),
        url="https://a.test/",
    )


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ('<https://a.test/x?page=2&n=1>; rel="next"', {"page": "2"}),
        ('<https://a.test/?page=1>; rel="prev", </?page=3>; rel=next', {"page": "3"}),
        ('</x?page=2&cur%5B%5D=a>; rel="last next"', {"page": "2", "cursor": "a"}),
        ("</x?other=1>; rel=next", {}),
        ("<https://[bad?page=2>; rel=next", None),
        ('<https://a.test/?page=9>; rel="last"', None),
        ("nonsense", None),
    ],
)
def test_a_link_header_gives_the_arguments_of_the_next_page(
    link: str, expected: dict[str, str] | None
) -> None:
    names = {"page": "page", "cur[]": "cursor"}

    assert find_next(response(link=link), PageSequence(), names, {}) == expected


NAMES = {name: name for name in ("cursor", "pageToken", "continue", "page", "offset")}


@pytest.mark.parametrize(
    ("body", "paging", "given", "expected"),
    [
        ({"items": [1], "nextPageToken": "t"}, PageSequence(), {}, {"pageToken": "t"}),
        ({"response_metadata": {"next_cursor": "c"}}, PageSequence(), {}, {"cursor": "c"}),
        ({"metadata": {"continue": "k"}}, PageSequence(), {}, {"continue": "k"}),
        ({"next_cursor": ""}, PageSequence(), {}, None),
        ({"next_cursor": None}, PageSequence(), {}, None),
        ({"next_cursor": "same"}, PageSequence(), {"cursor": "same"}, None),
        ([1, 2], PageSequence(), {}, None),
        ({"more": {"at": 7}}, PageSequence(next="more.at", argument="cursor"), {}, {"cursor": 7}),
        ({"next": "https://a.test/?page=4&x=1"}, PageSequence(next="next"), {}, {"page": "4"}),
        ({"next": "opaque"}, PageSequence(next="next"), {}, {}),
        ([1], PageSequence(style="page", argument="page"), {}, {"page": 2}),
        ([1], PageSequence(style="page", argument="page"), {"page": 5}, {"page": 6}),
        ([], PageSequence(style="page", argument="page"), {"page": 5}, None),
        (
            {"data": [1], "has_more": False},
            PageSequence(style="page", argument="page", next="has_more"),
            {},
            None,
        ),
        (
            {"data": [1, 2], "tags": []},
            PageSequence(style="offset", argument="offset", items="data"),
            {"offset": 10},
            {"offset": 12},
        ),
        (
            {"meta": {"a/b": "z"}},
            PageSequence(links=({"cursor": "$response.body#/meta/a~1b"},)),
            {},
            {"cursor": "z"},
        ),
        ({}, PageSequence(links=({"cursor": "$response.body#/meta/x"},)), {}, None),
        ({}, PageSequence(links=({"cursor": "$response.header.X-Next"},)), {}, {"cursor": "h"}),
        ({"nextPageToken": "t"}, PageSequence(style="link"), {}, None),
    ],
)
def test_a_body_gives_the_arguments_of_the_next_page(
    body: Any, paging: PageSequence, given: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    assert find_next(response(body, **{"x-next": "h"}), paging, NAMES, given) == expected


def test_only_links_to_the_operation_itself_are_taken() -> None:
    links = {
        "next": {"operationId": "op", "parameters": {"query.cursor": "$response.body#/next"}},
        "one": {"operationId": "get", "parameters": {"id": "$response.body#/id"}},
        "broken": "x",
    }

    assert find_links([LocatedNode(node={"links": links})], "op") == (
        {"cursor": "$response.body#/next"},
    )


@pytest.mark.parametrize(
    ("following", "expected"),
    [
        (None, ""),
        ({}, "[There is more: the API names a next page.]"),
        ({"page": 2, "q": "a"}, "[There is more: call again with page=2, q=a.]"),
    ],
)
def test_the_next_page_is_told_in_words(following: dict[str, Any] | None, expected: str) -> None:
    assert describe_next(following) == expected


def test_pages_are_joined_in_the_place_of_their_list() -> None:
    pages = JoinedPages("data.items")
    added = [pages.add(response({"data": {"items": [n], "n": n}, "total": 2})) for n in (1, 2)]

    assert added == [True, True]
    assert pages.build() == {"data": {"items": [1, 2], "n": 2}, "total": 2}
    assert not pages.add(response({"data": {"items": "none"}}))
