"""Files of every format, made by the libraries that people use for them."""

import io
from pathlib import Path
from typing import Any

PRICES = (("Item", "Price"), ("Hammer", "12.50"), ("Saw", "20.00"))


def make_pdf(file: Path, *pages: list[Any], title: str = "Handbook") -> Path:
    """A PDF of pages of platypus flowables."""
    from reportlab.platypus import PageBreak, SimpleDocTemplate

    flow: list[Any] = []
    for number, page in enumerate(pages):
        flow += [PageBreak(), *page] if number else page
    SimpleDocTemplate(str(file), title=title, invariant=1).build(flow)
    return file


def heading(text: str, level: int = 1) -> Any:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph

    return Paragraph(text, getSampleStyleSheet()[f"Heading{level}"])


def paragraph(text: str) -> Any:
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph

    return Paragraph(text, getSampleStyleSheet()["BodyText"])


def table(*rows: tuple[str, ...], ruled: bool = True) -> Any:
    from reportlab.lib.colors import black
    from reportlab.platypus import Table

    return Table(rows, style=[("GRID", (0, 0), (-1, -1), 1, black)] if ruled else [])


def draw_pdf(file: Path, draw: Any, **options: Any) -> Path:
    """A PDF of what a function draws on a canvas."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(file), invariant=1, **options)
    draw(canvas)
    canvas.save()
    return file


def make_docx(file: Path) -> Any:
    """A Word document to fill and save."""
    import docx

    document = docx.Document()
    document.core_properties.title = "Handbook"
    return document


def make_png(width: int = 8, height: int = 8) -> bytes:
    from PIL import Image

    written = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(written, "PNG")
    return written.getvalue()
