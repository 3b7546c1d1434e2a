"""One order of the server, answered: the only place where errors of libraries are caught."""

from pathlib import Path
from zipfile import BadZipFile

from msgspec import json

from pegboard.documents.formats.convert import convert_file
from pegboard.documents.formats.media_types import PICTURES, detect_media_type
from pegboard.documents.reply import (
    ConverterReply,
    DocumentReply,
    LibraryReply,
    PictureReply,
    ReadOrder,
    RefusalReply,
)
from pegboard.errors import DocumentUnreadable


def reply_to_order(line: bytes) -> bytes:
    """The answer to an order; both are JSON."""
    order = json.decode(line, type=ReadOrder)
    return json.encode(_answer(order))


def _answer(order: ReadOrder) -> ConverterReply:
    try:
        if order.job == "draw":
            from pegboard.documents.formats.picture import draw_page

            return PictureReply(draw_page(Path(order.file), order.page, width=order.width))
        return _convert(order)
    except DocumentUnreadable as error:
        return RefusalReply(error.reason, error.message)
    except ImportError as error:
        return LibraryReply(error.name or str(error))
    except MemoryError:
        return RefusalReply("too_large", "It takes too much memory.")
    except (BadZipFile, EOFError):
        return RefusalReply("broken", "It is cut short or damaged.")
    except Exception:  # noqa: BLE001 - a library meets a file that is not as it expects
        return RefusalReply(
            "broken", "It is damaged, or it has something that its reader does not know."
        )


def _convert(order: ReadOrder) -> ConverterReply:
    file = Path(order.file)
    found = detect_media_type(file, name=order.name, media_type=order.media_type)
    if order.has_reader and found in PICTURES:
        from pegboard.documents.formats.picture import draw_page

        return PictureReply(draw_page(file, 1, width=order.width), found)
    return DocumentReply(convert_file(file, found, has_reader=order.has_reader))
