"""Opens the storage of a board without its sources, for offline commands."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.storage import audit_listeners, create_storage, require_audit

if TYPE_CHECKING:
    from pegboard.core.event import Event
    from pegboard.features.approvals import Approvals
    from pegboard.features.audit import Audit
    from pegboard.features.identity import Identity
    from pegboard.features.kill_switches import KillSwitches
    from pegboard.features.pins import Pins


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineBoard:
    """The services that need no tools.

    Attributes:
        tell: Emits an event to the audit trail.
    """

    approvals: "Approvals"
    audit: "Audit"
    identity: "Identity"
    pins: "Pins"
    switches: "KillSwitches"
    tell: "Callable[[Event], None]"


@asynccontextmanager
async def open_offline(settings: Settings) -> AsyncGenerator[OfflineBoard]:
    """Open the storage alone; decisions go into the audit trail.

    Raises:
        ConfigError: The storage cannot be used, or another process uses it.
    """
    from pegboard.execution import CallEnvironment
    from pegboard.execution.emitter import Emitter
    from pegboard.execution.limits.quotas import QuotaMeter
    from pegboard.features.approvals import Approvals
    from pegboard.features.audit import Audit
    from pegboard.features.identity import Identity
    from pegboard.features.identity.passwords import Passwords
    from pegboard.features.kill_switches import KillSwitches
    from pegboard.features.pins import Pins
    from pegboard.features.runs.answers import find_askers
    from pegboard.registry import ToolRegistry

    async with create_storage(settings, redact=None) as opened:
        emitter = Emitter(audit_listeners(settings, opened))
        registry = ToolRegistry(
            environment=CallEnvironment(
                approvals=opened.approvals, emitter=emitter, quotas=QuotaMeter(opened.quotas)
            )
        )
        prove = require_audit(settings, opened)
        identity = Identity(
            opened.identity,
            lambda: registry.environment,
            roles=opened.roles,
            prove=prove,
            passwords=Passwords(memory=settings.password_memory),
        )
        await identity.accounts.load()
        yield OfflineBoard(
            approvals=Approvals(registry, prove=prove, askers=partial(find_askers, opened.runs)),
            audit=Audit(opened.audit, flush=opened.flush),
            identity=identity,
            pins=Pins(registry, opened.pins, prove=prove),
            tell=emitter.emit,
            switches=KillSwitches(registry, opened.switches, prove=prove),
        )
