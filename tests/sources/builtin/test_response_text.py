import pytest

from pegboard.core.ports.http import HttpResponse
from pegboard.sources.builtin.response_text import json_of, text_of


def response(content: bytes, content_type: str = "", *, truncated: bool = False) -> HttpResponse:
    return HttpResponse(
        status=200,
        url="http://a.example/",
        headers={"content-type": content_type},
        content=content,
        truncated=truncated,
    )


@pytest.mark.parametrize(
    ("content", "content_type", "text"),
    [
        (b"\xef\xbb\xbfa", "text/plain", "a"),
        (b"\xfc", 'text/plain; charset="ISO-8859-1"', "\u00fc"),
        (b"\xff", "text/plain", "\ufffd"),
        (b"x", "text/plain; charset=nonsense", "x"),
        (b"x", "text/plain; charset=base64_codec", "x"),
        (b"x", "text/plain; charset=idna", "x"),
        (b"<meta charset=latin-1>\xfc", "text/html", "<meta charset=latin-1>\u00fc"),
        (b"{}", "application/vnd.api+json", "{}"),
        (b"<a/>", "image/svg+xml", "<a/>"),
        (b"a: 1", "application/yaml", "a: 1"),
        (b"plain", "", "plain"),
        (b"a\0b", "", None),
        (b"%PDF", "application/pdf", None),
        (b"\x89PNG", "image/png", None),
        (b"x", "application/octet-stream", None),
    ],
)
def test_a_body_is_text_when_its_type_says_so(content, content_type, text) -> None:
    assert text_of(response(content, content_type)) == text


@pytest.mark.parametrize(
    ("content_type", "text", "expected"),
    [
        ("application/json", '{"a": 1}', (True, {"a": 1})),
        ("application/problem+json", "null", (True, None)),
        ("text/plain", '{"a": 1}', (False, None)),
        ("application/json", "{", (False, None)),
        ("application/json", "[" * 100_000, (False, None)),
    ],
)
def test_json_is_read_when_the_type_says_so_and_it_is(content_type, text, expected) -> None:
    assert json_of(response(text.encode(), content_type), text) == expected


def test_json_that_was_cut_is_no_json() -> None:
    assert json_of(response(b"1", "application/json", truncated=True), "1") == (False, None)
