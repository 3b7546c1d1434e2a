"""What somebody is about to change: in the audit trail first, where the trail is required."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import structs

from pegboard.core.event import BoardChanged, digest_of
from pegboard.core.ports.audit_store import AuditEntry, Prove, skip_proof
from pegboard.errors import PegboardError, Unavailable
from pegboard.execution.environment import CallEnvironment

_MOST_NAMED = 500
"""So many names of a change stand in its decision; its digest stands for all of them."""


@asynccontextmanager
async def record_in_audit(
    prove: Prove, change: Callable[[], BoardChanged], *, kit: CallEnvironment, done: str = ""
) -> AsyncGenerator[None]:
    """Let nothing inside be done before the trail has it; what then fails, it hears of too.

    Args:
        prove: Has it first; with `skip_proof` nothing is waited for, made or told here.
        change: Makes what is about to be done, with the verb as its action: `register`, `reload`.
        kit: Whose clock and listeners are used.
        done: The action under which it is told that all went well; empty where what is inside
            tells that itself.

    Raises:
        AuditUnavailable: The trail cannot take it: nothing inside is done.
    """
    if prove is skip_proof:
        yield
        return
    wanted = change()
    body = {
        **wanted.detail,
        "about": wanted.kind,
        "action": wanted.action,
        "subject": wanted.subject,
        "by": wanted.by,
    }
    entry = AuditEntry(kind="decision", at=wanted.at, tenant=wanted.tenant, body=body)
    try:
        await prove(entry)
    except asyncio.CancelledError as error:  # the trail may have it all the same
        kit.emitter.emit(unfinished(wanted, error, at=kit.now(), is_begun=False))
        raise
    try:
        yield
    except BaseException as error:
        kit.emitter.emit(unfinished(wanted, error, at=kit.now()))
        raise
    if done:
        kit.emitter.emit(structs.replace(wanted, action=done, at=kit.now()))


def unfinished(
    wanted: BoardChanged, error: BaseException, *, at: float, is_begun: bool = True
) -> BoardChanged:
    """What the trail hears of a decision that was not, or perhaps not, carried out.

    Args:
        wanted: What was about to be done.
        error: What came between.
        at: Unix seconds.
        is_begun: Whether that came after the first of it could be done.
    """
    known = isinstance(error, PegboardError)
    return structs.replace(
        wanted,
        action="unknown" if is_begun and _may_be_done(error) else "failed",
        at=at,
        detail={
            "action": wanted.action,
            "error_code": error.code if known else "",
            "reason": error.message if known else type(error).__name__,
        },
    )


def named(items: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """What a decision says of the things that it is about, however many they are.

    Args:
        items: The name of each, and the digest of what becomes of it.
    """
    pairs = list(items)
    return {
        "count": len(pairs),
        "names": [name for name, _ in pairs[:_MOST_NAMED]],
        "digest": digest_of([list(pair) for pair in pairs]),
    }


def _may_be_done(error: BaseException) -> bool:
    """Whether nobody knows: it was cut off, or the store was, or something is broken."""
    if isinstance(error, Unavailable):
        return not error.nothing_done
    return isinstance(error, asyncio.CancelledError) or not isinstance(error, PegboardError)
