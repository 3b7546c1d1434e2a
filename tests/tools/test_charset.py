"""Character sets that servers declare."""

import time

import pytest

from pegboard.tools.charset import decode_text


@pytest.mark.parametrize(
    ("content", "charset", "text"),
    [
        ("ü".encode("latin-1"), "ISO-8859-1", "ü"),
        ("ü".encode("utf-16"), "utf-16", "ü"),
        (b"\xef\xbb\xbfa", "", "a"),
        (b"\xff", "utf-8", "\ufffd"),
        ("ü".encode(), "nonsense", "ü"),
        ("ü".encode(), "hex", "ü"),
        ("ü".encode(), "undefined", "ü"),
        (b"\\n", "unicode_escape", "\\n"),
        (b"a", "a\0b", "a"),
    ],
)
def test_a_text_is_read_by_its_character_set_else_as_utf_8(
    content: bytes, charset: str, text: str
) -> None:
    assert decode_text(content, charset) == text


@pytest.mark.parametrize("charset", ["punycode", "PUNYCODE", "idna"])
def test_a_name_that_is_no_character_set_costs_no_time(charset: str) -> None:
    content = b"a" * 3_000_000
    began = time.thread_time()

    assert decode_text(content, charset) == content.decode()
    assert time.thread_time() - began < 5
