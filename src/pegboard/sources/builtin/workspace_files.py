"""File access below one folder, which no path can leave (a jail).

Each path is walked from the folder's descriptor, one name at a time, and no name may be a symbolic
link. So a link, a rename or `..` cannot lead out between a check and a use, even if another process
works in the folder.
"""

import errno
import os
import secrets
import stat
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from pegboard.errors import InvalidRequest, ToolFailed

_MAX_NAMES = 64
_MAX_PATH = 1024
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Not blocking: a pipe in place of a file must not hold the thread.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


EntryKind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceEntry:
    """A file or folder of the workspace.

    Attributes:
        path: The path from the root of the workspace, with `/`.
        kind: Links are not followed.
        size: The size of a file in bytes; else 0.
        modified: Unix seconds.
    """

    path: str
    kind: EntryKind
    size: int
    modified: float


class WorkspaceFiles:
    """Reads and writes below one folder.

    Args:
        root: The folder; created if it is missing. Its own path may have symbolic links.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, path: str, *, max_bytes: int) -> bytes:
        """Read a file.

        Raises:
            InvalidRequest: The path leads out or through a link, does not exist, is not a regular
                file, or is larger than `max_bytes`.
        """
        with self.open(path) as file, _translate_errors(path):
            data = file.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise InvalidRequest(f"'{path}' is larger than {max_bytes} bytes.")
        return data

    @contextmanager
    def open(self, path: str) -> Generator[BinaryIO]:
        """Open a file for reading.

        Raises:
            InvalidRequest: The path leads out or through a link, does not exist, or is not a
                regular file.
        """
        names = _names(path)
        with self._folder(names[:-1]) as folder, _translate_errors(path):
            descriptor = _open(folder, _last(names), path)
        with os.fdopen(descriptor, "rb") as file:
            yield file

    def write(self, path: str, data: bytes, *, replace: bool) -> bool:
        """Write a file atomically, creating missing folders; return whether it is new.

        Readers never see a partial file, and a link in its place is replaced, not followed.

        Raises:
            InvalidRequest: The path leads out or through a link, is not a regular file, or exists
                although `replace` is false.
        """
        names = _names(path)
        name = _last(names)
        with self._folder(names[:-1], create=True) as folder, _translate_errors(path):
            is_new = _status(folder, name) is None
            with _stage(folder, name, data, path=path, replace=replace) as temporary:
                _put(folder, temporary, name, replace=replace)
        return is_new

    def write_together(self, files: Mapping[str, bytes | Path]) -> None:
        """Write files into the root folder, in place of those of the same names.

        All are complete before the first one gets its name: where a name cannot be used, or the
        disk is full, the folder stays as it was.

        Args:
            files: Contents by name; a path is that of a complete file on the same file system,
                which is moved.

        Raises:
            InvalidRequest: A name has folders, or is that of something other than a regular file.
        """
        with self._folder([]) as folder, ExitStack() as stack:
            staged: dict[str, str] = {}
            for name, data in files.items():
                if _names(name) != [name]:
                    raise InvalidRequest(f"'{name}' is not a name without folders.")
                stage = _stage(folder, name, data, path=name, replace=True)
                staged[name] = stack.enter_context(stage)
            for name, temporary in staged.items():
                with _translate_errors(name):
                    _put(folder, temporary, name, replace=True)

    def entries(self, path: str, *, deep: bool = False) -> Iterator[WorkspaceEntry]:
        """Yield the entries of a folder by name; with `deep`, also those of its folders.

        Raises:
            InvalidRequest: The path leads out or through a link, or is not a folder.
        """
        pending = [_names(path)]
        first = True
        while pending:
            names = pending.pop()
            try:
                found = self._list(names)
            except InvalidRequest:
                if first:
                    raise
                continue  # removed or unreadable since its name was read
            first = False
            yield from found
            if deep and len(names) < _MAX_NAMES:
                folders = [item.path for item in found if item.kind == "folder"]
                pending += [item.split("/") for item in reversed(folders)]

    def _list(self, names: list[str]) -> list[WorkspaceEntry]:
        path = "/".join(names) or "."
        with self._folder(names) as folder, _translate_errors(path):
            # Names that are not UTF-8 have no JSON form, so no caller could request them.
            found = sorted(filter(_is_utf8, os.listdir(folder)))  # noqa: PTH208 - a descriptor
            statuses = [(name, _status(folder, name)) for name in found]
        prefix = "".join(f"{name}/" for name in names)
        return [_entry(prefix + name, status) for name, status in statuses if status is not None]

    @contextmanager
    def _folder(self, names: list[str], *, create: bool = False) -> Generator[int]:
        """Open the folder at these names."""
        path = "/".join(names) or "."
        with _translate_errors(path):
            self._root.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with _translate_errors(path):
                for name in names:
                    if create:
                        with suppress(FileExistsError):
                            os.mkdir(name, dir_fd=descriptor)
                    following = os.open(name, _FOLDER, dir_fd=descriptor)
                    os.close(descriptor)
                    descriptor = following
            yield descriptor
        finally:
            os.close(descriptor)


def _names(path: str) -> list[str]:
    if path.startswith("/"):
        raise InvalidRequest(f"'{path}' is absolute; paths start in the workspace: 'notes/a.txt'.")
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names:
        raise InvalidRequest(f"'{path}' leads out of the workspace; '..' is not allowed.")
    if "\0" in path or len(path) > _MAX_PATH or len(names) > _MAX_NAMES:
        raise InvalidRequest("The path is too long, or not a path.")
    return names


def _last(names: list[str]) -> str:
    if not names:
        raise InvalidRequest("The path names a folder; a file is needed.")
    return names[-1]


def _open(folder: int, name: str, path: str) -> int:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
        descriptor = os.open(name, _READ, dir_fd=folder)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
    raise InvalidRequest(f"'{path}' is not a regular file.")


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


@contextmanager
def _stage(
    folder: int, name: str, data: bytes | Path, *, path: str, replace: bool
) -> Generator[str]:
    """Write or move a complete temporary file that can take this name, and remove it otherwise."""
    with _translate_errors(path):
        before = _status(folder, name)
        if before is not None and not stat.S_ISREG(before.st_mode):
            raise InvalidRequest(f"'{path}' is not a regular file.")
        if before is not None and not replace:
            raise InvalidRequest(f"'{path}' exists already; use mode 'overwrite' to replace it.")
        mode = 0o666 if before is None else stat.S_IMODE(before.st_mode) & 0o777
        temporary = f".{secrets.token_hex(8)}.tmp"
        try:
            if isinstance(data, Path):
                os.rename(data, temporary, dst_dir_fd=folder)
            else:
                _write_all(folder, temporary, data, mode=mode, keep_mode=before is not None)
            yield temporary
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)


def _write_all(folder: int, name: str, data: bytes, *, mode: int, keep_mode: bool) -> None:
    descriptor = os.open(name, _CREATE, mode, dir_fd=folder)
    with os.fdopen(descriptor, "wb") as file:
        if keep_mode:
            os.fchmod(file.fileno(), mode)  # the umask took some of it away
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _put(folder: int, temporary: str, name: str, *, replace: bool) -> None:
    if replace:
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    # A hard link fails when the name is taken: two writers cannot both create it.
    os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    os.unlink(temporary, dir_fd=folder)


def _is_utf8(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _entry(path: str, status: os.stat_result) -> WorkspaceEntry:
    kind: EntryKind
    if stat.S_ISREG(status.st_mode):
        kind = "file"
    elif stat.S_ISDIR(status.st_mode):
        kind = "folder"
    else:
        kind = "link" if stat.S_ISLNK(status.st_mode) else "other"
    size = status.st_size if kind == "file" else 0
    return WorkspaceEntry(path=path, kind=kind, size=size, modified=status.st_mtime)


@contextmanager
def _translate_errors(path: str) -> Generator[None]:
    """Translate errors into messages with the given path, never the workspace's own."""
    try:
        yield
    except FileNotFoundError as error:
        raise InvalidRequest(f"'{path}' does not exist.") from error
    except FileExistsError as error:
        raise InvalidRequest(f"'{path}' exists already.") from error
    except NotADirectoryError as error:
        raise InvalidRequest(f"'{path}' is not a folder, or leads through a link.") from error
    except IsADirectoryError as error:
        raise InvalidRequest(f"'{path}' is a folder.") from error
    except PermissionError as error:
        raise ToolFailed(f"The workspace does not permit this for '{path}'.") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise InvalidRequest(f"'{path}' is a link or leads through one.") from error
        if error.errno in (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL):
            raise InvalidRequest(f"'{path}' is not a name that can be used here.") from error
        raise ToolFailed(f"The file system reports an error for '{path}'.") from error
