"""Opening a board: its parts are made one after another, each from those before it."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pegboard.access import Policy
from pegboard.core.event import BoardChanged
from pegboard.core.ports.audit_store import Prove
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.ports.listener import Listener
from pegboard.core.ports.source import FileReader
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import ConfigError
from pegboard.execution.audit_first import record_in_audit
from pegboard.execution.emitter import Emitter
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.load import LoadedBoard, graph_env
from pegboard.runtime.board_file.model_names import check_models
from pegboard.runtime.board_file.models import EnvValue
from pegboard.runtime.board_file.policy import policy_of
from pegboard.runtime.board_file.sources import check_sources
from pegboard.runtime.board_tools import SOURCE as BOARD
from pegboard.runtime.board_tools import board_tools
from pegboard.runtime.current_board import CurrentBoard
from pegboard.runtime.missing_tools import MissingTools
from pegboard.runtime.registrations.static_tools import StaticTools
from pegboard.runtime.reload_report import refusal_notice, reload_notice
from pegboard.runtime.settings import Settings
from pegboard.runtime.sources.refresher import SourceRefresher
from pegboard.runtime.sources.state import SourceState
from pegboard.runtime.sources.supervisor import SourceSupervisor
from pegboard.runtime.unused_rules import (
    UnusedRule,
    find_unused_rules,
    missing_tools_of,
    refuse_unused_rules,
)
from pegboard.runtime.wiring.agents import create_agents, create_node_kinds
from pegboard.runtime.wiring.board_events import (
    reload_event,
    report_policy_change,
    report_section_changes,
)
from pegboard.runtime.wiring.call_environment import build_call_environment
from pegboard.runtime.wiring.catalogue import CatalogueParts
from pegboard.runtime.wiring.conversations import open_conversations
from pegboard.runtime.wiring.identity import open_identity
from pegboard.runtime.wiring.kill_switches import KillSwitches, open_kill_switches
from pegboard.runtime.wiring.listeners import ClosingListener, create_listeners
from pegboard.runtime.wiring.metrics import create_metrics
from pegboard.runtime.wiring.models import BoardModels
from pegboard.runtime.wiring.pins import PinParts
from pegboard.runtime.wiring.retention import start_retention
from pegboard.runtime.wiring.runs import open_runs
from pegboard.runtime.wiring.services import open_services
from pegboard.runtime.wiring.storage import audit_listeners, create_storage, require_audit
from pegboard.runtime.wiring.subagents import BoardSubagents
from pegboard.runtime.wiring.workspaces import ConversationFolders
from pegboard.tools.import_objects import module_files

if TYPE_CHECKING:
    from pegboard.features.agents import Agents
    from pegboard.features.approvals import Approvals
    from pegboard.features.conversations import Conversations
    from pegboard.features.identity import Identity
    from pegboard.features.plans import Plans
    from pegboard.features.runs import Runs
    from pegboard.observability import Metrics
    from pegboard.sandbox import ProbedSandbox
    from pegboard.storage import Storage


@dataclass(slots=True, kw_only=True)
class OpenBoard:
    """The parts of an open board; made by `open_board`, used by `Pegboard`.

    Attributes:
        current: The board file in force.
        parts: The catalogue, the dependency graph, the marketplaces, and health.
        models: The language models of agents.
        prove: Writes a change into the audit trail before it is made, where that is required.
        stack: Closes all parts in reverse order.
    """

    current: CurrentBoard
    storage: "Storage"
    metrics: "Metrics | None"
    registry: ToolRegistry
    switches: KillSwitches
    identity: "Identity"
    sandbox: "ProbedSandbox"
    pins: PinParts
    sources: SourceSupervisor
    static: StaticTools
    parts: CatalogueParts
    plans: "Plans"
    runs: "Runs"
    approvals: "Approvals"
    agents: "Agents"
    conversations: "Conversations"
    models: BoardModels
    prove: Prove
    stack: AsyncExitStack

    async def reopen(self, loaded: LoadedBoard, *, cause: str = "") -> None:
        """Follow a changed board file; sources whose entry is unchanged stay open.

        Args:
            loaded: The board file as read.
            cause: The other files that have changed, for the report.

        Raises:
            ConfigError: The new board is wrong; nothing has changed then.
            AuditUnavailable: The audit trail is required and cannot take it; nothing has changed.
        """
        states, kit = _by_name(check_sources(loaded)), self.registry.environment
        known = self.current.loaded, dict(self.sources.states)
        names, broken = self.registry.names(), self._find_broken()

        def about() -> BoardChanged:
            return reload_event(known, (loaded, states), at=kit.now())

        async with record_in_audit(self.prove, about, environment=kit, done="reloaded"):
            policy, env = policy_of(loaded), graph_env(loaded)
            check_models(loaded)
            tools = await self._build_static(loaded, states)
            if cause:
                self._refuse_broken(tools, loaded)
            await self._check_rules(loaded, policy, tools, states)
            # nothing below is refused: from here on the new board holds
            self._use(loaded, states, policy=policy, env=env)
            for tool_id in self.static.replace(tools):
                self.parts.health.forget(tool_id)
        await self._follow(states)
        await self.parts.catalogue.load(anew=True)
        self.parts.refresh_soon()
        kit.emitter.emit(
            reload_notice(
                about(),
                cause,
                known[0],
                loaded,
                tools=(names, self.registry.names()),
                broken={
                    name: reason
                    for name, reason in self._find_broken().items()
                    if broken.get(name) != reason
                },
                rules=self.find_unused_rules(),
                at=kit.now(),
            )
        )

    def _find_broken(self) -> dict[str, str]:
        """What is wrong with sources that do not work, by their names."""
        said = {"degraded": "is degraded and keeps its tools", "failed": "failed"}
        return {
            name: f"{said[state.status]}: {state.reason}"
            for name, state in self.sources.states.items()
            if state.status in said
        }

    def list_files(self) -> list[Path]:
        """The modules and scripts that tools are read from; may read folders."""
        loaded = self.current.loaded
        found = [
            path
            for state in list(self.sources.states.values())
            if isinstance(state.source, FileReader)
            for path in state.source.files()
        ]
        for entry in loaded.board.tools:
            if entry.import_:
                found += module_files(entry.import_.partition(":")[0], loaded.base_dir)
            if entry.script_path:
                found.append(loaded.base_dir / entry.script_path)
        return found

    def report_refusal(self, problem: str) -> None:
        """Report why a reload was refused."""
        kit = self.registry.environment
        kit.emitter.emit(refusal_notice(problem, at=kit.now()))

    def find_unused_rules(self) -> list[UnusedRule]:
        """The rules of the policy that match no tool now."""
        loaded = self.current.loaded
        return find_unused_rules(
            self.registry.environment.policy,
            self._specs(),
            loaded=loaded,
            missing=missing_tools_of(self.sources.states.values(), loaded),
        )

    async def close(self) -> None:
        """Close everything in reverse order."""
        await self.stack.aclose()

    async def _build_static(
        self, loaded: LoadedBoard, states: Mapping[str, SourceState]
    ) -> Sequence[Tool]:
        """The tools of the `tools:` list of a board that may replace the current one."""
        tools = await self.static.build(loaded, states)
        before = self.current.loaded.board
        for section in ("network", "sandbox"):
            if getattr(loaded.board, section) != getattr(before, section):
                raise ConfigError(
                    f"{loaded.where((section,))}: a changed {section} requires a restart of the "
                    "server"
                )
        self.static.check(tools, loaded, states)
        await self.parts.check_graph(loaded)
        return tools

    def _refuse_broken(self, tools: Sequence[Tool], loaded: LoadedBoard) -> None:
        """Refuse changed files that would take a working tool of the `tools:` list away.

        Raises:
            ConfigError: There is such a tool; says why it would be unavailable.
        """
        for index, tool in enumerate(tools):
            known = self.registry.find(tool.spec.name)
            if tool.spec.unavailable and known is not None and not known.spec.unavailable:
                where = loaded.where(("tools", index))
                raise ConfigError(f"{where}: '{tool.spec.name}': {tool.spec.unavailable}")

    async def _check_rules(
        self,
        loaded: LoadedBoard,
        policy: Policy,
        static: Sequence[Tool],
        states: Mapping[str, SourceState],
    ) -> None:
        """Refuse a strict policy whose rules match nothing of what is known before the reload.

        Sources that the reload opens have not answered yet, so rules for them are not refused.
        """
        if not loaded.board.policy.strict:
            return
        stay = {n: it for n, it in self.sources.states.items() if self._stays(n, states)}
        try:
            self._check_known(loaded, policy, static, states, stay)
        except ConfigError:  # the files of sources that stay may have changed too
            for name in stay:
                await self.sources.refresh(name)
            self._check_known(loaded, policy, static, states, stay)

    def _check_known(
        self,
        loaded: LoadedBoard,
        policy: Policy,
        static: Sequence[Tool],
        states: Mapping[str, SourceState],
        stay: Mapping[str, SourceState],
    ) -> None:
        specs = [
            spec
            for spec in self._specs()
            if spec.name not in self.static.names
            and (spec.source in {"", BOARD} or spec.source in stay)
        ]
        specs += [tool.spec for tool in static]
        known = [stay.get(name, state) for name, state in states.items()]
        missing = missing_tools_of(known, loaded)
        refuse_unused_rules(
            find_unused_rules(policy, specs, loaded=loaded, missing=missing), loaded
        )

    def _specs(self) -> list[ToolSpec]:
        """All tools, resources and prompts."""
        return [*(tool.spec for tool in self.registry), *self.registry.offers.specs()]

    def _stays(self, name: str, states: Mapping[str, SourceState]) -> bool:
        """Whether a source stays open when the board follows these."""
        known = self.sources.states.get(name)
        return known is not None and name in states and states[name].opener == known.opener

    def _use(
        self,
        loaded: LoadedBoard,
        states: Mapping[str, SourceState],
        *,
        policy: Policy,
        env: Mapping[str, EnvValue],
    ) -> None:
        before, known = self.registry.environment.policy, self.current.loaded
        self.current.replace(loaded, env, states.values())
        masking = self.current.masking
        kit = replace(self.registry.environment, policy=policy, redact=masking.for_calls)
        self.registry.apply(kit)
        report_policy_change(kit, before, policy)
        report_section_changes(kit, known.board, loaded.board)

    async def _follow(self, states: dict[str, SourceState]) -> None:
        known = self.sources.states
        gone = [name for name in known if not self._stays(name, states)]
        for name in gone:
            self.pins.publisher.forget(name)
            self._remove_tools(known[name].tools)
            self.parts.health.forget_source(name)
            self.registry.offers.replace(name, resources=(), prompts=())
            self.registry.environment.breakers.remove(name)
        kept = states.keys() & known.keys() - set(gone)  # their files may have changed
        new = [state for name, state in states.items() if name not in kept]
        await self.sources.follow(gone=gone, kept=sorted(kept), new=new)

    def _remove_tools(self, tools: Sequence[Tool]) -> None:
        for tool in tools:
            if self.registry.find(tool.spec.name) is tool:
                self.registry.remove(tool.spec.name)


async def open_board(
    loaded: LoadedBoard,
    settings: Settings,
    *,
    tools: Sequence[Any],
    listeners: Sequence[Listener],
    metrics: bool,
    brief: bool,
    model: ChatModel | None = None,
) -> OpenBoard:
    """Open storage, listeners, network and sources; all are closed again if one of them fails.

    Raises:
        ConfigError: The board or a setting is wrong.
    """
    states, policy = check_sources(loaded), policy_of(loaded)
    current = CurrentBoard(loaded, settings, states)
    async with AsyncExitStack() as stack:
        # stores
        storage = await stack.enter_async_context(create_storage(settings, redact=current.masking))
        prove = require_audit(settings, storage)
        # environment
        listed: dict[str, SourceState] = {}
        missing = MissingTools(listed)
        closing = _open_listeners(settings, current, stack)
        auditors = audit_listeners(settings, storage, brief=brief)
        emitter = Emitter([storage.listener, *auditors, *closing], guests=listeners)
        stack.callback(emitter.close)
        in_flight: dict[str, int] | None = {} if metrics else None
        counters = None
        if in_flight is not None:
            counters = create_metrics(storage, closing, emitter, in_flight, states=listed)
            emitter.add(counters)
        kit = build_call_environment(
            policy, settings, storage, emitter, current.masking, missing, in_flight=in_flight
        )
        # registry
        registry = ToolRegistry(environment=kit)
        switches = await open_kill_switches(registry, storage, settings, stack, prove=prove)
        # sources
        services, sandbox = open_services(
            loaded, settings, stack, agents=(subagents := BoardSubagents(registry))
        )
        pins = PinParts(
            registry, storage, pinning=lambda: current.loaded.board.pinning, prove=prove
        )
        refresher = SourceRefresher(
            services, timeout=settings.list_timeout, listed=pins.publisher, emitter=emitter
        )
        sources = SourceSupervisor(
            refresher,
            states=listed,
            patience=settings.open_patience,
            on_demand=settings.open_on_demand,
        )
        static = StaticTools(
            registry,
            services,
            within=settings.list_timeout,
            stack=await stack.enter_async_context(AsyncExitStack()),
        )
        await _add_tools(registry, static, tools, loaded=loaded, states=_by_name(states))
        stack.push_async_callback(sources.close)
        if settings.database is not None:
            pins.follow(stack)
        # services
        parts = CatalogueParts(
            registry,
            storage,
            static.handler_context(listed),
            loaded=lambda: current.loaded,
            owner_of_name=missing.owner,
            is_shared=settings.database is not None,
            prove=prove,
        )
        await sources.open(states)
        stack.push_async_callback(parts.close)
        await parts.open()
        # runs
        agents = create_agents(registry, lambda: current.loaded.board.agents)
        models = BoardModels(
            settings,
            environ=services.environ,
            board=lambda: current.loaded.board,
            stack=stack,
            own=model,
        )
        plans, runs, approvals = open_runs(
            registry,
            settings,
            storage,
            stack,
            folders=(folders := ConversationFolders(services.workspaces or Path())),
            parts=parts,
            env=current.env,
            prove=prove,
            kinds=create_node_kinds(
                registry,
                storage,
                models,
                agents,
                settings=settings,
                always_listed=lambda: current.loaded.board.always_listed,
                subagents=subagents,
            ),
        )
        start_retention(settings, storage, kit, stack, folders=folders)
        opened = OpenBoard(
            current=current,
            storage=storage,
            metrics=counters,
            registry=registry,
            switches=switches,
            identity=await open_identity(registry, storage, settings, stack, prove=prove),
            sandbox=sandbox,
            pins=pins,
            sources=sources,
            static=static,
            parts=parts,
            plans=plans,
            runs=runs,
            approvals=approvals,
            agents=agents,
            conversations=await open_conversations(
                registry, storage, runs, agents, stack, models=models.choices, files=folders
            ),
            models=models,
            prove=prove,
            stack=AsyncExitStack(),
        )
        refuse_unused_rules(opened.find_unused_rules(), loaded)
        opened.stack = stack.pop_all()
        return opened


def _open_listeners(
    settings: Settings, current: CurrentBoard, stack: AsyncExitStack
) -> list[ClosingListener]:
    opened: list[ClosingListener] = []
    for listener in create_listeners(settings, current.masking):
        opened.append(listener)
        stack.push_async_callback(asyncio.to_thread, listener.close)
    return opened


async def _add_tools(
    registry: ToolRegistry,
    static: StaticTools,
    own: Sequence[Any],
    *,
    loaded: LoadedBoard,
    states: Mapping[str, SourceState],
) -> None:
    """Add the board's own tools, those of the program, and those of the `tools:` list."""
    listed = await static.build(loaded, states)
    for item in (*board_tools(registry), *own):
        registry.add(item)
    static.check(listed, loaded, states)
    static.replace(listed)


def _by_name(states: Sequence[SourceState]) -> dict[str, SourceState]:
    return {state.name: state for state in states}
