"""Everything that is open while a board is, wired together."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from pegboard.access import Policy
from pegboard.core.event import BoardChanged
from pegboard.core.ports.listener import Listener
from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.errors import ConfigError
from pegboard.execution import CallEnvironment
from pegboard.execution.audit_first import record_in_audit
from pegboard.execution.emitter import Emitter
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.load import LoadedBoard, graph_env
from pegboard.runtime.board_file.models import EnvValue
from pegboard.runtime.board_file.policy import policy_of
from pegboard.runtime.board_file.sources import checked
from pegboard.runtime.board_tools import board_tools
from pegboard.runtime.missing_tools import MissingTools
from pegboard.runtime.registrations.handlers import Opening
from pegboard.runtime.registrations.static_tools import check_names, static_tools
from pegboard.runtime.secret_mask import Masking
from pegboard.runtime.secret_values import secret_values
from pegboard.runtime.settings import Settings
from pegboard.runtime.sources.state import SourceState
from pegboard.runtime.sources.supervisor import SourceSupervisor
from pegboard.runtime.wiring.approvals import approvals as wired_approvals
from pegboard.runtime.wiring.board_events import about_reload, tell_of_policy, tell_of_sections
from pegboard.runtime.wiring.call_environment import kit as wired_kit
from pegboard.runtime.wiring.catalogue import CatalogueParts
from pegboard.runtime.wiring.kill_switches import KillSwitches, kill_switches
from pegboard.runtime.wiring.listeners import ClosingListener
from pegboard.runtime.wiring.listeners import listeners as wired_listeners
from pegboard.runtime.wiring.metrics import metrics as wired_metrics
from pegboard.runtime.wiring.pins import PinParts
from pegboard.runtime.wiring.retention import retention as wired_retention
from pegboard.runtime.wiring.runs import plans_and_runs
from pegboard.runtime.wiring.services import services
from pegboard.runtime.wiring.storage import audited, proof
from pegboard.runtime.wiring.storage import storage as wired_storage

if TYPE_CHECKING:
    from pegboard.features.approvals import Approvals
    from pegboard.features.plans import Plans
    from pegboard.features.runs import Runs
    from pegboard.observability import Metrics
    from pegboard.sandbox import ProbedSandbox
    from pegboard.storage import Storage


class OpenBoard:
    """An open board; made by `open`, used by `Pegboard`."""

    def __init__(
        self,
        settings: Settings,
        storage: "Storage",
        kit: CallEnvironment,
        *,
        loaded: LoadedBoard,
        own_tools: tuple[Any, ...],
        metrics: "Metrics | None",
    ) -> None:
        self.storage = storage
        self.metrics = metrics
        self.registry = ToolRegistry(kit=kit)
        self._settings = settings
        self._loaded = loaded
        self._own_tools = own_tools
        self._static: tuple[str, ...] = ()
        self._masking = Masking()
        self._env = graph_env(loaded)
        self._prove = proof(settings, storage)
        self._stack, self._entries = AsyncExitStack(), AsyncExitStack()
        self.sources: SourceSupervisor
        self.parts: CatalogueParts
        self.pins: PinParts
        self.switches: KillSwitches
        self.approvals: Approvals
        self.plans: Plans
        self.runs: Runs
        self.sandbox: ProbedSandbox
        self._services: Services

    @classmethod
    async def open(
        cls,
        loaded: LoadedBoard,
        settings: Settings,
        *,
        tools: tuple[Any, ...],
        listeners: Sequence[Listener],
        metrics: bool,
        brief: bool,
    ) -> Self:
        """Open storage, listeners, network and sources; closed again if one of them fails.

        Raises:
            ConfigError: The board or a setting is wrong.
        """
        states, policy = checked(loaded), policy_of(loaded)
        masking = Masking(_secrets(loaded, settings, states))
        async with AsyncExitStack() as stack:
            storage = wired_storage(settings, redact=masking)
            await stack.enter_async_context(storage)
            wired: list[ClosingListener] = []
            for listener in wired_listeners(settings, masking):
                wired.append(listener)
                stack.push_async_callback(asyncio.to_thread, listener.close)
            auditors = audited(settings, storage, brief=brief)
            emitter = Emitter([storage.listener, *auditors, *listeners, *wired])
            kit = wired_kit(policy, settings, storage, emitter, masking)
            counters = None
            if metrics:
                in_flight: dict[str, int] = {}
                kit = replace(kit, in_flight=in_flight)
                counters = wired_metrics(
                    storage, wired, emitter, in_flight, states=lambda: opened.sources.states
                )
                kit.emitter.add(counters)
            opened = cls(settings, storage, kit, loaded=loaded, own_tools=tools, metrics=counters)
            opened._masking = masking
            opened.switches = await kill_switches(opened.registry, storage, settings, stack)
            await opened._fill(stack, states)
            wired_retention(settings, storage, kit, stack)
            opened._stack = stack.pop_all()
        return opened

    async def reopen(self, loaded: LoadedBoard) -> None:
        """Follow a changed file: what is the same stays open.

        Raises:
            ConfigError: The new board is wrong; nothing has changed then.
            AuditUnavailable: The audit trail is required and cannot take it; nothing has changed.
        """
        states, kit = _by_name(checked(loaded)), self.registry.kit
        known = self._loaded, self.sources.states

        def about() -> BoardChanged:
            return about_reload(known, (loaded, states), at=kit.now())

        async with record_in_audit(self._prove, about, kit=kit, done="reloaded"):
            policy, env = policy_of(loaded), graph_env(loaded)
            static = await self._static_of(loaded, states)
            # nothing below is refused: from here on the new board holds
            self._hold(loaded, states, policy=policy, env=env)
            self._put_static(static)
        await self._follow(states)
        await self.parts.catalogue.load(anew=True)
        self.parts.look_again()

    async def _static_of(
        self, loaded: LoadedBoard, states: dict[str, SourceState]
    ) -> Sequence[Tool]:
        """The tools of the `tools:` list of a board that can take the place of this one."""
        static = await static_tools(loaded, self._opening(states))
        if loaded.board.network != self._loaded.board.network:
            raise ConfigError(
                f"{loaded.where(('network',))}: a changed network needs a restart of the server"
            )
        if loaded.board.sandbox != self._loaded.board.sandbox:
            raise ConfigError(
                f"{loaded.where(('sandbox',))}: a changed sandbox needs a restart of the server"
            )
        check_names(static, loaded, sources=states, others=self._others())
        await self.parts.check_graph(loaded)
        return static

    def _hold(
        self,
        loaded: LoadedBoard,
        states: Mapping[str, SourceState],
        *,
        policy: Policy,
        env: Mapping[str, EnvValue],
    ) -> None:
        self._masking.use(_secrets(loaded, self._settings, list(states.values())))
        kit = replace(self.registry.kit, policy=policy, redact=self._masking.for_calls)
        known, self._loaded = self._loaded, loaded
        self._env.clear()
        self._env.update(env)
        before = self.registry.kit.policy
        self.registry.apply(kit)
        tell_of_policy(kit, before, policy)
        tell_of_sections(kit, known.board, loaded.board)

    async def close(self) -> None:
        """Close everything in reverse order."""
        await self._stack.aclose()

    async def _fill(self, stack: AsyncExitStack, states: Sequence[SourceState]) -> None:
        absent = MissingTools(lambda: self.sources.states)
        kit = replace(self.registry.kit, why_absent=absent.why, coming=absent.coming)
        self.registry.apply(kit)
        self._services, self.sandbox = services(self._loaded, self._settings, stack)
        self.pins = PinParts(
            self.registry,
            self.storage,
            pinning=lambda: self._loaded.board.pinning,
            prove=self._prove,
        )
        self.sources = SourceSupervisor(
            self._services,
            timeout=self._settings.list_timeout,
            patience=self._settings.open_patience,
            on_demand=self._settings.open_on_demand,
            listed=self.pins.placing,
            emitter=self.registry.kit.emitter,
        )
        self._entries = await stack.enter_async_context(AsyncExitStack())
        static = await static_tools(self._loaded, self._opening(_by_name(states)))
        for item in (*board_tools(self.registry), *self._own_tools):
            self.registry.add(item)
        check_names(static, self._loaded, sources=_by_name(states), others=self._others())
        self._put_static(static)
        stack.push_async_callback(self.sources.close)
        if self._settings.database is not None:
            self.pins.follow(stack)
        self.parts = self._made_parts(absent)
        await self.sources.open(states)
        stack.push_async_callback(self.parts.close)
        await self.parts.open()
        self.plans, self.runs = plans_and_runs(
            self.registry, self._settings, self.storage, stack, parts=self.parts, env=self._env
        )
        self.approvals = wired_approvals(self.registry, self.runs, stack, prove=self._prove)

    def _made_parts(self, absent: MissingTools) -> CatalogueParts:
        return CatalogueParts(
            self.registry,
            self.storage,
            self._opening(self.sources.states),
            loaded=lambda: self._loaded,
            owner_of_name=absent.owner,
            is_shared=self._settings.database is not None,
            prove=self._prove,
        )

    def _opening(self, states: Mapping[str, SourceState]) -> Opening:
        """What the entries of the `tools:` list and of the API are opened with."""
        return Opening(
            services=self._services,
            within=self._settings.list_timeout,
            stack=self._entries,  # takes what is opened later, and is closed with the board
            servers=lambda: [state.name for state in states.values() if state.kind == "mcp"],
            find=self.registry.find,
        )

    async def _follow(self, states: dict[str, SourceState]) -> None:
        known = self.sources.states
        gone = [n for n, it in known.items() if n not in states or states[n].opener != it.opener]
        for name in gone:
            self.pins.placing.forget(name)
            self._take_off(known[name].tools)
            self.parts.health.forget_source(name)
            self.registry.offers.replace(name, resources=(), prompts=())
            self.registry.kit.breakers.remove(name)
        kept = states.keys() & known.keys() - set(gone)  # their files may have changed
        new = [state for name, state in states.items() if name not in kept]
        await self.sources.follow(gone=gone, kept=sorted(kept), new=new)

    def _others(self) -> set[str]:
        """The names of tools that are not of the `tools:` list."""
        return set(self.registry.names()) - set(self._static)

    def _put_static(self, tools: Sequence[Tool]) -> None:
        for name in self._static:
            self.parts.health.forget(self.registry.remove(name).spec.id)
        self._static = tuple(self.registry.add(tool).spec.name for tool in tools)

    def _take_off(self, tools: Sequence[Tool]) -> None:
        for tool in tools:
            if self.registry.find(tool.spec.name) is tool:
                self.registry.remove(tool.spec.name)


def _by_name(states: Sequence[SourceState]) -> dict[str, SourceState]:
    return {state.name: state for state in states}


def _secrets(
    loaded: LoadedBoard, settings: Settings, states: Sequence[SourceState]
) -> tuple[str, ...]:
    configs = [state.opener.config for state in states if state.opener is not None]
    return (*loaded.secrets, *secret_values([settings, loaded.board, *configs]))
