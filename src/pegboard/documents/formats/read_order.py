"""One order of the server, answered: the only place where errors of libraries are caught."""

from pathlib import Path
from zipfile import BadZipFile

from msgspec import json

from pegboard.documents.formats.convert import convert_file
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
        return DocumentReply(
            convert_file(Path(order.file), name=order.name, media_type=order.media_type)
        )
    except DocumentUnreadable as error:
        return RefusalReply(error.reason, error.message)
    except ImportError as error:
        return LibraryReply(error.name or str(error))
    except MemoryError:
        return RefusalReply("too_large", "It takes too much memory.")
    except (BadZipFile, EOFError):
        return RefusalReply("broken", "It is cut short or damaged.")
    except Exception as error:  # noqa: BLE001 - a library meets a file that is not as it expects
        return RefusalReply("broken", f"It is damaged: {type(error).__name__}.")
