"""The `Pins` service: lists and decides changed definitions of upstream tools."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from types import MappingProxyType
from typing import Literal

from msgspec import structs

from pegboard.core.event import BoardChanged
from pegboard.core.ports.audit_store import Prove, skip_proof
from pegboard.core.ports.catalogue_stores import HeldDefinition, Pin, PinDecision, PinStore
from pegboard.core.principal import Principal
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import AccessDenied, DefinitionChanged, DefinitionNotHeld
from pegboard.execution.audit_first import record_in_audit, summarize_names
from pegboard.features.paging import KeysetPage, page_of
from pegboard.features.permissions import check_may_change_catalogue, check_may_write
from pegboard.features.pins.held_definitions import details_of, state_of, with_rejection
from pegboard.registry import ToolRegistry

Decision = Literal["approve", "reject"]
_DONE: Mapping[Decision, str] = {"approve": "approved", "reject": "rejected"}
_LOST_RACE = "another decision was made at the same time"


async def _nothing(_source: str) -> None:
    pass


class Pins:
    """The definitions of upstream tools, for callers that may approve them.

    ```python
    for held in (await board.pins.list_held(state="waiting")).items:
        await board.pins.decide(held.source, held.name, "approve", digest=held.digest)
    ```

    Args:
        registry: Its clock and listeners are used.
        store: Stores approved and held definitions.
        decided: Called with the source of each stored decision, to publish its tools again.
        prove: Writes each decision to the audit trail before it takes effect.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: PinStore,
        *,
        decided: Callable[[str], Awaitable[None]] = _nothing,
        prove: Prove = skip_proof,
    ) -> None:
        self._registry = registry
        self._store = store
        self._decided = decided
        self._prove = prove

    async def list_pins(
        self,
        *,
        source: str = "",
        cursor: str = "",
        limit: int = 50,
        principal: Principal,
    ) -> KeysetPage[Pin]:
        """Return one page of approved definitions.

        Raises:
            AccessDenied: The caller lacks the scope.
            InvalidRequest: The cursor is unknown.
        """
        self._check_may_decide(principal, source, "the pins")
        pins = [item for item in await self._store.pins(source) if self._knows(principal, item)]
        return page_of(pins, cursor=cursor, limit=limit)

    async def list_held(
        self,
        *,
        source: str = "",
        state: str = "",
        cursor: str = "",
        limit: int = 50,
        principal: Principal,
    ) -> KeysetPage[HeldDefinition]:
        """Return one page of held definitions: waiting, rejected or blocked.

        Raises:
            AccessDenied: The caller lacks the scope.
            InvalidRequest: The cursor is unknown.
        """
        self._check_may_decide(principal, source, "the pins")
        held = [
            item
            for item in await self._store.list_held(source)
            if state in {"", state_of(item)} and self._knows(principal, item)
        ]
        return page_of(held, cursor=cursor, limit=limit)

    async def get(self, source: str, name: str, *, principal: Principal) -> HeldDefinition:
        """Return the held definition of a tool, by its upstream or its wire name.

        Raises:
            AccessDenied: The caller lacks the scope.
            DefinitionNotHeld: No definition of this tool is held.
        """
        self._check_may_decide(principal, source, name)
        every = await self._store.list_held(source)
        held = [item for item in every if self._knows(principal, item)]
        for names in _NAMES:
            for item in held:
                if names(item) == name:
                    return item
        raise DefinitionNotHeld(
            f"No definition of '{name[:100]}' of the source '{source[:100]}' is held back."
        )

    async def decide(
        self,
        source: str,
        name: str,
        decision: Decision,
        *,
        digest: str,
        principal: Principal,
    ) -> HeldDefinition:
        """Approve a held definition, or reject it and keep the approved one, if any.

        Args:
            source: The source of the tool.
            name: Upstream or wire name of the tool.
            decision: `approve`, or `reject`: the definition is not offered again.
            digest: Digest of the reviewed definition.
            principal: The caller.

        Returns:
            The definition as it was held before the decision.

        Raises:
            AccessDenied: The caller lacks the scope, or the board blocks changes of this source.
            DefinitionNotHeld: No definition is held, or another decision came first.
            DefinitionChanged: Another definition is held by now.
            AuditUnavailable: The audit trail is required and unavailable; nothing is decided.
        """
        held = await self.get(source, name, principal=principal)
        _check_same(held, digest, name)
        if not await self._decide([held], decision, principal):
            by_now = await self.get(source, name, principal=principal)
            _check_same(by_now, digest, name)
            raise DefinitionNotHeld(
                f"Another decision about '{name[:100]}' was made at the same time: its definition "
                f"is now {state_of(by_now)}. Review it again."
            )
        return held

    async def approve_all(self, source: str, *, principal: Principal) -> Sequence[HeldDefinition]:
        """Approve all waiting definitions of a source.

        Definitions that are decided by another request at the same time are left out.

        Raises:
            AccessDenied: The caller lacks the scope.
            DefinitionNotHeld: No definition is waiting.
            AuditUnavailable: The audit trail is required and unavailable; nothing is decided.
        """
        self._check_may_decide(principal, source, source)
        every = await self._store.list_held(source)
        waiting = [item for item in every if _waits(item) and self._knows(principal, item)]
        approved = await self._decide(waiting, "approve", principal)
        if not approved:
            raise DefinitionNotHeld(
                f"No definition of the source '{source[:100]}' is waiting for approval."
            )
        return approved

    def _check_may_decide(self, principal: Principal, source: str, subject: str) -> None:
        """Refuse callers without the scope, but the owner of a connector."""
        row = self._registry.environment.resource_index.find(source)
        if row is not None and principal.user and row.owner == principal.user:
            check_may_write(principal, source)
        else:
            check_may_change_catalogue(principal, source or subject)

    def _knows(self, principal: Principal, item: Pin | HeldDefinition) -> bool:
        """Whether a caller may know of the source of a definition."""
        return not self._registry.environment.resource_index.hides(principal, item.source)

    async def _decide(
        self, held: Sequence[HeldDefinition], decision: Decision, principal: Principal
    ) -> Sequence[HeldDefinition]:
        """Decide the definitions that are still held as they were read, and announce those only."""
        by, now = principal.owner, self._registry.environment.now()
        if decision == "approve":
            for item in held:
                _check_not_blocked(item)
        wanted = [
            PinDecision(
                seen=item,
                then=_pin(item, now, by)
                if decision == "approve"
                else structs.replace(item, diff=with_rejection(item, by)),
            )
            for item in held
        ]
        async with self._record_decision(held, decision, principal) if held else nullcontext():
            done = [kept.seen for kept in await self._store.decide(wanted)]
            for item in done:
                self._announce(_DONE[decision], item, principal)
            if self._prove is not skip_proof:
                names, failure = (
                    {item.name for item in done},
                    {"action": decision, "reason": _LOST_RACE},
                )
                for item in held:
                    if item.name not in names:
                        self._announce("failed", item, principal, more=failure)
        for source in dict.fromkeys(item.source for item in done):
            await self._decided(source)
        return done

    def _record_decision(
        self, held: Sequence[HeldDefinition], decision: Decision, principal: Principal
    ) -> AbstractAsyncContextManager[None]:
        """Write a decision to the audit trail, where that is required, before it is done."""
        kit = self._registry.environment

        def about() -> BoardChanged:
            affected = summarize_names((_tool(item) or item.name, item.digest) for item in held)
            return BoardChanged(
                kind="definition",
                action=decision,
                at=kit.now(),
                subject=affected["names"][0] if len(held) == 1 else "",
                by=principal.id,
                tenant=principal.tenant,
                detail={**affected, "source": held[0].source},
            )

        return record_in_audit(self._prove, about, environment=kit)

    def _announce(
        self,
        action: str,
        item: HeldDefinition,
        principal: Principal,
        *,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        kit = self._registry.environment
        kit.emitter.emit(
            BoardChanged(
                kind="definition",
                action=action,
                at=kit.now(),
                subject=_tool(item) or item.name,
                by=principal.id,
                tenant=principal.tenant,
                detail={"source": item.source, "name": item.name, "digest": item.digest, **more},
            )
        )


def _check_same(held: HeldDefinition, digest: str, name: str) -> None:
    if held.digest != digest:
        raise DefinitionChanged(
            f"The held definition of '{name[:100]}' has changed; its digest is now "
            f"{held.digest}: review its changes first."
        )


def _check_not_blocked(item: HeldDefinition) -> None:
    if state_of(item) == "blocked":
        raise AccessDenied(
            _tool(item) or item.name,
            f"the board blocks changed definitions of '{item.source}': write 'ask' for it under "
            "'pinning:' first",
        )


def _pin(item: HeldDefinition, at: float, by: str) -> Pin:
    return Pin(
        source=item.source,
        name=item.name,
        digest=item.digest,
        definition=item.definition,
        approved_at=at,
        approved_by=by,
    )


def _waits(item: HeldDefinition) -> bool:
    return state_of(item) == "waiting"


def _tool(item: HeldDefinition) -> str:
    return str(details_of(item).get("tool", ""))


def _own(item: HeldDefinition) -> str:
    return item.name


def _action(item: HeldDefinition) -> str:
    return split_wire_name(_tool(item))[1]


_NAMES: tuple[Callable[[HeldDefinition], str], ...] = (_own, _tool, _action)
"""Names that identify a held definition, the most specific first."""
