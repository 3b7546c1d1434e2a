"""Contents of files in a folder of this machine."""

import asyncio
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, ParamSpec, TypeVar

from pegboard.blobs.digest_chunks import DigestChunks
from pegboard.blobs.keys import check_key
from pegboard.core.ports.accounts.blob_store import StoredBlob
from pegboard.errors import Unavailable

P = ParamSpec("P")
T = TypeVar("T")

_BLOCK = 1024 * 1024
_UNFINISHED = ".part"
_TRIES = 3
"""How often a folder is made again that a deletion has removed in between."""


class LocalBlobs:
    """Implements `BlobStore` in a folder: a file for each content, in folders for its key.

    Args:
        root: The folder, made when it is needed; None for a temporary one, which `close` removes.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._given = root
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._is_closed = False

    async def put(self, key: str, chunks: AsyncIterator[bytes], /, *, limit: int) -> StoredBlob:
        """Write a content beside its place, and rename it once it is on the disk."""
        path = self._path(key)
        passing = DigestChunks(chunks, limit=limit, block=_BLOCK)
        file, unfinished = await _run(_create, path)
        try:
            with file:
                async for block in passing:
                    await _run(file.write, block)
                await _run(_sync, file)
            await _run(_rename, unfinished, path)
        except BaseException:
            with suppress(OSError):
                unfinished.unlink()
            raise
        return passing.to_blob(key)

    async def find(self, key: str, /) -> int | None:
        """The size of a content."""
        return await _run(_find_size, self._path(key))

    async def read(
        self, key: str, /, *, start: int = 0, length: int | None = None
    ) -> AsyncGenerator[bytes]:
        """A content, or a part of it, while it is iterated."""
        file = await _run(_open, self._path(key), start)
        if file is None:
            raise FileNotFoundError(key)
        with file:
            left = length
            while left is None or left > 0:
                most = _BLOCK if left is None else min(_BLOCK, left)
                block = await _run(file.read, most)
                if not block:
                    return
                left = None if left is None else left - len(block)
                yield block

    async def delete(self, key: str, /) -> bool:
        """Delete a content."""
        return await _run(_delete, self._path(key), self._root)

    async def delete_below(self, prefix: str, /, *, keep: str = "") -> None:
        """Delete all contents below a key, except one."""
        kept = self._path(keep) if keep else None
        await _run(_delete_below, self._path(prefix), kept, self._root)

    async def close(self) -> None:
        """Remove a temporary folder; safe to call twice."""
        self._is_closed = True
        temporary, self._temporary = self._temporary, None
        if temporary is not None:  # it is removed even if the caller is cancelled meanwhile
            await asyncio.shield(asyncio.to_thread(temporary.cleanup))

    @property
    def _root(self) -> Path:
        if self._given is not None:
            return self._given
        if self._is_closed:  # another folder would never be removed
            raise Unavailable("The board is closed, and its temporary files with it.")
        if self._temporary is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="pegboard-files-")
        return Path(self._temporary.name)

    def _path(self, key: str) -> Path:
        return self._root.joinpath(*check_key(key).split("/"))


def _create(path: Path) -> tuple[BinaryIO, Path]:
    """Open a new file beside a path, for this user alone."""
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(8)}{_UNFINISHED}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    for last in reversed(range(_TRIES)):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            return os.fdopen(os.open(unfinished, flags, 0o600), "wb"), unfinished
        except FileNotFoundError:
            if not last:
                raise
    raise AssertionError


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _rename(unfinished: Path, path: Path) -> None:
    """Give a complete file its name, in a way that survives a power failure."""
    unfinished.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _find_size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return None


def _open(path: Path, start: int) -> BinaryIO | None:
    try:
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")
    except (FileNotFoundError, NotADirectoryError):
        return None
    file.seek(start)
    return file


def _delete(path: Path, root: Path) -> bool:
    try:
        path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        return False
    _remove_empty(path.parent, root)
    return True


def _delete_below(folder: Path, kept: Path | None, root: Path) -> None:
    if kept is None or not kept.is_relative_to(folder):
        shutil.rmtree(folder, ignore_errors=not folder.exists())
        _remove_empty(folder.parent, root)
        return
    for path in [item for item in folder.rglob("*") if item.is_file() and item != kept]:
        path.unlink(missing_ok=True)
        _remove_empty(path.parent, folder)


def _remove_empty(folder: Path, root: Path) -> None:
    """Remove folders that have nothing left in them, up to the root."""
    while folder != root and folder.is_relative_to(root):
        try:
            folder.rmdir()
        except OSError:  # something is in it, or it is gone
            if folder.exists():
                return
        folder = folder.parent


async def _run(function: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Run in a thread; an error of the file system names no path of this machine to callers."""
    try:
        return await asyncio.to_thread(function, *args, **options)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Unavailable(f"The files of the board cannot be used: {reason}.") from error
