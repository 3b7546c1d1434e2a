"""Files that are damaged, hostile, or not what their name says."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from msgspec import json
from tests.documents import files

from pegboard.documents.formats.convert import convert_file
from pegboard.documents.formats.media_types import detect_media_type
from pegboard.documents.formats.package_check import MAX_PART, check_package, count_parts
from pegboard.documents.formats.picture import draw_page
from pegboard.documents.formats.read_order import reply_to_order
from pegboard.documents.formats.refusal import refuse_file
from pegboard.documents.reply import (
    ConverterReply,
    DocumentReply,
    LibraryReply,
    PictureReply,
    ReadOrder,
    RefusalReply,
)
from pegboard.errors import DocumentUnreadable


def _package(**parts: bytes | str) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name.replace("__", "/"), content)
    return written.getvalue()


def _bomb() -> bytes:
    return _package(**{"word/document.xml": b" " * (MAX_PART + 1)})


_ENTITIES = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a>&c;</a>'
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504
_BAD = {
    "empty": ("a.pdf", b"", "empty"),
    "zeros": ("a.txt", b"\0" * 100, "empty"),
    "a PDF by name": ("a.pdf", b"hello", "not_its_name"),
    "a picture by name": ("a.png", b"%PDF-1.4 x", "not_its_name"),
    "a program": ("a.docx", b"\x7fELF\2\1\1\0", "not_its_name"),
    "a program without a name": ("", b"\x7fELF\2\1\1\0", "unsupported"),
    "an archive": ("a.zip", _package(a="x"), "unsupported"),
    "an archive as DOCX": ("a.docx", _package(a="x"), "unsupported"),
    "a cut package": ("a.docx", _package(word__document="x")[:40], "broken"),
    "a package without parts": ("a.docx", _package(**{"word/document.xml": "<a/>"}), "broken"),
    "a workbook without parts": ("a.xlsx", _package(**{"xl/workbook.xml": "<a/>"}), "broken"),
    "slides without parts": ("a.pptx", _package(**{"ppt/presentation.xml": "<a/>"}), "broken"),
    "entities": ("a.docx", _package(**{"word/document.xml": _ENTITIES}), "broken"),
    "an encrypted package": (
        "a.docx",
        _COMPOUND + "EncryptedPackage".encode("utf-16-le"),
        "encrypted",
    ),
    "an old document": ("a.doc", _COMPOUND, "unsupported"),
    "a picture": ("a.png", files.make_png(), "no_vision_model"),
    "noise": ("a.txt", bytes(range(256)) * 20, "not_its_name"),
    "a cut PDF": ("a.pdf", b"%PDF-1.7\n1 0 obj\n<<", "broken"),
}


@pytest.mark.parametrize(("name", "content", "reason"), _BAD.values(), ids=_BAD.keys())
def test_a_bad_file_is_refused_with_its_reason(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / "file").write_bytes(content)

    answer = _ask(ReadOrder(job="convert", file=str(tmp_path / "file"), name=name))

    assert isinstance(answer, RefusalReply)
    assert answer.reason == reason
    assert answer.message.endswith(".")


def _ask(order: ReadOrder) -> DocumentReply | PictureReply | LibraryReply | RefusalReply:
    return json.decode(reply_to_order(json.encode(order)), type=ConverterReply)


def test_a_package_that_unfolds_to_too_much_is_not_unfolded(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(_bomb())

    with pytest.raises(DocumentUnreadable) as raised:
        check_package(tmp_path / "a.docx")

    assert raised.value.reason == "too_large"


def test_a_picture_with_too_many_points_is_not_drawn(tmp_path: Path) -> None:
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    content = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    (tmp_path / "a.png").write_bytes(content)

    answer = _ask(ReadOrder(job="draw", file=str(tmp_path / "a.png"), width=100))

    assert isinstance(answer, RefusalReply)
    assert answer.reason == "too_large"


def test_a_picture_is_drawn_in_the_size_asked_for(tmp_path: Path) -> None:
    from PIL import Image

    (tmp_path / "a.png").write_bytes(files.make_png(400, 200))

    drawn = draw_page(tmp_path / "a.png", 1, width=100)

    assert Image.open(io.BytesIO(drawn)).size == (100, 50)


def test_a_page_that_is_not_there_is_not_drawn(tmp_path: Path) -> None:
    file = files.draw_pdf(tmp_path / "a.pdf", lambda canvas: canvas.drawString(72, 700, "x"))

    with pytest.raises(DocumentUnreadable, match="no page 2"):
        draw_page(file, 2, width=100)


@pytest.mark.parametrize("tag", ["div", "ul><li", "table><tr><td", "b", "blockquote"])
def test_a_page_of_elements_in_elements_is_read_or_refused(tmp_path: Path, tag: str) -> None:
    opened = "".join(f"<{part}>" for part in tag.split("><")) * 3000
    (tmp_path / "a.html").write_text(f"<html><p>start</p>{opened}deep")

    answer = _ask(ReadOrder(job="convert", file=str(tmp_path / "a.html"), name="a.html"))

    if isinstance(answer, DocumentReply):
        assert answer.document.text.startswith("start")
        assert "deep" in answer.document.text
    else:
        assert isinstance(answer, RefusalReply)


@pytest.mark.parametrize(
    ("name", "said", "content", "found"),
    [
        ("a.md", "", "# A", "text/markdown"),
        ("a", "text/markdown; charset=utf-8", "# A", "text/markdown"),
        ("a", "", "<!DOCTYPE html><p>A", "text/html"),
        ("a.txt", "", "<!DOCTYPE html><p>A", "text/plain"),
        ("a.csv", "", "a,b", "text/csv"),
        ("page.php", "text/html", "A <p>b", "text/html"),
        ("a.py", "", "x = 1", "text/plain"),
    ],
)
def test_kinds_of_text_are_told_apart_by_name_and_sender(
    tmp_path: Path, name: str, said: str, content: str, found: str
) -> None:
    (tmp_path / "file").write_text(content)

    assert detect_media_type(tmp_path / "file", name=name, media_type=said) == found


def test_a_jpeg_that_is_named_png_is_a_picture_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\xff\xd8\xff\xe0" + b"\0" * 20)

    with pytest.raises(DocumentUnreadable, match="vision model"):
        convert_file(
            tmp_path / "file",
            detect_media_type(tmp_path / "file", name="a.png", media_type=""),
        )


def test_a_refusal_has_its_reason_and_says_it_to_a_person() -> None:
    error = refuse_file("empty", "It is empty.")

    assert (error.reason, str(error)) == ("empty", "It is empty.")


def test_the_parts_of_a_package_are_counted_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(_package(a1="", a2="", b1=""))

    assert count_parts(tmp_path / "a.zip", r"a\d") == 2
