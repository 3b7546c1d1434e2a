"""The `KillSwitches` service: turns tools and sources off and on while servers run."""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pegboard.access import Switches
from pegboard.access.kill_switches import DEFAULT_REASON, Place, subject_of
from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.event import BoardChanged
from pegboard.core.ports.audit_store import AuditEntry, Prove, skip_proof
from pegboard.core.ports.kill_switch_store import Switch, SwitchKind, SwitchStore
from pegboard.core.principal import Principal
from pegboard.core.wire_names import MAX_SOURCE_LENGTH
from pegboard.errors import InvalidRequest, PegboardError, SwitchNotFound, Unavailable
from pegboard.features.permissions import check_may_switch
from pegboard.registry import ToolRegistry
from pegboard.registry.change_notifier import ChangeKind

_LOG = logging.getLogger("pegboard.switches")
_SHOWN: tuple[ChangeKind, ...] = ("tools", "resources", "prompts")
_MAX_NAMED = 10
_FIRST_RETRY = 0.5
_MAX_RETRY = 5.0

PATTERNS: Mapping[SwitchKind, str] = MappingProxyType(
    {
        "tool": r"^[a-zA-Z0-9_*?!\[\]-]{1,200}$",
        "source": rf"^[a-zA-Z0-9_-]{{1,{MAX_SOURCE_LENGTH}}}$",
        "writes": "^$",
    }
)
"""Patterns of valid names; tools may be named by a glob."""
MAX_REASON_LENGTH = 500
MAX_SWITCHES = 1_000
"""Limit of tool switches: each call and each list checks every glob."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchResult:
    """A kill switch as this board sees it.

    Attributes:
        is_off: Whether it is off now; False once it is turned on again.
        is_stored: Whether it is stored, so that every server has it and a restart keeps it.
        tools: Number of tools on this board that it covers; None while no board is open.
    """

    switch: Switch
    is_off: bool = True
    is_stored: bool = True
    tools: int | None = None


class KillSwitches:
    """Turns tools and sources off for every caller on every server, from the next call on.

    ```python
    await board.switches.off("tool", "shop__*", reason="it charges twice", principal=LOCAL)
    await board.switches.on("tool", "shop__*", principal=LOCAL)
    ```

    Args:
        registry: Its switches, clock and listeners are used.
        store: Stores the switches.
        prove: Writes each turning on to the audit trail before it takes effect. Turning off is
            never delayed.
        apply_unsaved: Whether a switch that cannot be stored takes effect in this process anyway,
            and is stored later; else it is refused, as where the process ends with the request.

    Attributes:
        problem: Why the store could not be read the last time; empty when it could.
        unsaved: Switches of this process that are not stored yet; its owner closes it.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: SwitchStore,
        *,
        prove: Prove = skip_proof,
        apply_unsaved: bool = False,
    ) -> None:
        self._registry = registry
        self._store = store
        self._prove = prove
        self._apply_unsaved = apply_unsaved
        self._turn = asyncio.Lock()
        self.unsaved = UnsavedSwitches(store, self._turn, stored=self._use_stored)
        self._kept: Mapping[Place, Switch] = {}
        self._written = 0
        self.problem = ""

    async def list(self, *, principal: Principal) -> Sequence[SwitchResult]:
        """Return what is turned off, by kind and name; last what is off in this process only.

        Raises:
            AccessDenied: The caller lacks the scope.
            Unavailable: The store cannot be read.
        """
        check_may_switch(principal)
        kept: list[SwitchResult] = []
        found, waiting = await self.load(), dict(self.unsaved.waiting)
        for item in found:
            if (item.kind, item.name) not in waiting:  # else a newer switch is waiting
                kept.append(SwitchResult(switch=item, tools=self._count_tools(item)))
            await asyncio.sleep(0)  # counting checks each of thousands of tools
        own = sorted(self._switches.own.items())
        programs = [Switch(kind=kind, name=name, reason=why, at=0.0) for (kind, name), why in own]
        alone = [*waiting.values(), *programs]
        return [
            *kept,
            *(SwitchResult(switch=s, is_stored=False, tools=self._count_tools(s)) for s in alone),
        ]

    async def off(
        self, kind: SwitchKind, name: str = "", *, reason: str = "", principal: Principal
    ) -> SwitchResult:
        """Turn something off: running calls finish, and the next call is refused.

        Args:
            kind: `tool`, `source` or `writes`.
            name: A tool name or a glob over names, a source name, or empty for `writes`.
            reason: Shown to refused callers.
            principal: The caller.

        Returns:
            The switch; `is_stored` is False while it could not be stored.

        Raises:
            AccessDenied: The caller lacks the scope.
            InvalidRequest: The name or the reason is invalid, or too many names are off.
            Unavailable: The switch could not be stored, and is not in effect (without
                `apply_unsaved`).
        """
        check_may_switch(principal)
        _check(kind, name, reason)
        self._check_room(kind, name)
        switch = Switch(
            kind=kind,
            name=name,
            reason=reason or DEFAULT_REASON,
            at=self._registry.environment.now(),
            by=principal.owner,
        )
        detail: dict[str, object] = {"reason": switch.reason}
        if self._apply_unsaved:  # takes effect before anything is awaited
            self.unsaved.add(switch)
            self._use(self._kept)
            self._announce("turned_off", switch, principal, detail)
            is_kept = await self.unsaved.save(switch)
            return SwitchResult(switch=switch, is_stored=is_kept, tools=self._count_tools(switch))
        async with self._turn:
            await self._store.put(switch)
            self._use_stored(switch)
        self._announce("turned_off", switch, principal, detail)
        return SwitchResult(switch=switch, tools=self._count_tools(switch))

    async def on(self, kind: SwitchKind, name: str = "", *, principal: Principal) -> SwitchResult:
        """Turn on what was turned off under the same name.

        Raises:
            AccessDenied: The caller lacks the scope.
            InvalidRequest: The name is invalid.
            SwitchNotFound: Nothing is off under this name; lists what is.
            Unavailable: It could not be audited or stored, and is still off.
        """
        check_may_switch(principal)
        _check(kind, name)
        own = self._switches.own.get(place := (kind, name))
        async with self._turn:
            kept = {(item.kind, item.name): item for item in await self._store.switches()}
            known = self.unsaved.waiting.get(place) or kept.get(place)
            if known is None and own is None:
                raise SwitchNotFound(self._not_off(kind, name))
            gone = known or Switch(kind=kind, name=name, reason=own or "", at=0.0)
            await self._prove(self._about_to("turn_on", gone, principal))
            is_kept = await self._store.remove(kind, name)
            if self.unsaved.drop(gone) or is_kept:
                self._written += 1
                self._use({at: item for at, item in self._kept.items() if at != place})
                self._announce("turned_on", gone, principal, {})
        if own is not None:  # overrules the program that turned it off
            self._switches.turn_on(
                tool=name if kind == "tool" else "",
                source=name if kind == "source" else "",
                writes=kind == "writes",
            )
            self._announce_change()
        return SwitchResult(
            switch=gone, is_off=False, is_stored=is_kept, tools=self._count_tools(gone)
        )

    async def load(self) -> Sequence[Switch]:
        """Apply the stored switches to this board, and return them.

        Raises:
            Unavailable: The store cannot be read; the board stays as it was.
        """
        while True:
            written = self._written
            kept = await self._read()
            if written == self._written:  # else the read may be older than the write
                break
        self._use({(item.kind, item.name): item for item in kept})
        return kept

    async def _read(self) -> Sequence[Switch]:
        try:
            kept = await self._store.switches()
        except PegboardError as error:
            self.problem = str(error)
            raise
        self.problem = ""
        return kept

    @property
    def _switches(self) -> Switches:
        return self._registry.environment.switches

    def _use_stored(self, switch: Switch) -> None:
        """Apply a switch that the store has accepted."""
        self._written += 1
        self._use({**self._kept, (switch.kind, switch.name): switch})

    def _use(self, kept: Mapping[Place, Switch]) -> None:
        self._kept = kept
        if self._switches.set_stored({**kept, **self.unsaved.waiting}.values()):
            self._announce_change()

    def _announce_change(self) -> None:
        """Notify listeners that callers may see other tools now."""
        for kind in _SHOWN:
            self._registry.changes.notify(kind)

    def _check_room(self, kind: SwitchKind, name: str) -> None:
        """Limit the number of tool switches; a source and all writes can always be turned off."""
        if kind != "tool" or (kind, name) in self._kept:
            return
        off = {**self._kept, **self.unsaved.waiting}
        if sum(place[0] == "tool" for place in off) >= MAX_SWITCHES:
            raise InvalidRequest(
                f"{MAX_SWITCHES} names and globs are off already: use a shorter glob, or turn off "
                "the whole source."
            )

    def _not_off(self, kind: SwitchKind, name: str) -> str:
        """Explain why nothing was turned on, and list what is off."""
        sentence = f"Nothing is turned off as '{subject_of(kind, name)}'."
        thrown = ", ".join(f"'{subject_of(*place)}'" for place in sorted(self._kept)[:_MAX_NAMED])
        return f"{sentence} Turned off: {thrown}." if thrown else sentence

    def _count_tools(self, switch: Switch) -> int | None:
        names = self._registry.names()
        if not names:
            return None
        alone = Switches()
        alone.set_stored([switch])
        tools = map(self._registry.find, names)
        return sum(tool is not None and alone.decision(tool.spec) is not None for tool in tools)

    def _about_to(self, action: str, switch: Switch, principal: Principal) -> AuditEntry:
        """The audit entry of a decision before it takes effect."""
        subject = subject_of(switch.kind, switch.name)
        body = {"action": action, "subject": subject, "by": principal.id}
        at = self._registry.environment.now()
        return AuditEntry(kind="decision", at=at, tenant=principal.tenant, body=body)

    def _announce(
        self, action: str, switch: Switch, principal: Principal, detail: dict[str, object]
    ) -> None:
        self._registry.environment.emitter.emit(
            BoardChanged(
                kind="switch",
                action=action,
                at=self._registry.environment.now(),
                subject=subject_of(switch.kind, switch.name),
                by=principal.id,
                tenant=principal.tenant,
                detail=detail,
            )
        )


