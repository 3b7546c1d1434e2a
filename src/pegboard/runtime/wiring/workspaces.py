"""The workspaces of conversations: one folder each, below the workspaces of the board."""

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.ports.conversation_store import ConversationStore
from pegboard.core.ports.durability import RunStart
from pegboard.core.principal import Principal
from pegboard.sources.builtin.workspace_files import WorkspaceFiles

_FOLDER = "conversations"
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
        self, conversation: str, principal: Principal, *, name: str, data: bytes
    ) -> None:
        """Write a file into the workspace, in place of one of the same name."""
        files = WorkspaceFiles(self.folder(conversation, principal))
        await asyncio.to_thread(files.write, name, data, replace=True)

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
