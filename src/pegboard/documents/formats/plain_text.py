"""Plain text: paragraphs are what empty lines part; form feeds part pages."""

import re
from pathlib import Path

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats.encodings import decode_text
from pegboard.documents.formats.markdown_text import MarkdownText
from pegboard.documents.formats.media_types import TEXT
from pegboard.documents.formats.refusal import refuse_file

_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")


def read_plain_text(file: Path) -> ConvertedDocument:
    """The document of a text file.

    Raises:
        DocumentUnreadable: It is no text, or has none.
    """
    text = decode_text(file.read_bytes())
    if not text.strip():
        raise refuse_file("empty", "It has no text.")
    made = MarkdownText()
    pages = text.strip("\f\n").split("\f")
    made.pages_in = len(pages) if len(pages) > 1 else 0
    for number, page in enumerate(pages, 1):
        if made.pages_in:
            made.start_page(number)
        for paragraph in _PARAGRAPHS.split(page.strip("\n")):
            made.add_paragraph(paragraph)
    return made.finish(media_type=TEXT, converter="pegboard text 1")