class UnsavedSwitches:
    """Switches that are in effect in this process and not stored yet.

    Args:
        store: Stores them.
        turn: Held while the store changes, so that a switch that was turned on is not stored again.
        stored: Called with each switch that the store has accepted.
    """

    def __init__(
        self, store: SwitchStore, turn: asyncio.Lock, *, stored: Callable[[Switch], None]
    ) -> None:
        self._store = store
        self._turn = turn
        self._told = stored
        self._waiting: dict[Place, Switch] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> Mapping[Place, Switch]:
        """Switches that are not stored yet."""
        return self._waiting

    def add(self, switch: Switch) -> None:
        """Add a switch."""
        self._waiting[switch.kind, switch.name] = switch

    def drop(self, switch: Switch) -> bool:
        """Remove a switch that was turned on; False if it is not here, or was turned off anew."""
        place = (switch.kind, switch.name)
        if self._waiting.get(place) is not switch:
            return False
        del self._waiting[place]
        return True

    async def save(self, switch: Switch) -> bool:
        """Store a switch, and keep trying in the background if that fails.

        Returns:
            Whether it is stored now.
        """
        try:
            return await self._store_one(switch)
        except PegboardError as error:
            what = subject_of(switch.kind, switch.name)
            _LOG.warning(
                "kill switches: %s is off in this process, but not stored yet: %s", what, error
            )
            return False
        finally:  # also when the caller has disconnected
            if self._waiting and (self._task is None or self._task.done()):
                self._task = asyncio.create_task(self._store_all(), name="keep kill switches")

    async def close(self) -> None:
        """Try to store everything once more, and log what is lost."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        try:
            for switch in list(self._waiting.values()):
                await self._store_one(switch)
        except PegboardError as error:
            left = ", ".join(subject_of(*place) for place in self._waiting)
            _LOG.error("kill switches: not stored, on again after a restart: %s: %s", left, error)

    async def _store_one(self, switch: Switch) -> bool:
        place = (switch.kind, switch.name)
        async with self._turn:
            if self._waiting.get(place) is switch:
                await self._store.put(switch)
                self._told(switch)
                self.drop(switch)
        return place not in self._waiting  # else a newer switch is waiting

    async def _store_all(self) -> None:
        pause = _FIRST_RETRY
        while self._waiting:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MAX_RETRY)
            with log_and_continue(_LOG, "kill switches: a switch is not stored yet"):
                for switch in list(self._waiting.values()):
                    try:
                        await self._store_one(switch)
                    except Unavailable as error:
                        if not error.retryable:  # the store is closed for good
                            return
                        break


def _check(kind: SwitchKind, name: str, reason: str = "") -> None:
    if not is_name(kind, name):
        raise InvalidRequest(NAME_HINTS[kind])
    if len(reason) > MAX_REASON_LENGTH:
        raise InvalidRequest(f"A reason has at most {MAX_REASON_LENGTH} characters.")


def is_name(kind: SwitchKind, name: str) -> bool:
    """Whether a switch of this kind may have this name."""
    return re.match(PATTERNS[kind], name) is not None and not name.endswith("\n")


NAME_HINTS: Mapping[SwitchKind, str] = MappingProxyType(
    {
        "tool": "Give the name of a listed tool, or a glob such as 'shop__*'.",
        "source": "Give the name of a listed source.",
        "writes": "'writes' takes no name.",
    }
)
"""What to write in place of an invalid name."""
