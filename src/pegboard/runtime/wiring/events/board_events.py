"""Emits an event for each change of a board's rules, for the audit trail."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from msgspec import to_builtins

from pegboard.access import Policy
from pegboard.core.event import BoardChanged, digest_of
from pegboard.execution import CallEnvironment
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.sources.state import SourceState

_SECTIONS = ("pinning", "healing", "catalogue")
"""Sections of a board file that grant permissions to upstreams, runs and registrations."""


def report_kill_switches(kit: CallEnvironment) -> None:
    """Emit an event for each change of a kill switch from now on."""

    def told(action: str, subject: str, why: str) -> None:
        kit.emitter.emit(
            BoardChanged(
                kind="switch",
                action=action,
                at=kit.now(),
                subject=subject,
                detail={"reason": why} if why else {},
            )
        )

    kit.switches.on_change = told


def report_policy_change(kit: CallEnvironment, before: Policy, after: Policy) -> None:
    """Emit an event when a reload has changed the policy."""
    old, new = _rules(before), _rules(after)
    if old == new:
        return
    changed = {name: new[name] for name in new if old[name] != new[name]}
    detail = {"before": digest_of(old), "after": digest_of(new), "rules": changed}
    kit.emitter.emit(BoardChanged(kind="policy", action="changed", at=kit.now(), detail=detail))


def report_section_changes(kit: CallEnvironment, before: Board, after: Board) -> None:
    """Emit an event for each section of permissions that a reload has changed."""
    for name in _SECTIONS:
        old, new = (getattr(board, name).model_dump(mode="json") for board in (before, after))
        if old == new:
            continue
        detail = {"before": digest_of(old), "after": digest_of(new), "rules": new}
        kit.emitter.emit(
            BoardChanged(kind="policy", action="changed", at=kit.now(), subject=name, detail=detail)
        )


def reload_event(
    known: tuple[LoadedBoard, Mapping[str, SourceState]],
    new: tuple[LoadedBoard, Mapping[str, SourceState]],
    *,
    at: float,
) -> BoardChanged:
    """The event for a reload that is about to happen.

    Args:
        known: The current board, and its sources by name.
        new: The new board, and its sources by name.
        at: Unix seconds.
    """
    (before, had), (after, has) = known, new
    path = after.path
    return BoardChanged(
        kind="board",
        action="reload",
        at=at,
        subject="" if path is None else path.name,
        detail={
            "before": _digest_of_file(before),
            "after": _digest_of_file(after),
            "added": sorted(has.keys() - had.keys()),
            "removed": sorted(had.keys() - has.keys()),
            "changed": sorted(
                name for name in has.keys() & had.keys() if has[name].opener != had[name].opener
            ),
        },
    )


def _digest_of_file(loaded: LoadedBoard) -> str:
    """The digest of a file as written, with the names of its variables instead of their values."""
    return "" if loaded.located is None else digest_of(loaded.located.value)


def _rules(policy: Policy) -> dict[str, Any]:
    names = [item.name for item in fields(policy) if item.compare]
    return {name: to_builtins(getattr(policy, name), enc_hook=str, str_keys=True) for name in names}
