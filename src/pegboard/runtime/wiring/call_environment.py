"""What the path of a call is given: policy, settings, stores and who is told."""

from typing import TYPE_CHECKING

from pegboard.access import Policy
from pegboard.execution import CallDefaults as CallSettings
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.runtime.secret_mask import Masking
from pegboard.runtime.settings import Settings

if TYPE_CHECKING:
    from pegboard.storage import Storage


def kit(
    policy: Policy,
    settings: Settings,
    storage: "Storage",
    emitter: Emitter,
    masking: Masking,
) -> CallEnvironment:
    """The kit of a board."""
    return CallEnvironment(
        policy=policy,
        settings=CallSettings(
            attempt_timeout=settings.attempt_timeout,
            call_timeout=settings.call_timeout,
            max_result_bytes=settings.max_result_bytes,
            keep_arguments=settings.store_arguments,
            approval_ttl=settings.approval_ttl,
            key_lease=settings.run_lease if settings.database is not None else 0.0,
        ),
        approvals=storage.approvals,
        emitter=emitter,
        results=storage.results,
        outcomes=storage.outcomes,
        journal=storage.journal,
        redact=masking.for_calls,
    )
