"""The files of a skill on this machine, as they are stored: texts by their paths."""

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pegboard.errors import InvalidRequest

_SKILL_FILE = "SKILL.md"
_MAX_BYTES = 1_000_000
_MAX_FILES = 1_000
"""Bounds on what is read; the server has its own, smaller ones."""


def read_skill_files(path: Path) -> dict[str, str]:
    """The texts of a skill: a `SKILL.md`, the folder of one, or a zip archive of the folder.

    Hidden files are left out.

    Raises:
        InvalidRequest: It cannot be read, is no text, or is too large.
    """
    try:
        if path.is_dir():
            found = _read_folder(path)
        elif zipfile.is_zipfile(path):
            found = _read_archive(path)
        else:
            found = iter([(_SKILL_FILE, path.read_bytes())])
        return {name: _decode(name, data) for name, data in _limit(found)}
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidRequest(f"{path} cannot be read: {reason}.") from error


def read_skill_name(files: dict[str, str]) -> str:
    """The name in the front matter of a skill; its full form is checked where it is stored.

    Raises:
        InvalidRequest: There is no `SKILL.md` with a name.
    """
    first, *lines = files.get(_SKILL_FILE, "").removeprefix("\ufeff").splitlines() or [""]
    for line in lines if first.startswith("---") else ():
        key, colon, value = line.partition(":")
        if line.startswith("---"):
            break
        if colon and key.strip() == "name":
            return value.strip().strip("\"'")
    raise InvalidRequest(f"There is no {_SKILL_FILE} whose front matter has a name.")


def _read_folder(folder: Path) -> Iterator[tuple[str, bytes]]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            file = Path(parent, name)
            if not name.startswith(".") and not file.is_symlink():
                with file.open("rb") as opened:
                    yield file.relative_to(folder).as_posix(), opened.read(_MAX_BYTES + 1)


def _read_archive(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files of an archive; what stands in one folder with the `SKILL.md` is the skill."""
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        tops = [PurePosixPath(it.filename).parent for it in entries if _is_skill_file(it.filename)]
        top = min(tops, key=lambda folder: len(folder.parts), default=PurePosixPath())
        for entry in entries:
            inner = PurePosixPath(entry.filename)
            if not inner.is_relative_to(top):
                continue
            name = inner.relative_to(top)
            if not any(part.startswith(".") and part != ".." for part in name.parts):
                with archive.open(entry) as opened:
                    yield str(name), opened.read(_MAX_BYTES + 1)


def _is_skill_file(name: str) -> bool:
    return PurePosixPath(name).name == _SKILL_FILE


def _limit(found: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    size = 0
    for count, (name, data) in enumerate(found, 1):
        size += len(data)
        if count > _MAX_FILES or size > _MAX_BYTES:
            raise InvalidRequest(
                f"A skill has at most {_MAX_FILES:,} files and {_MAX_BYTES:,} bytes."
            )
        yield name, data


def _decode(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{name}: a file of a skill is a text in UTF-8.") from error
