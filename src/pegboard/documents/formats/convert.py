"""Chooses the reader of a file by its content, and reports what is wrong with the file."""

from collections.abc import Callable
from pathlib import Path

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats import media_types
from pegboard.documents.formats.refusal import refuse_file

Reader = Callable[[Path], ConvertedDocument]


def convert_file(file: Path, *, name: str, media_type: str) -> ConvertedDocument:
    """The document of a file.

    Raises:
        DocumentUnreadable: It cannot be read; its reason says why.
        ImportError: The library for its type is not installed.
    """
    found = media_types.detect_media_type(file, name=name, media_type=media_type)
    if found in media_types.PICTURES:
        raise refuse_file(
            "no_vision_model",
            "A picture is read by a vision model, and none is configured.",
        )
    try:
        return _reader(found)(file)
    except RecursionError as error:
        raise refuse_file("broken", "Its parts are nested too deeply.") from error


def _reader(media_type: str) -> Reader:
    """The reader of a type; the libraries of the others are not loaded."""
    if media_type == media_types.PDF:
        from pegboard.documents.formats.pdf import read_pdf

        return read_pdf
    if media_type == media_types.DOCX:
        from pegboard.documents.formats.docx import read_docx

        return read_docx
    if media_type == media_types.PPTX:
        from pegboard.documents.formats.pptx import read_pptx

        return read_pptx
    if media_type == media_types.XLSX:
        from pegboard.documents.formats.xlsx import read_xlsx

        return read_xlsx
    if media_type == media_types.HTML:
        from pegboard.documents.formats.html import read_html

        return read_html
    return _text_reader(media_type)


def _text_reader(media_type: str) -> Reader:
    if media_type == media_types.MARKDOWN:
        from pegboard.documents.formats.markdown import read_markdown

        return read_markdown
    if media_type in (media_types.CSV, media_types.TSV):
        from pegboard.documents.formats.csv_table import read_csv

        return lambda file: read_csv(file, media_type=media_type)
    from pegboard.documents.formats.plain_text import read_plain_text

    return read_plain_text
