"""Deletes expired records of a board."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.event import BoardChanged
from pegboard.errors import PegboardError
from pegboard.execution import CallEnvironment
from pegboard.features.files.uploads import MAX_IDLE
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.storage import is_audited
from pegboard.runtime.wiring.workspaces import ConversationFolders

if TYPE_CHECKING:
    from pegboard.features.files import Files
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.storage")
_DAY = 86_400.0
_EVERY = 3_600.0
_BY = "retention"

Forget = Callable[[float], Awaitable[int]]


def start_retention(
    settings: Settings,
    storage: "Storage",
    kit: CallEnvironment,
    stack: AsyncExitStack,
    *,
    folders: ConversationFolders,
    files: "Files",
) -> None:
    """Delete expired records now and every hour, until the stack is closed.

    Servers that share a database may all do so.
    """

    async def watch() -> None:
        while True:
            await delete_expired(settings, storage, kit, folders=folders, files=files)
            await asyncio.sleep(_EVERY)

    watching = asyncio.create_task(watch(), name="let go of what is old")

    async def stop() -> None:
        watching.cancel()
        await asyncio.wait([watching])

    stack.push_async_callback(stop)


async def delete_expired(
    settings: Settings,
    storage: "Storage",
    kit: CallEnvironment,
    *,
    folders: ConversationFolders | None = None,
    files: "Files | None" = None,
) -> dict[str, int]:
    """Delete expired records and emit an event; return their number by kind."""
    gone: dict[str, int] = {}
    for kind, (days, forget) in _rules(settings, storage, folders, files).items():
        if not days:
            continue
        with log_and_continue(_LOG, f"retention: old {kind} could not be deleted"):
            try:
                gone[kind] = await forget(kit.now() - days * _DAY)
            except PegboardError as error:
                _LOG.warning(
                    "retention: old %s could not be deleted, trying again later: %s", kind, error
                )
    deleted = {kind: number for kind, number in gone.items() if number and kind != "audit"}
    if deleted:  # the audit trail has a word of its own for what it has lost
        event = BoardChanged(
            kind="storage", action="forgotten", at=kit.now(), by=_BY, detail=deleted
        )
        kit.emitter.emit(event)
    return gone


def _rules(
    settings: Settings,
    storage: "Storage",
    folders: ConversationFolders | None,
    files: "Files | None",
) -> dict[str, tuple[float, Forget]]:
    conversations = storage.conversations

    async def forget_conversations(before: float) -> int:
        return await conversations.forget(before=before)

    async def forget_audit(before: float) -> int:
        said = await storage.audit.retain(since=before, by=_BY)
        return 0 if said is None else 1

    uploads: dict[str, tuple[float, Forget]] = {}
    if files is not None:
        delete_idle = files.uploads.delete_idle
        uploads["uploads"] = MAX_IDLE / _DAY, lambda before: delete_idle(before=before)
    upkeep, runs = storage.upkeep, storage.runs
    return {
        "runs": (settings.keep_runs_days, lambda before: runs.forget(finished_before=before)),
        "conversations": (
            settings.keep_conversations_days,
            folders.forget_with(conversations, forget_conversations)
            if folders is not None
            else forget_conversations,
        ),
        "evidence": (
            settings.keep_conversations_days,
            lambda before: storage.evidence.forget(before=before),
        ),
        "taints": (  # after them: a taint stays as long as its run or conversation
            settings.keep_runs_days,
            lambda before: storage.taints.forget(before=before),
        ),
        "plans": (  # after the runs: a plan stays as long as a run of it
            settings.keep_plans_days,
            lambda before: upkeep.forget_plans(before=before),
        ),
        "approvals": (
            settings.keep_approvals_days,
            lambda before: upkeep.forget_approvals(before=before),
        ),
        **uploads,
        "calls": (settings.keep_history_days, lambda before: upkeep.forget_calls(before=before)),
        "audit": (settings.keep_audit_days if is_audited(settings) else 0.0, forget_audit),
    }
