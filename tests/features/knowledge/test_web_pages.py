"""Pages of the web that become documents: which links are followed, and what they are called."""

import pytest

from pegboard.core.ports.http import HttpResponse
from pegboard.features.knowledge.web_pages import find_links, is_below, name_page

ROOT = "https://docs.example/guide/index.html"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://docs.example/guide/returns.html", True),
        ("https://docs.example/guide/a/b", True),
        ("https://docs.example/other", False),
        ("https://docs.example/guide/../secret", False),
        ("http://docs.example/guide/a", False),
        ("https://docs.example.evil/guide/a", False),
        ("https://user@docs.example/guide/a", False),
        ("javascript:alert(1)", False),
        ("https://[broken/guide/a", False),
    ],
)
def test_only_pages_below_the_first_one_are_followed(url: str, expected: bool) -> None:
    assert is_below(url, ROOT) is expected


def test_each_link_is_found_once_without_its_fragment() -> None:
    page = HttpResponse(
        status=200,
        url=ROOT,
        headers={"content-type": "text/html; charset=utf-8"},
        content=b"<a href='a.html#top'>A</a><a href=a.html>A</a><a href='https://x.example/'>x</a>"
        b"<a href='//docs.example/guide/b'>B</a><a href='mailto:a@b'>m</a><a>none</a>",
    )

    links = find_links(page, below=ROOT)

    assert links == ["https://docs.example/guide/a.html", "https://docs.example/guide/b"]


def test_a_base_element_moves_links() -> None:
    body = b"<base href='/guide/deep/'><a href='c'>C</a>"
    page = HttpResponse(status=200, url=ROOT, headers={"content-type": "text/html"}, content=body)

    assert find_links(page, below=ROOT) == ["https://docs.example/guide/deep/c"]


@pytest.mark.parametrize(
    ("url", "name"),
    [("https://a.example/x/returns.html", "returns.html"), ("https://a.example/", "a.example")],
)
def test_a_page_is_named_by_its_path(url: str, name: str) -> None:
    assert name_page(url) == name
