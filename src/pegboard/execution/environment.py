"""What the steps work with: policy, ports and defaults, put together by whoever owns a registry."""

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from pegboard.access import Policy, Switches
from pegboard.core.memory_approvals import MemoryApprovals
from pegboard.core.memory_results import MemoryOutcomes, MemoryResults
from pegboard.core.ports.approval_store import ApprovalStore
from pegboard.core.ports.call_stores import Journal, OutcomeStore, ResultStore
from pegboard.execution.cache import ResultCache
from pegboard.execution.emitter import Emitter
from pegboard.execution.in_flight_calls import Flights
from pegboard.execution.limits.breakers import Breakers
from pegboard.execution.limits.limiters import Limiters


def _unknown(_name: str) -> str:
    return ""


def _nobody(_name: str) -> asyncio.Event | None:
    return None


_IN_MEMORY = cast("ApprovalStore", None)
"""Stands for a store of the kit's own, which tells the time by the kit's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDefaults:
    """Defaults for tools that do not say otherwise; seconds and bytes.

    Attributes:
        attempt_timeout: For one attempt of a tool; 0 for no limit.
        call_timeout: For a whole call with its waits and retries, when the caller gave no deadline;
            0 for no limit.
        longest_wait: For a place under a rate or concurrency limit; at 0 nobody waits, and who
            finds no place is refused at once.
        max_result_bytes: What a result may hold before it is stored and paged; 0 for no limit.
        result_ttl: How long a stored result is kept; at 0 it has expired when its handle is given.
        batch_concurrency: Calls of one batch in flight at once; 0 for no limit.
        approval_ttl: For how long a person's answer is waited for, and then holds; 0 for ever.
        key_lease: Where servers share the outcomes of idempotency keys: for how long a call has its
            key without saying again that it runs; 0 where nobody shares them.
        keep_arguments: Whether what is recorded may quote arguments; else the operator's detail of
            an error is kept without them.
    """

    attempt_timeout: float = 60.0
    call_timeout: float = 300.0
    longest_wait: float = 30.0
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
        approvals: What people are asked and have decided; in memory unless given.
        flights: Calls with a key that run in this process; whoever shares `outcomes` shares these.
        journal: Where the starts of writes are stored first; None keeps none.
        redact: Takes secrets out of text; None when there are none to take out.
        in_flight: Running calls by tool, kept while somebody wants to see them; None keeps none.
        why_absent: Why a tool of this name is not there now; empty when nothing is known of it.
        coming: What is set when it is known whether there is a tool of this name; None when it is
            known now.
    """

    policy: Policy = field(default_factory=Policy)
    switches: Switches = field(default_factory=Switches)
    settings: CallDefaults = field(default_factory=CallDefaults)
    emitter: Emitter = field(default_factory=Emitter)
    results: ResultStore = field(default_factory=MemoryResults)
    outcomes: OutcomeStore = field(default_factory=MemoryOutcomes)
    approvals: ApprovalStore = _IN_MEMORY
    flights: Flights = field(default_factory=Flights)
    journal: Journal | None = None
    cache: ResultCache = field(default_factory=ResultCache)
    limiters: Limiters = field(default_factory=Limiters)
    breakers: Breakers = field(default_factory=Breakers)
    redact: Callable[[str], str] | None = None
    in_flight: dict[str, int] | None = None
    why_absent: Callable[[str], str] = _unknown
    coming: Callable[[str], asyncio.Event | None] = _nobody
    random: Callable[[], float] = random.random
    now: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        if self.approvals is _IN_MEMORY:
            object.__setattr__(self, "approvals", MemoryApprovals(now=self.now))
