"""The environment of calls: policy, settings, stores and listeners."""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from pegboard.access import Policy
from pegboard.core.ports.accounts.credentials import CallerCredentials
from pegboard.core.ports.accounts.identity_store import IdentityStore, User
from pegboard.core.ports.conversation_store import find_conversation_of_run, find_messages
from pegboard.errors import Unavailable
from pegboard.execution import CallDefaults as CallSettings
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.execution.trust_ledger import TrustLedger
from pegboard.runtime.missing_tools import MissingTools
from pegboard.runtime.secret_mask import SecretMask
from pegboard.runtime.settings import Settings

if TYPE_CHECKING:
    from pegboard.storage import Storage


def build_call_environment(
    policy: Policy,
    settings: Settings,
    storage: "Storage",
    emitter: Emitter,
    masking: SecretMask,
    missing: MissingTools,
    *,
    in_flight: dict[str, int] | None,
    credentials: CallerCredentials,
) -> CallEnvironment:
    """Build the environment of a board's calls."""
    conversation_of = partial(find_conversation_of_run, storage.conversations)
    return CallEnvironment(
        policy=policy,
        resource_index=missing.index,
        settings=CallSettings(
            attempt_timeout=settings.attempt_timeout,
            call_timeout=settings.call_timeout,
            max_result_bytes=settings.max_result_bytes,
            keep_arguments=settings.store_arguments,
            approval_ttl=settings.approval_ttl,
            key_lease=settings.run_lease if settings.database is not None else 0.0,
        ),
        approvals=storage.approvals,
        trust=TrustLedger(
            storage.taints, conversation_of, partial(find_messages, storage.conversations)
        ),
        conversation_of=conversation_of,
        name_of=partial(_find_name, storage.identity),
        handle_of=partial(_find_handle, storage.identity),
        emitter=emitter,
        results=storage.results,
        outcomes=storage.outcomes,
        journal=storage.journal,
        credentials=credentials,
        redact=masking.for_calls,
        running_counts=in_flight,
        why_missing=missing.why,
        pending_source=missing.coming,
    )


async def _find_name(identity: IdentityStore, principal_id: str) -> str:
    user = await _find_user(identity, principal_id)
    return "" if user is None else user.name


async def _find_handle(identity: IdentityStore, principal_id: str) -> str:
    user = await _find_user(identity, principal_id)
    return "" if user is None else user.handle


async def _find_user(identity: IdentityStore, principal_id: str) -> User | None:
    """The account of a principal; a store that does not answer must not change what a call says."""
    with suppress(Unavailable):
        return await identity.user(principal_id)
    return None
