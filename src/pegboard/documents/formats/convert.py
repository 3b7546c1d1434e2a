"""Chooses the reader of a file by its content, and reports what is wrong with the file."""

from collections.abc import Callable
from pathlib import Path

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats import media_types
from pegboard.documents.formats.refusal import refuse_file

_NAME_ONE = "name one as `vision` in the section `models` of the board file"

Reader = Callable[[Path], ConvertedDocument]


def convert_file(file: Path, media_type: str, *, has_reader: bool = False) -> ConvertedDocument:
    """The document of a file.

    Args:
        file: The file.
        media_type: By its content.
        has_reader: Whether pages that are pictures are read afterwards.

    Raises:
        DocumentUnreadable: It cannot be read; its reason says why.
        ImportError: The library for its type is not installed.
    """
    if media_type in media_types.PICTURES:
        raise refuse_file("no_vision_model", f"A picture is read by a vision model; {_NAME_ONE}.")
    try:
        document = _reader(media_type)(file)
    except RecursionError as error:
        raise refuse_file("broken", "Its parts are nested too deeply.") from error
    if document.text.strip() or (has_reader and document.receipt.pictures):
        return document
    if document.receipt.pictures:
        raise refuse_file(
            "no_vision_model",
            f"It has pictures and no text, for a vision model to read; {_NAME_ONE}.",
        )
    raise refuse_file("empty", "It has no text.")


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
