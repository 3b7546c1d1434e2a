"""Checks of Office files, which are zip files of XML, before a library opens them."""

import re
import zipfile
from pathlib import Path

from pegboard.documents.formats.refusal import refuse_file

MAX_UNPACKED = 400 << 20
_MAX_PARTS = 20_000
MAX_PART = 200 << 20
_ENTITY = re.compile(rb"<!(?:ENTITY|DOCTYPE)", re.IGNORECASE)
_HEAD = 4096


def check_package(file: Path) -> None:
    """Refuse what unfolds to too much, is encrypted, or declares entities.

    A part cannot give more than the directory of the file says: `zipfile` stops there.

    Raises:
        DocumentUnreadable: One of these.
    """
    try:
        with zipfile.ZipFile(file) as package:
            parts = package.infolist()
            if len(parts) > _MAX_PARTS:
                raise refuse_file("too_large", f"It has {len(parts):,} parts.")
            if any(part.flag_bits & 1 for part in parts):
                raise refuse_file("encrypted", "It is encrypted; save it without a password.")
            size = sum(part.file_size for part in parts)
            largest = max((part.file_size for part in parts), default=0)
            if size > MAX_UNPACKED or largest > MAX_PART:
                raise refuse_file("too_large", f"It unfolds to {size >> 20:,} MB.")
            for part in parts:
                if part.filename.endswith((".xml", ".rels")):
                    with package.open(part) as opened:
                        _check_head(opened.read(_HEAD))
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError) as error:
        raise refuse_file("broken", "It is cut short or damaged.") from error


def _check_head(head: bytes) -> None:
    """Office files have no document type; one would be there for its entities."""
    if _ENTITY.search(head.replace(b"\0", b"")):
        raise refuse_file("broken", "A part of it declares entities, which Office never does.")


def count_parts(file: Path, pattern: str) -> int:
    """How many parts of an Office file have a name that matches."""
    with zipfile.ZipFile(file) as package:
        return sum(bool(re.fullmatch(pattern, name)) for name in package.namelist())
