"""Checks the tools that an upstream lists against their approved definitions."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from pegboard.core.event import BoardChanged
from pegboard.core.ports.audit_store import Prove, skip_proof
from pegboard.core.ports.catalogue_stores import HeldDefinition, Pin, PinStore
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError
from pegboard.execution.audit_first import record_in_audit, summarize_names
from pegboard.features.pins.classify import PinClassification
from pegboard.features.pins.definitions import upstream_of
from pegboard.features.pins.held_definitions import details_of, state_of
from pegboard.registry import ToolRegistry
from pegboard.registry.pin_policy import NewPolicy, PinningPolicy

HeldStates = frozenset[tuple[str, str, str]]
"""Name, digest and state of each held definition."""

_LOG = logging.getLogger("pegboard.pins")


@dataclass(frozen=True, slots=True, kw_only=True)
class PinCheckResult:
    """The tools that may be published.

    Attributes:
        standing: Held definitions: name, digest and state of each.
        fault: Why the result could not be stored; empty when it was.
    """

    tools: tuple[Tool, ...]
    standing: HeldStates = frozenset()
    fault: str = ""

    @property
    def waiting(self) -> int:
        """Number of definitions that wait for approval; rejected and blocked ones do not count."""
        return sum(state == "waiting" for _, _, state in self.standing)


class PinCheck:
    """Compares the definitions that upstreams list with the approved ones.

    ```python
    result = await pin_check.check("shop", await source.tools())
    ```

    Args:
        registry: Its clock and listeners are used.
        store: Stores approved and held definitions.
        policy: Returns the policy for changed definitions of a source.
        new: Returns the policy for tools that a source adds later.
        prove: Writes automatic pins to the audit trail first; without it they are not published.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: PinStore,
        *,
        policy: Callable[[str], PinningPolicy],
        new: Callable[[str], NewPolicy],
        prove: Prove = skip_proof,
    ) -> None:
        self._registry = registry
        self._store = store
        self._policy = policy
        self._new = new
        self._prove = prove

    async def check(self, source: str, tools: Sequence[Tool]) -> PinCheckResult:
        """Return the tools that may be published; pin new definitions and hold unapproved ones.

        Raises:
            PegboardError: The store cannot be read, so that the approved definitions are unknown.
        """
        if all(upstream_of(tool) is None for tool in tools):
            return PinCheckResult(tools=tuple(tools))
        pins, held = await self._store.pins(source), await self._store.list_held(source)
        classification = PinClassification(
            source=source,
            at=self._registry.environment.now(),
            policy=self._policy(source),
            new=self._new(source),
            pins={pin.name: pin for pin in pins},
            held={item.name: item for item in held},
        )

        def sort() -> None:
            for tool in tools:
                classification.add(tool)

        await asyncio.to_thread(sort)  # foreign schemas of any size are read and compared
        fault = await self._keep(classification)
        return PinCheckResult(
            tools=tuple(classification.tools),
            standing=frozenset(classification.standing),
            fault=fault,
        )

    async def has_moved(self, source: str, standing: HeldStates) -> bool:
        """Whether a held definition was decided meanwhile, perhaps on another server.

        Raises:
            PegboardError: The store cannot be read.
        """
        names = {name for name, _, _ in standing}
        held = [item for item in await self._store.list_held(source) if item.name in names]
        return standing != frozenset((item.name, item.digest, state_of(item)) for item in held)

    async def _keep(self, classification: PinClassification) -> str:
        fresh = [*classification.first, *classification.accepted]
        try:
            async with self._record_decision(fresh, classification) if fresh else nullcontext():
                await self._store.approve(fresh)
            self._emit_pinned(classification)  # they are pinned, even if holding fails
            await self._store.hold(classification.refused)
            for name in classification.over:
                await self._store.drop(classification.source, name=name)
        except PegboardError as error:
            _LOG.warning(
                "pins: the definitions of %s could not be pinned: %s", classification.source, error
            )
            classification.cannot_pin(f"its definition could not be pinned: {error.message}")
            return f"its definitions could not be pinned: {error.message}"
        self._emit_held(classification)
        return ""

    def _record_decision(
        self, fresh: Sequence[Pin], classification: PinClassification
    ) -> AbstractAsyncContextManager[None]:
        """Write automatic pins to the audit trail, where that is required, before storing."""

        def about() -> BoardChanged:
            return BoardChanged(
                kind="definition",
                action="pin",
                at=classification.at,
                subject=fresh[0].name if len(fresh) == 1 else "",
                detail={
                    **summarize_names((pin.name, pin.digest) for pin in fresh),
                    "source": classification.source,
                },
            )

        return record_in_audit(self._prove, about, environment=self._registry.environment)

    def _emit_pinned(self, classification: PinClassification) -> None:
        if classification.first:
            self._emit(
                "pinned", classification, classification.first[0], count=len(classification.first)
            )
        for pin in classification.accepted:
            self._emit("accepted", classification, pin, digest=pin.digest)

    def _emit_held(self, classification: PinClassification) -> None:
        for held in classification.refused:
            facts = {"digest": held.digest, "kind": details_of(held).get("kind", "")}
            self._emit(
                "held" if state_of(held) == "waiting" else "blocked", classification, held, **facts
            )

    def _emit(
        self,
        action: str,
        classification: PinClassification,
        item: Pin | HeldDefinition,
        **detail: object,
    ) -> None:
        self._registry.environment.emitter.emit(
            BoardChanged(
                kind="definition",
                action=action,
                at=classification.at,
                subject="" if action == "pinned" else str(item.definition.get("name", item.name)),
                detail={"source": classification.source, **detail},
            )
        )
