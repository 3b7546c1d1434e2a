"""The `Range` header of a download (RFC 9110, section 14): one range of bytes."""

import re
from dataclasses import dataclass

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteRange:
    """A part of a content.

    Attributes:
        length: 0 where the range begins behind the end of the content.
        size: Of the whole content.
    """

    start: int
    length: int
    size: int

    @property
    def header(self) -> str:
        """The `Content-Range` of the answer."""
        if not self.length:
            return f"bytes */{self.size}"
        return f"bytes {self.start}-{self.start + self.length - 1}/{self.size}"


def read_range(header: str, size: int) -> ByteRange | None:
    """The range that a request asks for; None for the whole content.

    Several ranges, and what is no range of bytes, are answered with the whole, as servers may.
    """
    found = _RANGE.fullmatch(header.strip())
    if found is None or found[0] == "bytes=-":
        return None
    first, last = found[1], found[2]
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), size if not last else min(size, int(last) + 1)
        if last and int(last) < int(first):
            return None
    return ByteRange(start=start, length=max(0, end - start), size=size)
