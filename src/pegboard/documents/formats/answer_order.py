"""One order of the server, answered: the only place where errors of libraries are caught."""

from pathlib import Path
from zipfile import BadZipFile

from msgspec import json

from pegboard.documents.answer import Answer, Converted, Drawn, Missing, ReadOrder, Unreadable
from pegboard.documents.formats.convert import convert_file
from pegboard.documents.formats.unreadable import UnreadableFile


def answer_order(line: bytes) -> bytes:
    """The answer to an order; both are JSON."""
    order = json.decode(line, type=ReadOrder)
    return json.encode(_answer(order))


def _answer(order: ReadOrder) -> Answer:
    try:
        if order.job == "draw":
            from pegboard.documents.formats.picture import draw_page

            return Drawn(draw_page(Path(order.file), order.page, width=order.width))
        return Converted(
            convert_file(Path(order.file), name=order.name, media_type=order.media_type)
        )
    except UnreadableFile as error:
        return Unreadable(error.reason, error.message)
    except ImportError as error:
        return Missing(error.name or str(error))
    except MemoryError:
        return Unreadable("too_large", "It takes too much memory.")
    except (BadZipFile, EOFError):
        return Unreadable("broken", "It is cut short or damaged.")
    except Exception as error:  # noqa: BLE001 - a library meets a file that is not as it expects
        return Unreadable("broken", f"It is damaged: {type(error).__name__}.")
