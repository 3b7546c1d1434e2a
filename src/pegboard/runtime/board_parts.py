"""`OpenBoard`: the parts of an open board, and how they follow a changed board file."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.access import Policy
from pegboard.core.event import BoardChanged
from pegboard.core.ports.audit_store import Prove
from pegboard.core.ports.source import FileReader
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import ConfigError
from pegboard.execution.audit_first import record_in_audit
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.load import LoadedBoard, check_env
from pegboard.runtime.board_file.model_names import check_models
from pegboard.runtime.board_file.policy import policy_of
from pegboard.runtime.board_file.sources import check_sources
from pegboard.runtime.board_tools import SOURCE as BOARD
from pegboard.runtime.current_board import CurrentBoard
from pegboard.runtime.registrations.static_tools import StaticTools
from pegboard.runtime.reload_report import refusal_notice, reload_notice
from pegboard.runtime.sources.state import SourceState
from pegboard.runtime.sources.supervisor import SourceSupervisor
from pegboard.runtime.unused_rules import (
    UnusedRule,
    find_unused_rules,
    missing_tools_of,
    refuse_unused_rules,
)
from pegboard.runtime.wiring.accounts.resources import ResourceParts
from pegboard.runtime.wiring.catalogue import CatalogueParts
from pegboard.runtime.wiring.events.board_events import (
    reload_event,
    report_policy_change,
    report_section_changes,
)
from pegboard.runtime.wiring.kill_switches import KillSwitches
from pegboard.runtime.wiring.knowledge import BoardKnowledge
from pegboard.runtime.wiring.models import BoardModels
from pegboard.runtime.wiring.pins import PinParts
from pegboard.runtime.wiring.tool_meanings import BoardToolMeanings
from pegboard.tools.import_objects import module_files

if TYPE_CHECKING:
    from pegboard.features.agents import Agents
    from pegboard.features.approvals import Approvals
    from pegboard.features.conversations import Conversations
    from pegboard.features.credentials import Credentials
    from pegboard.features.files import Files
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
    knowledge: BoardKnowledge
    meanings: BoardToolMeanings
    storage: "Storage"
    metrics: "Metrics | None"
    registry: ToolRegistry
    switches: KillSwitches
    identity: "Identity"
    resources: ResourceParts
    credentials: "Credentials"
    sandbox: "ProbedSandbox"
    pins: PinParts
    sources: SourceSupervisor
    static: StaticTools
    parts: CatalogueParts
    plans: "Plans"
    runs: "Runs"
    approvals: "Approvals"
    agents: "Agents"
    files: "Files"
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
        states, kit = list_by_name(check_sources(loaded)), self.registry.environment
        known = self.current.loaded, dict(self.sources.states)
        names, broken = self.registry.names(), self._find_broken()

        def about() -> BoardChanged:
            return reload_event(known, (loaded, states), at=kit.now())

        async with record_in_audit(self.prove, about, environment=kit, done="reloaded"):
            policy = policy_of(loaded)
            check_env(loaded)
            check_models(loaded)
            tools = await self._build_static(loaded, states)
            if cause:
                self._refuse_broken(tools, loaded)
            await self._check_rules(loaded, policy, tools, states)
            # nothing below is refused: from here on the new board holds
            self._use(loaded, states, policy=policy)
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
    ) -> None:
        before, known = self.registry.environment.policy, self.current.loaded
        self.current.replace(loaded, states.values())
        masking = self.current.masking
        kit = replace(self.registry.environment, policy=policy, redact=masking.for_calls)
        self.registry.apply(kit)
        self.meanings.follow()
        report_policy_change(kit, before, policy)
        report_section_changes(kit, known.board, loaded.board)

    async def _follow(self, states: dict[str, SourceState]) -> None:
        await self.resources.connectors.make_way(states)
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


def list_by_name(states: Sequence[SourceState]) -> dict[str, SourceState]:
    """The sources of a board by their names."""
    return {state.name: state for state in states}
