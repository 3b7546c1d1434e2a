"""The folders of skills: finds them, and reads their files; no path leads out of one."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pegboard.errors import SourceUnavailable, ToolFailed

SKILL_FILE = "SKILL.md"
_MAX_BYTES = 1_000_000
_MAX_FILES = 500


def find_folders(paths: tuple[Path, ...], base_dir: Path) -> list[Path]:
    """The folders of skills, each once, in the order of paths and names.

    Raises:
        SourceUnavailable: A path is no folder, or has no skill in it.
    """
    found: dict[Path, None] = {}
    for path in paths:
        root = base_dir / path
        try:
            folders = [root] if (root / SKILL_FILE).exists() else sorted(_list_skills(root))
        except OSError as error:
            raise SourceUnavailable(f"'{path}' cannot be read: {error.strerror}") from error
        if not folders:
            raise SourceUnavailable(f"'{path}' has no folder with a {SKILL_FILE}")
        found.update(dict.fromkeys(folders))
    return list(found)


def read_text(path: Path, name: str) -> str:
    """The text of a file.

    Raises:
        SourceUnavailable: It is too large, no text, or cannot be read.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise SourceUnavailable(f"{name}: larger than {_MAX_BYTES:,} bytes")
        return path.read_bytes().decode()
    except OSError as error:
        raise SourceUnavailable(f"{name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SourceUnavailable(f"{name}: not a text in UTF-8") from error


def read_file(folder: Path, path: str) -> str:
    """The text of a file of a skill.

    Raises:
        ToolFailed: There is no such file in the folder, or it is no text.
    """
    inner = PurePosixPath(path.replace("\\", "/"))
    whole = folder.joinpath(*inner.parts) if "\x00" not in path else folder
    is_within = not inner.is_absolute() and ".." not in inner.parts
    if not is_within or not _is_in(whole, folder) or not whole.is_file():
        raise ToolFailed(f"The skill has no file '{path[:200]}'.")
    try:
        return read_text(whole, path)
    except SourceUnavailable as error:
        raise ToolFailed(f"The file cannot be read: {error.message}.") from error


def list_files(folder: Path) -> list[str]:
    """The paths of the files beside the `SKILL.md`, without hidden ones and links out of it."""
    found: list[str] = []
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if any(part.startswith(".") for part in inner.parts) or str(inner) == SKILL_FILE:
            continue
        if path.is_file() and _is_in(path, folder):
            found.append(inner.as_posix())
        if len(found) == _MAX_FILES:
            break
    return found


def _list_skills(root: Path) -> Iterator[Path]:
    return (item for item in root.iterdir() if (item / SKILL_FILE).exists())


def _is_in(path: Path, folder: Path) -> bool:
    """Whether a file lies in a folder once all links are followed."""
    return path.resolve().is_relative_to(folder.resolve())
