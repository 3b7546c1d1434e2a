"""Classifies the listed tools of an upstream: approved, changed or new."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegboard.concurrency.log_once import log_once
from pegboard.core.ports.catalogue_stores import Definition, HeldDefinition, Pin
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError
from pegboard.features.pins.definitions import (
    ListedDefinition,
    make_unavailable,
    read_definition,
    withhold,
    withhold_new,
)
from pegboard.features.pins.held_definitions import diff_of, is_new, new_of, outcome_of, state_of
from pegboard.registry.pin_policy import NewPolicy, PinningPolicy, PinVerdict, judge
from pegboard.schemas.tool_definition import digest_of, spec_of

_LOG = logging.getLogger("pegboard.pins")


@dataclass(slots=True, kw_only=True)
class PinClassification:
    """The classification of one list of tools.

    Attributes:
        source: The source that lists them.
        at: Unix seconds.
        pins: Approved definitions, by upstream name.
        held: Held definitions, by upstream name.
        new: Policy for unknown tools, once a source has pins.
        tools: Tools to publish, in the order of the list.
        first: Definitions to pin because they are new.
        accepted: Definitions to pin because the policy accepts the change.
        refused: Definitions to hold.
        over: Names whose held definition is obsolete.
        standing: Name, digest and state of each held definition.
        fresh: Positions in `tools` that are valid only once they are pinned.
    """

    source: str
    at: float
    policy: PinningPolicy
    pins: Mapping[str, Pin]
    held: Mapping[str, HeldDefinition]
    new: NewPolicy = "accept"
    tools: list[Tool] = field(default_factory=list[Tool])
    first: list[Pin] = field(default_factory=list[Pin])
    accepted: list[Pin] = field(default_factory=list[Pin])
    refused: list[HeldDefinition] = field(default_factory=list[HeldDefinition])
    over: list[str] = field(default_factory=list[str])
    standing: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    fresh: list[int] = field(default_factory=list[int])

    def add(self, tool: Tool) -> None:
        """Classify a tool; one whose definition cannot be read becomes unavailable."""
        try:
            item = read_definition(tool)
            found = tool if item is None else self._classify(item)
        except Exception as error:  # noqa: BLE001 - foreign schemas: recorded as the tool's reason
            log_once(_LOG, f"pins: definitions of {self.source} cannot be compared", error)
            reason = error.message if isinstance(error, PegboardError) else type(error).__name__
            found = make_unavailable(tool, f"its definition cannot be compared: {reason}")
        self.tools.append(found)

    def _classify(self, item: ListedDefinition) -> Tool:
        pin = self.pins.get(item.name)
        if pin is None:
            digest = digest_of(item.definition)
            if self.new == "ask" and self.pins:
                return self._hold_new(item, digest)
            self.first.append(self._pin(item.name, digest, item.definition))
            self.fresh.append(len(self.tools))
            return self._let_through(item)
        definition = item.with_pinned_overrides(pin.definition)
        digest = digest_of(definition)
        if digest == pin.digest:
            return self._let_through(item)
        # fields that were not pinned before count as unchanged
        before = {**definition, **pin.definition}
        verdict = judge(spec_of(before), spec_of(definition), self.policy)
        if verdict.is_accepted:
            self.accepted.append(self._pin(item.name, digest, definition))
            self.fresh.append(len(self.tools))
            return self._let_through(item)
        return self._hold_changed(item, pin, definition, digest, verdict)

    def _let_through(self, item: ListedDefinition) -> Tool:
        if item.name in self.held:
            self.over.append(item.name)
        return item.tool

    def _hold_changed(
        self,
        item: ListedDefinition,
        pin: Pin,
        definition: Definition,
        digest: str,
        verdict: PinVerdict,
    ) -> Tool:
        held = self.held.get(item.name)
        if held is None or held.digest != digest or outcome_of(held) != verdict.outcome:
            diff = diff_of(verdict, item.tool.spec.name)
            held = self._hold(item, digest, definition, diff)
        self.standing.add((item.name, held.digest, state_of(held)))
        return withhold(item, pin.definition, verdict, state=state_of(held))

    def _hold_new(self, item: ListedDefinition, digest: str) -> Tool:
        held = self.held.get(item.name)
        if held is None or held.digest != digest or not is_new(held):
            diff = new_of(item.definition, item.tool.spec.name)
            held = self._hold(item, digest, item.definition, diff)
        self.standing.add((item.name, held.digest, state_of(held)))
        return withhold_new(item, state=state_of(held))

    def _hold(
        self, item: ListedDefinition, digest: str, definition: Definition, diff: dict[str, Any]
    ) -> HeldDefinition:
        held = HeldDefinition(
            source=self.source,
            name=item.name,
            digest=digest,
            definition=definition,
            held_at=self.at,
            diff=diff,
        )
        self.refused.append(held)
        return held

    def cannot_pin(self, reason: str) -> None:
        """Make the tools unavailable that could not be pinned."""
        for index in self.fresh:
            self.tools[index] = make_unavailable(self.tools[index], reason)

    def _pin(self, name: str, digest: str, definition: Definition) -> Pin:
        return Pin(
            source=self.source, name=name, digest=digest, definition=definition, approved_at=self.at
        )
