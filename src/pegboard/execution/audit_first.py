"""Record a change of the board in a required audit trail before it is made."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from msgspec import structs

from pegboard.core.event import BoardChanged, digest_of
from pegboard.core.ports.audit_store import AuditEntry, Prove, skip_proof
from pegboard.errors import PegboardError, Unavailable
from pegboard.execution.environment import CallEnvironment

_MAX_NAMES = 500
"""Names of a change that its record lists; its digest covers all of them."""


@asynccontextmanager
async def record_in_audit(
    prove: Prove,
    change: Callable[[], BoardChanged],
    *,
    environment: CallEnvironment,
    done: str = "",
) -> AsyncGenerator[None]:
    """Run the body only once the audit trail has recorded the change; record its failure too.

    Args:
        prove: Writes the record; with `unproved` this context manager does nothing.
        change: Makes the record, with the verb as its action: `register`, `reload`.
        environment: The clock and the listeners.
        done: The action to report when the body has succeeded; empty where the body reports it.

    Raises:
        AuditUnavailable: The trail cannot be written: the body does not run.
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
    except asyncio.CancelledError as error:  # the record may have been written all the same
        environment.emitter.emit(
            describe_unfinished(wanted, error, at=environment.now(), is_begun=False)
        )
        raise
    try:
        yield
    except BaseException as error:
        environment.emitter.emit(describe_unfinished(wanted, error, at=environment.now()))
        raise
    if done:
        environment.emitter.emit(structs.replace(wanted, action=done, at=environment.now()))


def describe_unfinished(
    wanted: BoardChanged, error: BaseException, *, at: float, is_begun: bool = True
) -> BoardChanged:
    """The record of a change that was not, or perhaps not, made.

    Args:
        wanted: The intended change.
        error: Why it was not completed.
        at: Unix seconds.
        is_begun: Whether part of the change may have been made.
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


def summarize_names(items: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The count, names and digest of the items of a change, for its record.

    Args:
        items: The name of each item and the digest of its new definition.
    """
    pairs = list(items)
    return {
        "count": len(pairs),
        "names": [name for name, _ in pairs[:_MAX_NAMES]],
        "digest": digest_of([list(pair) for pair in pairs]),
    }


def _may_be_done(error: BaseException) -> bool:
    """Whether the change may have been made in spite of the error."""
    if isinstance(error, Unavailable):
        return not error.nothing_done
    return isinstance(error, asyncio.CancelledError) or not isinstance(error, PegboardError)
