"""The media type of a file, by its content; the name decides only between kinds of text."""

from pathlib import PurePosixPath

HEAD = 4096
"""Bytes of a content that are looked at."""

_BYTES = "application/octet-stream"
_ZIP = "application/zip"
_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"PK\x03\x04", _ZIP),
    (b"PK\x05\x06", _ZIP),
    (b"\x1f\x8b", "application/gzip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"{\\rtf", "application/rtf"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"PAR1", "application/vnd.apache.parquet"),
    (b"OggS", "application/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\x7fELF", "application/x-executable"),
)
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OPEN = "application/vnd.oasis.opendocument."
_PACKED = {
    ".docx": f"{_OFFICE}wordprocessingml.document",
    ".pptx": f"{_OFFICE}presentationml.presentation",
    ".xlsx": f"{_OFFICE}spreadsheetml.sheet",
    ".odt": f"{_OPEN}text",
    ".ods": f"{_OPEN}spreadsheet",
    ".odp": f"{_OPEN}presentation",
    ".epub": "application/epub+zip",
}
"""Formats that are ZIP archives, by name."""
_TEXTS = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".json": "application/json",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".eml": "message/rfc822",
}
_MARKUP = (
    (b"<!doctype html", "text/html"),
    (b"<html", "text/html"),
    (b"<svg", "image/svg+xml"),
    (b"<?xml", "application/xml"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\f\r\x1b"))


def find_media_type(head: bytes, name: str) -> str:
    """The media type of a file.

    Args:
        head: Its first `HEAD` bytes, or all of it.
        name: Its name; it never makes text of bytes, or bytes of text.
    """
    suffix = PurePosixPath(name.lower()).suffix
    found = next((kind for start, kind in _SIGNATURES if head.startswith(start)), "")
    if found == _ZIP:
        return _PACKED.get(suffix, _ZIP)
    if found:
        return found
    if head[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(head[8:12], _BYTES)
    if head[4:8] == b"ftyp":
        return "image/heic" if head[8:12] in {b"heic", b"heix", b"mif1"} else "video/mp4"
    return _find_text_type(head, suffix)


def _find_text_type(head: bytes, suffix: str) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _TEXTS.get(suffix, "text/plain")  # UTF-16
    if head.translate(None, _CONTROLS) != head or not _is_utf8(head):
        return _BYTES
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:100].lower()
    markup = next((kind for sign, kind in _MARKUP if start.startswith(sign)), "")
    if markup == "application/xml" and b"<svg" in head.lower():
        return "image/svg+xml"
    return markup or _TEXTS.get(suffix, "text/plain")


def _is_utf8(head: bytes) -> bool:
    """Whether it is UTF-8; the last character may be cut off."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return (
            len(head) >= HEAD and error.start >= len(head) - 3 and "unexpected end" in error.reason
        )
    return True
