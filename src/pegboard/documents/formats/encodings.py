"""Text from bytes: by the mark at its start, as UTF-8, or by what fits its content."""

import codecs

from pegboard.documents.formats.refusal import refuse_file

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 128 * 1024


def decode_text(data: bytes, *, declared: str = "") -> str:
    """The text of a file, with a line feed at the end of each line.

    Args:
        data: Its content.
        declared: The encoding that it names itself; empty for none.

    Raises:
        DocumentUnreadable: It is no text in any encoding.
    """
    text = _decode(data, declared)
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _decode(data: bytes, declared: str) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.start > len(data) - 4:
            return data[: error.start].decode("utf-8")
    for encoding in (declared, _wide_encoding(data), _guess(data)):
        try:
            if encoding:
                return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    if _is_mostly_printable(data):
        return data.decode("cp1252", "replace")
    raise refuse_file("broken", "It is text in no known encoding.")


def _wide_encoding(data: bytes) -> str:
    head = data[:4096]
    pairs = len(head) // 2
    if pairs and head[1::2].count(0) >= pairs * 0.4:
        return "utf-16-le"
    return "utf-16-be" if pairs and head[0::2].count(0) >= pairs * 0.4 else ""


def _guess(data: bytes) -> str:
    """The encoding that fits best; empty for none, or where the library for it is not installed."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return ""
    best = from_bytes(data[:_SAMPLE]).best()
    return best.encoding if best else ""


def _is_mostly_printable(data: bytes) -> bool:
    control = sum(byte < 9 or 13 < byte < 32 for byte in data[:_SAMPLE])
    return control <= len(data[:_SAMPLE]) * 0.01
