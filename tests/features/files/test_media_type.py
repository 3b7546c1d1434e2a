"""Media types by content."""

import pytest

from pegboard.features.files.media_type import HEAD, find_media_type

_OFFICE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (b"%PDF-1.4", "a.txt", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n...", "a.html", "image/png"),
        (b"PK\x03\x04...", "a.docx", _OFFICE),
        (b"PK\x03\x04...", "a.pdf", "application/zip"),
        (b"RIFF\0\0\0\0WEBPVP8", "a", "image/webp"),
        (b"RIFF\0\0\0\0AVI ", "a", "application/octet-stream"),
        (b"\0\0\0\x18ftypheic", "a", "image/heic"),
        (b"", "a.pdf", "text/plain"),
        (b"hello", "a", "text/plain"),
        (b"hello", "a.pdf", "text/plain"),
        (b"a,b\n1,2", "a.CSV", "text/csv"),
        (b"# Title", "a.md", "text/markdown"),
        (b"\xef\xbb\xbf <!DOCTYPE html>", "a.txt", "text/html"),
        (b"<?xml version='1.0'?><svg>", "a.png", "image/svg+xml"),
        (b"<?xml version='1.0'?><a/>", "a", "application/xml"),
        ("\ufeffhé".encode("utf-16"), "a.csv", "text/csv"),
        ("é".encode("latin-1"), "a.txt", "application/octet-stream"),
        (b"a\0b", "a.txt", "application/octet-stream"),
        (("é" * HEAD).encode()[:HEAD], "a.txt", "text/plain"),
        (b"a" * (HEAD - 1) + b"\xe2", "a.txt", "text/plain"),
    ],
)
def test_the_type_is_that_of_the_content(head: bytes, name: str, expected: str) -> None:
    assert find_media_type(head, name) == expected
