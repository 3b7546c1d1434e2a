"""What the sandboxed process is asked for on stdin, and what it answers on stdout, as JSON."""

from typing import Literal

from msgspec import Struct

from pegboard.core.knowledge import ConvertedDocument


class ReadOrder(Struct, frozen=True, kw_only=True):
    """What to do with a file.

    Attributes:
        job: `convert` it to a document; `draw` a page, or a picture, as a PNG.
        page: Of `draw`, from 1.
        width: Of `draw`: at most so many pixels on the longer side.
        has_reader: Whether pictures are read afterwards: a picture is drawn in place of `convert`,
            and a document of pictures alone is one of empty pages.
    """

    job: Literal["convert", "draw"]
    file: str
    name: str = ""
    media_type: str = ""
    page: int = 1
    width: int = 0
    has_reader: bool = False


class DocumentReply(Struct, frozen=True, tag="converted"):
    """A file that was read."""

    document: ConvertedDocument


class PictureReply(Struct, frozen=True, tag="drawn"):
    """A page, or a picture, as a PNG."""

    picture: bytes
    media_type: str = ""


class RefusalReply(Struct, frozen=True, tag="unreadable"):
    """A file that cannot be read, and why."""

    reason: str
    message: str


class LibraryReply(Struct, frozen=True, tag="missing"):
    """A library that is not installed."""

    library: str


ConverterReply = DocumentReply | PictureReply | RefusalReply | LibraryReply
