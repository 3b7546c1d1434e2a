"""Pages of a PDF, and pictures, as PNG of a bounded size."""

import io
from pathlib import Path
from typing import Any, cast

from pegboard.documents.formats.media_types import PDF, PICTURES, detect_media_type
from pegboard.documents.formats.refusal import refuse_file

_MAX_PIXELS = 60_000_000


def draw_page(file: Path, number: int, *, width: int) -> bytes:
    """A page of a PDF, or a picture, as PNG.

    Args:
        file: The file.
        number: Of the page, from 1.
        width: At most so many pixels on the longer side.

    Raises:
        DocumentUnreadable: It has no such page, cannot be drawn, or is too large.
    """
    found = detect_media_type(file, name="", media_type="")
    if found in PICTURES:
        return _draw_picture(file, width)
    if found != PDF:
        raise refuse_file("unsupported", "Only pages of a PDF and pictures can be drawn.")
    from pegboard.documents.formats.pdf import open_pdf

    opened = open_pdf(file)
    try:
        if not 1 <= number <= len(opened):
            raise refuse_file("unsupported", f"It has {len(opened)} pages, and no page {number}.")
        page = opened[number - 1]
        longest = max(*page.get_size(), 1.0)
        picture = page.render(scale=width / longest).to_pil()
        return _encode(picture)
    finally:
        opened.close()


def _draw_picture(file: Path, width: int) -> bytes:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(file) as opened:
            picture = cast("Any", opened)
            if picture.width * picture.height > _MAX_PIXELS:
                raise refuse_file("too_large", f"It has more than {_MAX_PIXELS:,} pixels.")
            picture.thumbnail((width, width))
            return _encode(picture.convert("RGB"))
    except Image.DecompressionBombError as error:
        raise refuse_file("too_large", f"It has more than {_MAX_PIXELS:,} pixels.") from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise refuse_file("broken", "It is cut short or damaged.") from error


def _encode(picture: Any) -> bytes:
    written = io.BytesIO()
    picture.save(written, format="PNG")
    return written.getvalue()
