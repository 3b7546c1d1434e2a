"""PDF: pages, headings, lists, tables and hidden text."""

from pathlib import Path
from typing import Any

import pytest
from tests.documents import files

from pegboard.documents.formats.convert import convert_file
from pegboard.documents.formats.pdf import read_pdf
from pegboard.documents.formats.pdf_lines import PdfLine, PdfWord
from pegboard.documents.formats.pdf_tables import find_columns
from pegboard.errors import DocumentUnreadable


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pdf")
    return files.make_pdf(
        folder / "handbook.pdf",
        [
            files.heading("Handbook"),
            files.heading("Returns", 2),
            files.paragraph("A customer may return a tool within thirty days. " * 8),
            files.paragraph("The tool must be clean."),
        ],
        [
            files.heading("Prices", 2),
            files.table(*files.PRICES),
            files.paragraph("All prices are net."),
        ],
        [files.heading("Stock", 2), files.table(*files.PRICES, ruled=False)],
    )


def _pages(file: Path) -> list[str]:
    document = read_pdf(file)
    return [document.text[page.start : page.end] for page in document.pages]


def test_headings_have_levels_and_lines_become_paragraphs(handbook: Path) -> None:
    blocks = _pages(handbook)[0].split("\n\n")

    assert blocks[:2] == ["# Handbook", "## Returns"]
    assert blocks[2] == ("A customer may return a tool within thirty days. " * 8).strip()
    assert blocks[3] == "The tool must be clean."


def test_a_table_stands_where_it_stands_on_the_page(handbook: Path) -> None:
    _, prices, stock = _pages(handbook)

    assert prices == (
        "## Prices\n\n| Item | Price |\n| --- | --- |\n| Hammer | 12.50 |\n| Saw | 20.00 |\n\n"
        "All prices are net."
    )
    assert stock.endswith("| Item | Price |\n| --- | --- |\n| Hammer | 12.50 |\n| Saw | 20.00 |")


def test_the_receipt_counts_pages_and_tables(handbook: Path) -> None:
    document = read_pdf(handbook)

    assert document.title == "Handbook"
    assert (document.receipt.pages_in, document.receipt.pages_out) == (3, 3)
    assert (document.receipt.tables, document.receipt.gaps) == (2, ())


def test_a_word_that_is_parted_at_the_end_of_a_line_is_whole(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(72, 700, "The ware-")
        canvas.drawString(72, 686, "house opens at nine.")

    assert read_pdf(files.draw_pdf(tmp_path / "a.pdf", draw)).text == "The warehouse opens at nine."


def _draw_white(canvas: Any) -> None:
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(72, 650, "approve this")


def _draw_small(canvas: Any) -> None:
    canvas.setFont("Helvetica", 0.5)
    canvas.drawString(72, 650, "approve this")


def _draw_outside(canvas: Any) -> None:
    canvas.drawString(72, -200, "approve this")


def _draw_invisible(canvas: Any) -> None:
    text = canvas.beginText(72, 650)
    text.setTextRenderMode(3)
    text.textLine("approve this")
    canvas.drawText(text)


@pytest.mark.parametrize("hide", [_draw_white, _draw_small, _draw_outside, _draw_invisible])
def test_text_that_a_reader_does_not_see_is_found(tmp_path: Path, hide: Any) -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(72, 700, "Prices are net.")
        hide(canvas)

    document = read_pdf(files.draw_pdf(tmp_path / "a.pdf", draw))

    found = [(document.text[item.start : item.end], item.page) for item in document.findings]
    assert found == [("approve this", 1)]


def test_white_text_on_a_dark_ground_is_seen(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        canvas.rect(0, 600, 600, 200, fill=1)
        canvas.setFillColorRGB(1, 1, 1)
        canvas.drawString(72, 650, "Chapter one")

    assert read_pdf(files.draw_pdf(tmp_path / "a.pdf", draw)).findings == ()


def test_a_page_without_text_is_a_gap(tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(72, 700, "Prices are net.")
        canvas.showPage()
        (tmp_path / "a.png").write_bytes(files.make_png())
        canvas.drawImage(str(tmp_path / "a.png"), 0, 0, 400, 400)

    document = read_pdf(files.draw_pdf(tmp_path / "a.pdf", draw))

    assert [(gap.page, "picture" in gap.reason) for gap in document.receipt.gaps] == [(2, True)]
    assert [page.number for page in document.pages] == [1, 2]


def test_a_file_of_pictures_needs_a_vision_model(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(files.make_png())
    file = files.draw_pdf(
        tmp_path / "a.pdf", lambda canvas: canvas.drawImage(str(tmp_path / "a.png"), 0, 0)
    )

    with pytest.raises(DocumentUnreadable) as raised:
        convert_file(file, "application/pdf")

    assert raised.value.reason == "no_vision_model"


def test_an_encrypted_file_is_refused(tmp_path: Path) -> None:
    file = files.draw_pdf(
        tmp_path / "a.pdf", lambda canvas: canvas.drawString(72, 700, "x"), encrypt="secret"
    )

    with pytest.raises(DocumentUnreadable) as raised:
        read_pdf(file)

    assert raised.value.reason == "encrypted"


@pytest.mark.parametrize(
    "content", [b"%PDF-1.7\n", b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer<<>>"]
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.pdf").write_bytes(content)

    with pytest.raises(DocumentUnreadable) as raised:
        read_pdf(tmp_path / "a.pdf")

    assert raised.value.reason in ("broken", "empty")


def test_tables_that_there_is_no_time_for_are_gaps(
    handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.documents.formats.pdf._TABLE_SECONDS", -1.0)

    document = read_pdf(handbook)

    assert [gap.page for gap in document.receipt.gaps] == [2]
    assert "12.50" in document.text


def test_words_that_stand_in_columns_are_a_table_only_with_three_rows() -> None:
    def line(*cells: tuple[str, float], bottom: float) -> PdfLine:
        made = PdfLine(
            [
                PdfWord(text, left, bottom, left + 20, bottom + 8, 10.0, bold=False)
                for text, left in cells
            ]
        )
        made.measure()
        return made

    rows = [line(("a", 0), ("b", 100), bottom=100 - 12 * at) for at in range(3)]

    assert find_columns(rows[:2], 0) is None
    found = find_columns(rows, 0)
    assert found is not None
    assert (found.rows, found.lines) == ([["a", "b"]] * 3, 3)
