"""The workspaces of conversations: one folder each, below the workspaces of the board."""

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from pegboard.core.context import ToolContext
from pegboard.core.ports.conversation_files import (
    ConversationFile,
    ConversationFileContent,
    ConversationFileList,
    NewContent,
)
from pegboard.core.ports.conversation_store import ConversationStore
from pegboard.core.ports.durability import RunStart
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.workspace_files import WorkspaceFiles

_FOLDER = "conversations"
_CHUNK = 256 * 1024
_ID = re.compile(r"[A-Za-z0-9_]{1,100}")


class ConversationFolders:
    """Implements `ConversationFiles` on a file system.

    The owner is part of the path, so that a run of another caller that names the conversation works
    in another folder.

    Args:
        root: The folder of workspaces; the folders below it are made when they are needed.
    """

    def __init__(self, root: Path) -> None:
        self._root = root / _FOLDER

    def folder(self, conversation: str, principal: Principal) -> Path:
        """The workspace of a conversation."""
        owner = sha256(principal.owner.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        is_plain = _ID.fullmatch(conversation) is not None
        name = conversation if is_plain else sha256(conversation.encode()).hexdigest()
        return self._root / f"{owner}-{name}"

    async def write(
        self, conversation: str, principal: Principal, files: Mapping[str, NewContent]
    ) -> None:
        """Write files into the workspace, in place of those of the same names: all, or none."""
        workspace = WorkspaceFiles(self.folder(conversation, principal))
        async with AsyncExitStack() as stack:
            ready: dict[str, bytes | Path] = {}
            incoming: Path | None = None
            for number, (name, content) in enumerate(files.items()):
                if isinstance(content, bytes):
                    ready[name] = content
                    continue
                if incoming is None:
                    incoming = await asyncio.to_thread(_make_incoming, self._root)
                    stack.push_async_callback(asyncio.to_thread, shutil.rmtree, incoming)
                ready[name] = incoming / str(number)
                await _receive(content, incoming / str(number))
            await asyncio.to_thread(workspace.write_together, ready)

    async def list(
        self, conversation: str, principal: Principal, *, limit: int
    ) -> ConversationFileList:
        """The files of the workspace and its folders, of a large one the first that are found."""
        folder = self.folder(conversation, principal)
        return await asyncio.to_thread(_list_files, folder, limit)

    async def open(
        self, conversation: str, principal: Principal, path: str
    ) -> ConversationFileContent | None:
        """A file of the workspace; None when there is none at this path."""
        folder = self.folder(conversation, principal)
        file = await asyncio.to_thread(_find_file, folder, path)
        if file is None:
            return None
        return ConversationFileContent(file=file, chunks=_read(WorkspaceFiles(folder), file))

    async def remove(self, conversation: str, principal: Principal) -> None:
        """Delete the workspace, if there is one."""
        folder = self.folder(conversation, principal)
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def forget_with(
        self, store: ConversationStore, forget: Callable[[float], Awaitable[int]]
    ) -> Callable[[float], Awaitable[int]]:
        """The same, and delete old workspaces whose conversations are there no more.

        A folder that was changed since stays, so that a server with another database by mistake
        deletes no files that are in use.
        """

        async def forget_all(before: float) -> int:
            count = await forget(before)
            for folder in await asyncio.to_thread(_list_folders, self._root, before):
                if await store.get(folder.name.partition("-")[2]) is None:
                    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            return count

        return forget_all

    def make_context(self, start: RunStart) -> ToolContext[Any]:
        """The context of the calls of a run: that of a conversation works in its workspace."""
        conversation = _find_conversation(start.graph)
        workspace = self.folder(conversation, start.principal) if conversation else None
        return ToolContext(
            principal=start.principal, workspace=workspace, workspace_yields=workspace is not None
        )


def _list_files(folder: Path, limit: int) -> ConversationFileList:
    if not folder.is_dir():
        return ConversationFileList()
    found: list[ConversationFile] = []
    for entry in WorkspaceFiles(folder).entries("", deep=True):
        if entry.kind != "file":
            continue
        if len(found) == limit:
            return ConversationFileList(files=_sort(found), has_more=True)
        found.append(ConversationFile(path=entry.path, size=entry.size, modified_at=entry.modified))
    return ConversationFileList(files=_sort(found))


def _sort(files: list[ConversationFile]) -> tuple[ConversationFile, ...]:
    return tuple(sorted(files, key=lambda file: file.path))


def _find_file(folder: Path, path: str) -> ConversationFile | None:
    if not folder.is_dir():
        return None
    try:
        with WorkspaceFiles(folder).open(path) as file:
            status = os.fstat(file.fileno())
    except InvalidRequest:  # there is none, or the path leads out or through a link
        return None
    return ConversationFile(path=path, size=status.st_size, modified_at=status.st_mtime)


async def _read(workspace: WorkspaceFiles, known: ConversationFile) -> AsyncGenerator[bytes]:
    """Read a file up to the size that was announced, since it may grow meanwhile."""
    with ExitStack() as stack:
        file = await asyncio.to_thread(stack.enter_context, workspace.open(known.path))
        left = known.size
        while left > 0 and (chunk := await asyncio.to_thread(file.read, min(_CHUNK, left))):
            left -= len(chunk)
            yield chunk


def _make_incoming(root: Path) -> Path:
    """Make a folder beside the workspaces, from which complete files are moved into one."""
    root.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="incoming-", dir=root))


async def _receive(chunks: AsyncIterator[bytes], path: Path) -> None:
    """Write a content while it arrives, and have it on the disk then."""

    def sync(file: BinaryIO) -> None:
        file.flush()
        os.fsync(file.fileno())

    with await asyncio.to_thread(path.open, "xb") as file:
        async for chunk in chunks:
            await asyncio.to_thread(file.write, chunk)
        await asyncio.to_thread(sync, file)


def _list_folders(root: Path, before: float) -> list[Path]:
    """The folders that nothing was added to or taken from since."""
    found = root.iterdir() if root.is_dir() else ()
    return [item for item in found if item.is_dir() and item.stat().st_mtime < before]


def _find_conversation(graph: Mapping[str, Any]) -> str:
    """The conversation that a run answers; empty for none."""
    nodes: Any = graph.get("nodes") or ()
    if len(nodes) != 1:
        return ""
    config: Any = nodes[0].get("config") or {}
    return str(config.get("conversation", ""))
