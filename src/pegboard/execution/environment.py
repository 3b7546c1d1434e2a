"""The environment of a call: policy, stores, clocks, limits and defaults shared by its steps."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import cast

from pegboard.access import Policy, Switches
from pegboard.access.visibility import ResourceIndex
from pegboard.core.ports.accounts.credentials import CallerCredentials
from pegboard.core.ports.approval_store import ApprovalStore
from pegboard.core.ports.call_stores import Journal, OutcomeStore, ResultStore
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.stores.memory_approvals import MemoryApprovals
from pegboard.core.stores.memory_results import MemoryOutcomes, MemoryResults
from pegboard.core.stores.memory_taints import MemoryTaints
from pegboard.execution.cache import ResultCache
from pegboard.execution.emitter import Emitter
from pegboard.execution.in_flight_calls import InFlightCalls
from pegboard.execution.limits.breakers import Breakers
from pegboard.execution.limits.limiters import Limiters
from pegboard.execution.limits.quotas import QuotaMeter
from pegboard.execution.trust_ledger import TrustLedger


def _no_reason(_name: str) -> str:
    return ""


def _no_pending_source(_name: str) -> asyncio.Event | None:
    return None


async def _no_conversation(_run_id: str) -> Conversation | None:
    return None


async def _no_name(_principal_id: str) -> str:
    return ""


_NO_LEDGER = cast("TrustLedger", None)
_IN_MEMORY = cast("ApprovalStore", None)
"""Marks a default that needs the clock of the environment, and is made in `__post_init__`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDefaults:
    """Defaults for tools that set no value of their own; seconds and bytes.

    Attributes:
        attempt_timeout: Limit of one attempt of a tool; 0 for no limit.
        call_timeout: Limit of a whole call, with waits and retries, when the caller gives no
            deadline; 0 for no limit.
        max_wait: Longest wait for a rate or concurrency limit; at 0 a call is refused at once.
        max_result_bytes: Size above which a result is stored and paged; 0 for no limit.
        result_ttl: How long a stored result is kept; at 0 its handle has expired at once.
        batch_concurrency: Calls of one batch in flight at once; 0 for no limit.
        approval_ttl: How long an approval waits for its decision, and how long the decision then
            holds; 0 for no limit.
        key_lease: How long a call holds an idempotency key without renewing it, where servers share
            the outcomes; 0 where they do not.
        keep_arguments: Whether records may quote arguments. Otherwise they are removed from the
            operator's detail of an error.
    """

    attempt_timeout: float = 60.0
    call_timeout: float = 300.0
    max_wait: float = 30.0
    max_result_bytes: int = 100_000
    result_ttl: float = 24 * 3600.0
    batch_concurrency: int = 16
    approval_ttl: float = 24 * 3600.0
    key_lease: float = 0.0
    keep_arguments: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnvironment:
    """Everything a call needs beside its tool.

    Attributes:
        approvals: Approval requests and their decisions; in memory unless given.
        trust: Which results are trusted, and which runs have read others; in memory unless given.
        in_flight_calls: Calls with an idempotency key that run in this process; environments that
            share `outcomes` share these too.
        conversation_of: The conversation in which a run answers; its standing approvals hold for
            the calls of that run.
        name_of: The name of a principal's account; empty for one that has no account.
        handle_of: Its handle; empty as well.
        journal: Stores the start of a write before it runs; None for no journal.
        credentials: Finds the credentials of callers; None where none are stored.
        redact: Removes secrets from a text; None when there are none.
        quotas: Counts what accounts and organisations use; None where nothing is counted.
        resource_index: Who may see which sources; those that nobody owns are everybody's.
        running_counts: Number of running calls by tool, for metrics; None counts nothing.
        why_missing: Why there is no tool of this name now; empty when nothing is known of it.
        pending_source: An event that is set once the source of this tool has answered; None when no
            source is waited for.
    """

    policy: Policy = field(default_factory=Policy)
    switches: Switches = field(default_factory=Switches)
    resource_index: ResourceIndex = field(default_factory=ResourceIndex)
    settings: CallDefaults = field(default_factory=CallDefaults)
    emitter: Emitter = field(default_factory=Emitter)
    results: ResultStore = field(default_factory=MemoryResults)
    outcomes: OutcomeStore = field(default_factory=MemoryOutcomes)
    approvals: ApprovalStore = _IN_MEMORY
    trust: TrustLedger = _NO_LEDGER
    conversation_of: Callable[[str], Awaitable[Conversation | None]] = _no_conversation
    name_of: Callable[[str], Awaitable[str]] = _no_name
    handle_of: Callable[[str], Awaitable[str]] = _no_name
    in_flight_calls: InFlightCalls = field(default_factory=InFlightCalls)
    journal: Journal | None = None
    cache: ResultCache = field(default_factory=ResultCache)
    limiters: Limiters = field(default_factory=Limiters)
    quotas: QuotaMeter | None = None
    breakers: Breakers = field(default_factory=Breakers)
    credentials: CallerCredentials | None = None
    redact: Callable[[str], str] | None = None
    running_counts: dict[str, int] | None = None
    why_missing: Callable[[str], str] = _no_reason
    pending_source: Callable[[str], asyncio.Event | None] = _no_pending_source
    random: Callable[[], float] = random.random
    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        if self.approvals is _IN_MEMORY:
            object.__setattr__(self, "approvals", MemoryApprovals(now=self.now))
        if self.trust is _NO_LEDGER:
            object.__setattr__(self, "trust", TrustLedger(MemoryTaints(), self.conversation_of))
