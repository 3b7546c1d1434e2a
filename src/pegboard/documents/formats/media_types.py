"""What a file is, by its content; names and senders may say anything."""

import zipfile
from pathlib import Path, PurePosixPath

from pegboard.documents.formats.refusal import refuse_file
from pegboard.errors import DocumentUnreadable

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
HTML, MARKDOWN, CSV, TSV, TEXT = (
    "text/html", "text/markdown", "text/csv", "text/tab-separated-values", "text/plain",
)  # fmt: skip
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/tiff")
BY_EXTENSION = {
    ".pdf": PDF, ".docx": DOCX, ".pptx": PPTX, ".xlsx": XLSX, ".docm": DOCX, ".pptm": PPTX,
    ".xlsm": XLSX, ".html": HTML, ".htm": HTML, ".xhtml": HTML, ".md": MARKDOWN,
    ".markdown": MARKDOWN, ".csv": CSV, ".tsv": TSV, ".txt": TEXT, ".png": "image/png",
    ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
    ".bmp": "image/bmp", ".tif": "image/tiff", ".tiff": "image/tiff",
}  # fmt: skip
TEXTS = (HTML, MARKDOWN, CSV, TSV, TEXT)
_HEAD = 4096
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_MAIN_PARTS = (
    ("word/document.xml", DOCX), ("ppt/presentation.xml", PPTX), ("xl/workbook.xml", XLSX),
)  # fmt: skip
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OTHERS = (
    (b"\x7fELF", "a program"), (b"MZ", "a program"), (b"\x1f\x8b", "a packed file"),
    (b"7z\xbc\xaf", "an archive"), (b"Rar!", "an archive"), (b"BZh", "a packed file"),
    (b"\xfd7zXZ", "a packed file"), (b"\x28\xb5\x2f\xfd", "a packed file"),
    (b"{\\rtf", "an RTF document"), (b"SQLite format 3", "a database"), (b"OggS", "a recording"),
    (b"ID3", "a recording"), (b"RIFF", "a recording"),
)  # fmt: skip
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_TITLES = {
    PDF: "a PDF", DOCX: "a Word document", PPTX: "a presentation", XLSX: "a workbook",
    HTML: "a web page", MARKDOWN: "Markdown", CSV: "a table of text", TSV: "a table of text",
    TEXT: "text",
}  # fmt: skip


def detect_media_type(file: Path, *, name: str, media_type: str) -> str:
    """The type of a file.

    Args:
        file: The file.
        name: Its extension chooses among kinds of text, and must not name another type.
        media_type: What its sender says; chooses among kinds of text.

    Raises:
        DocumentUnreadable: It is empty, of a type that cannot be read, or not what its name says.
    """
    with file.open("rb") as opened:
        head = opened.read(_HEAD)
    if len(head) < _HEAD and not head.strip(b"\0 \t\r\n"):
        raise refuse_file("empty", "It is empty.")
    promised = BY_EXTENSION.get(PurePosixPath(name.lower()).suffix, "")
    found = _binary_type(file, head, promised)
    if not found:
        if promised and promised not in TEXTS:
            raise _not_its_name(promised, "text")
        return _text_type(head, promised, media_type)
    if promised and promised != found and not (promised in PICTURES and found in PICTURES):
        raise _not_its_name(promised, _TITLES.get(found, "a picture"))
    return found


def _binary_type(file: Path, head: bytes, promised: str) -> str:
    """The type of a file that is not text; empty for text."""
    if b"%PDF-" in head[:1024]:
        return PDF
    for magic, found in _MAGIC:
        if head.startswith(magic) and (found != "image/bmp" or b"\0" in head[:32]):
            return found
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _package_type(file)
    if head.startswith(_COMPOUND):
        raise _refuse_compound(file)
    for magic, title in _OTHERS:
        if head.startswith(magic):
            raise _refuse(promised, title)
    if b"\0" in head and not head.startswith(_MARKS) and not _is_wide(head):
        raise _refuse(promised, "neither text nor a known format")
    return ""


def _package_type(file: Path) -> str:
    """Which Office format a zip file is."""
    try:
        with zipfile.ZipFile(file) as package:
            names = set(package.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise refuse_file("broken", "It is cut short or damaged.") from error
    for part, found in _MAIN_PARTS:
        if part in names:
            return found
    if "mimetype" in names:
        raise refuse_file(
            "unsupported", "It is an OpenDocument or EPUB file; save it as PDF or DOCX."
        )
    raise refuse_file("unsupported", "It is an archive; add the files in it instead.")


def _refuse_compound(file: Path) -> DocumentUnreadable:
    """The reason for an OLE file: an encrypted Office document, or one of before 2007."""
    with file.open("rb") as opened:
        content = opened.read(64 << 20)
    if "EncryptedPackage".encode("utf-16-le") in content:
        return refuse_file("encrypted", "It is encrypted; save it without a password.")
    return refuse_file(
        "unsupported", "It is a document of an Office before 2007; save it as DOCX, PPTX or XLSX."
    )


def _refuse(promised: str, title: str) -> DocumentUnreadable:
    if promised:
        return _not_its_name(promised, title)
    return refuse_file("unsupported", f"It is {title}, which cannot be read.")


def _not_its_name(promised: str, title: str) -> DocumentUnreadable:
    expected = _TITLES.get(promised, "a picture")
    return refuse_file("not_its_name", f"Its name says {expected}, and its content is {title}.")


def _is_wide(head: bytes) -> bool:
    """Whether it looks like UTF-16 without a mark: text in which every second byte is zero."""
    pairs = len(head) // 2
    zeros = (head[0::2].count(0), head[1::2].count(0))
    return max(zeros) >= pairs * 0.4 and min(zeros) <= pairs * 0.02


def _text_type(head: bytes, promised: str, media_type: str) -> str:
    if promised and promised != TEXT:
        return promised
    said = media_type.partition(";")[0].strip().lower()
    if said in TEXTS and said != TEXT:
        return said
    start = head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n").lower()
    is_page = start.startswith((b"<!doctype html", b"<html", b"<head", b"<body"))
    return HTML if is_page and not promised else TEXT
