from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.text_operations import CASES, ENCODINGS, HASHES
from pegboard.sources.builtin.tools.text_utils import Style, text_utils

WORK: list[tuple[dict[str, Any], Any]] = [
    (
        {"operation": "count", "text": "One two.\nThree!\n\nFour ü"},
        {
            "characters": 23,
            "characters_without_spaces": 18,
            "words": 5,
            "lines": 4,
            "sentences": 2,
            "paragraphs": 2,
            "bytes": 24,
        },
    ),
    ({"operation": "case", "text": "ab Cd", "style": "upper"}, "AB CD"),
    ({"operation": "case", "text": "AB", "style": "lower"}, "ab"),
    ({"operation": "case", "text": "it's a dog's life", "style": "title"}, "It's A Dog's Life"),
    ({"operation": "case", "text": "HELLO World", "style": "sentence"}, "Hello world"),
    ({"operation": "case", "text": "parseHTTPResponse 2go", "style": "snake"},
     "parse_http_response_2_go"),
    ({"operation": "case", "text": "some-text here", "style": "camel"}, "someTextHere"),
    ({"operation": "case", "text": "some_text", "style": "pascal"}, "SomeText"),
    ({"operation": "case", "text": "Some Text", "style": "kebab"}, "some-text"),
    ({"operation": "case", "text": "someText", "style": "constant"}, "SOME_TEXT"),
    ({"operation": "slug", "text": "  Ünï & Größe: 100%! "}, "uni-grosse-100"),
    (
        {"operation": "diff", "text": "a\nb\nc", "other": "a\nx\nc\nd"},
        {
            "equal": False,
            "added": 2,
            "removed": 1,
            "diff": "--- text\n+++ other\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n c\n+d",
        },
    ),
    ({"operation": "diff", "text": "a", "other": "a"},
     {"equal": True, "added": 0, "removed": 0, "diff": ""}),
    ({"operation": "extract", "text": "a1 b22 c3", "pattern": r"\d+"}, ["1", "22", "3"]),
    ({"operation": "extract", "text": "a1 b22 c3", "pattern": r"\d+", "limit": 2}, ["1", "22"]),
    ({"operation": "extract", "text": "k=v; x=y", "pattern": r"(\w)=(\w)"},
     [["k", "v"], ["x", "y"]]),
    ({"operation": "extract", "text": "k=v", "pattern": r"(\w)="}, ["k"]),
    ({"operation": "extract", "text": "k=v", "pattern": r"(?P<key>\w)=(?P<value>\w)"},
     [{"key": "k", "value": "v"}]),
    ({"operation": "extract", "text": "A\nb\na", "pattern": "(?i)^a$"}, ["A", "a"]),
    ({"operation": "extract", "text": "größer üx", "pattern": r"ü\w"}, ["üx"]),
    ({"operation": "replace", "text": "a-b-c", "pattern": "-", "other": "+"},
     {"text": "a+b+c", "replaced": 2}),
    ({"operation": "replace", "text": "a-b-c", "pattern": "-", "other": "", "limit": 1},
     {"text": "ab-c", "replaced": 1}),
    ({"operation": "replace", "text": "ab", "pattern": "(?P<x>a)(b)", "other": r"\2\g<x>!"},
     {"text": "ba!", "replaced": 1}),
    ({"operation": "split", "text": "a,b,,c", "separator": ","}, ["a", "b", "", "c"]),
    ({"operation": "split", "text": "a,b,c", "separator": ",", "limit": 2}, ["a", "b,c"]),
    ({"operation": "split", "text": " a  b\nc "}, ["a", "b", "c"]),
    ({"operation": "join", "items": ["a", "b"], "separator": ", "}, "a, b"),
    ({"operation": "join", "items": ["a", "b"]}, "ab"),
    ({"operation": "truncate", "text": "some words here", "limit": 11}, "some words…"),
    ({"operation": "truncate", "text": "Donaudampfschiff", "limit": 6}, "Donau…"),
    ({"operation": "truncate", "text": "short", "limit": 5}, "short"),
    ({"operation": "hash", "text": "abc", "style": "md5"}, "900150983cd24fb0d6963f7d28e17f72"),
    (
        {"operation": "hash", "text": "abc", "style": "sha256"},
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ),
    ({"operation": "encode", "text": "ü?>", "style": "base64"}, "w7w/Pg=="),
    ({"operation": "encode", "text": "ü?>", "style": "base64url"}, "w7w_Pg"),
    ({"operation": "encode", "text": "a b/ü", "style": "url"}, "a%20b%2F%C3%BC"),
    ({"operation": "encode", "text": "<a>", "style": "html"}, "&lt;a&gt;"),
    ({"operation": "encode", "text": "hi", "style": "hex"}, "6869"),
    ({"operation": "decode", "text": "w7w_\nPg", "style": "base64"}, "ü?>"),
    ({"operation": "decode", "text": "68 69", "style": "hex"}, "hi"),
    ({"operation": "decode", "text": "a%20b+c", "style": "url"}, "a b+c"),
    ({"operation": "decode", "text": "&lt;&eacute;", "style": "html"}, "<é"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "expected"),
    WORK,
    ids=[f"{case['operation']}-{number}" for number, (case, _) in enumerate(WORK)],
)
def test_text_work_is_exact(arguments: dict[str, Any], expected: Any) -> None:
    assert text_utils(**arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"operation": "count"}, "'count' needs 'text'"),
        ({"operation": "case", "text": "a"}, "'case' needs 'style'"),
        ({"operation": "case", "text": "a", "style": "md5"}, "knows these styles: upper, lower"),
        ({"operation": "hash", "text": "a", "style": "upper"}, "knows these styles: sha256"),
        ({"operation": "count", "text": "a", "pattern": "x"}, "'count' takes no 'pattern'"),
        ({"operation": "join", "items": [], "text": "a"}, "'join' takes no 'text'"),
        ({"operation": "extract", "text": "a", "pattern": "("}, r"not valid: missing \): \("),
        ({"operation": "extract", "text": "a", "pattern": "(?=a)"}, "Look-around"),
        ({"operation": "extract", "text": "a", "pattern": r"(a)\1"}, "backreferences"),
        ({"operation": "replace", "text": "a", "pattern": "a", "other": r"\3"}, "a group that"),
        ({"operation": "replace", "text": "a", "pattern": "a", "other": r"\g<x>"}, "a group that"),
        ({"operation": "decode", "text": "?", "style": "base64"}, "not base64-encoded"),
        ({"operation": "decode", "text": "/w==", "style": "base64"}, "not base64-encoded UTF-8"),
        ({"operation": "decode", "text": "6", "style": "hex"}, "not hex-encoded"),
        ({"operation": "decode", "text": "%ff", "style": "url"}, "not url-encoded"),
        ({"operation": "diff", "text": "\n" * 2001, "other": ""}, "lines can be compared"),
        ({"operation": "join", "items": ["x" * 600_000] * 2}, "more than 1000000 characters"),
        (
            {"operation": "replace", "text": "a" * 1000, "pattern": "a", "other": "b" * 2000},
            "more than 1000000 characters",
        ),
    ],
)
def test_what_cannot_be_done_says_why(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        text_utils(**arguments)


def test_the_styles_offered_are_those_that_exist() -> None:
    assert get_args(Style) == (*CASES, *HASHES, *ENCODINGS)


@pytest.mark.parametrize("style", ["base64", "base64url", "hex", "url", "html"])
@given(text=st.text(max_size=50))
def test_what_is_encoded_decodes(style: Any, text: str) -> None:
    assert text_utils("decode", str(text_utils("encode", text, style=style)), style=style) == text


@given(text=st.text(max_size=50), limit=st.integers(1, 60))
def test_truncated_text_is_never_longer(text: str, limit: int) -> None:
    assert len(text_utils("truncate", text, limit=limit)) <= limit
