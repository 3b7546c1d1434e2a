"""`Pegboard`: open a board, use it, close it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from pegboard.access import Explanation, Policy
from pegboard.core.context import Arguments, ToolContext
from pegboard.core.ports.call_stores import History
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.ports.listener import Listener
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.result import ToolResult
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard.execution.wait_for_source import wait_for_source
from pegboard.registry import ToolRegistry
from pegboard.runtime.argument_checks import (
    as_tuple,
    check_policy,
    load_configured_board,
    resolve_settings,
)
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.policy import with_policy
from pegboard.runtime.board_parts import OpenBoard
from pegboard.runtime.open_board import open_board
from pegboard.runtime.reload import BoardReloader
from pegboard.runtime.settings import Settings, environ
from pegboard.runtime.sources.state import SourceState
from pegboard.runtime.unused_rules import UnusedRule
from pegboard.runtime.wiring.events.metrics import render_metrics
from pegboard.runtime.wiring.models import BoardModels

if TYPE_CHECKING:
    from pegboard.features.agents import Agents
    from pegboard.features.approvals import Approvals
    from pegboard.features.audit import Audit
    from pegboard.features.catalogue import CatalogueService, IdempotentRequests
    from pegboard.features.completions import Completions
    from pegboard.features.conversations import Conversations
    from pegboard.features.credentials import Credentials
    from pegboard.features.dependencies import DependencyService
    from pegboard.features.files import Files
    from pegboard.features.health import BoardHealth
    from pegboard.features.identity import Identity
    from pegboard.features.kill_switches import KillSwitches
    from pegboard.features.knowledge import Knowledge
    from pegboard.features.marketplace import Marketplace
    from pegboard.features.pins import Pins
    from pegboard.features.plans import Plans
    from pegboard.features.resources import Resources
    from pegboard.features.runs import Runs
    from pegboard.runtime.settings_report import BoardSection, SettingInForce
    from pegboard.sandbox import Finding


class Pegboard:
    """A board: its sources open, its tools in one registry, its calls recorded.

    ```python
    async with Pegboard("board.yaml", data="data") as board:
        result = await board.call("shop__find_track", {"title": "Thunderstruck"})
    ```

    Args:
        board: The board file; None for the built-in tools alone.
        data: The data directory; None keeps history, results and idempotency keys in memory.
        tools: Further tools to add to those of the file.
        policy: The rules, in place of those of the file; None for those.
        listeners: Listeners that receive each event, in addition to the history.
        metrics: Whether to collect Prometheus metrics, for `render_metrics`.
        settings: None reads `PEGBOARD_*` from the environment.
        brief: Whether the board is opened for a single command: the first state of its sources is
            then left out of the audit trail.
        model: The language model of its agents; None for the one of the settings.
    """

    def __init__(  # noqa: PLR0913 - what a program may give beside the board file
        self,
        board: Path | str | None = None,
        *,
        data: Path | str | None = None,
        tools: Iterable[Any] = (),
        policy: Policy | None = None,
        listeners: Sequence[Listener] = (),
        metrics: bool = False,
        settings: Settings | None = None,
        brief: bool = False,
        model: ChatModel | None = None,
    ) -> None:
        self.settings = resolve_settings(settings, board=board, data=data)
        self._brief = brief
        self._model = model
        self._own_tools = as_tuple("tools", tools)
        self._own_policy = check_policy(policy)
        self._own_listeners = as_tuple("listeners", listeners)
        self._metrics = metrics
        self._opened: OpenBoard | None = None
        self._reloading = BoardReloader(self.settings, self._reopen, refused=self._report_refusal)

    async def __aenter__(self) -> Self:
        """Open.

        Raises:
            ConfigError: The board file or a setting is invalid; the message says where and what to
                write.
        """
        self._opened = await open_board(
            with_policy(load_configured_board(self.settings), self._own_policy),
            self.settings,
            tools=self._own_tools,
            listeners=self._own_listeners,
            metrics=self._metrics,
            brief=self._brief,
            model=self._model,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close sources, then storage; safe to call twice."""
        await self._reloading.close()
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.close()

    @property
    def is_open(self) -> bool:
        """Whether its tools can be called."""
        return self._opened is not None

    @property
    def registry(self) -> ToolRegistry:
        """All tools of the board."""
        return self._open.registry

    @property
    def sources(self) -> list[SourceState]:
        """The sources and their states."""
        return list(self._open.sources.states.values())

    @property
    def history(self) -> History:
        """The history of calls."""
        return self._open.storage.history

    @property
    def approvals(self) -> "Approvals":
        """Approvals of calls: list and decide them."""
        return self._open.approvals

    @property
    def agents(self) -> "Agents":
        """The agents that can be chosen, and which of them can work."""
        return self._open.agents

    @property
    def conversations(self) -> "Conversations":
        """Conversations with agents: send messages and follow the answers."""
        return self._open.conversations

    @property
    def knowledge(self) -> "Knowledge":
        """Knowledge bases: their documents, and questions to them."""
        return self._open.knowledge.service

    @property
    def files(self) -> "Files":
        """Files of people: uploaded, listed, read and deleted."""
        return self._open.files

    @property
    def models(self) -> BoardModels:
        """The language models of its agents, by role and by name."""
        return self._open.models

    @property
    def has_model(self) -> bool:
        """Whether a language model is configured for its agents."""
        return self._open.models.is_configured

    @property
    def completions(self) -> "Completions":
        """Answers of agents to messages that a client keeps itself."""
        from pegboard.features.completions import Completions

        return Completions(self._open.runs, self._open.knowledge)

    @property
    def audit(self) -> "Audit":
        """The audit trail."""
        from pegboard.features.audit import Audit

        storage = self._open.storage
        return Audit(storage.audit, flush=storage.flush)

    @property
    def plans(self) -> "Plans":
        """Makes, checks and stores plans."""
        return self._open.plans

    @property
    def catalogue(self) -> "CatalogueService":
        """Registers, versions and removes tools while the board runs."""
        return self._open.parts.catalogue

    @property
    def marketplace(self) -> "Marketplace":
        """External catalogues: browse, review and add entries."""
        return self._open.parts.marketplace

    @property
    def pins(self) -> "Pins":
        """Approved definitions of upstream tools, and those that wait for approval."""
        return self._open.pins.service

    @property
    def switches(self) -> "KillSwitches":
        """Kill switches: tools and sources turned off for every caller."""
        return self._open.switches

    @property
    def identity(self) -> "Identity":
        """Accounts, organisations and keys, and who the caller of a request is."""
        return self._open.identity

    @property
    def resources(self) -> "Resources":
        """Connectors and agents that people add, change and share."""
        return self._open.resources.service

    def list_connectors(self, *, principal: Principal) -> list[SourceState]:
        """The sources of the connectors that a caller may see, by name."""
        index = self.registry.environment.resource_index
        connectors = self._open.resources.connectors
        rows = index.list_visible(principal, "connector")
        return [connectors.observe(row.name) for row in rows]

    @property
    def credentials(self) -> "Credentials":
        """The credentials of callers: stored, connected, and removed."""
        return self._open.credentials

    @property
    def dependencies(self) -> "DependencyService":
        """The dependency graph of the tools."""
        return self._open.parts.dependencies

    @property
    def tool_health(self) -> "BoardHealth":
        """The health of tools and sources."""
        return self._open.parts.health

    @property
    def once(self) -> "IdempotentRequests":
        """Runs requests once per idempotency key."""
        return self._open.parts.once

    @property
    def runs(self) -> "Runs":
        """Starts, shows and controls runs of plans and graphs."""
        return self._open.runs

    async def resume_interrupted(self) -> None:
        """Resume runs and conversations that no server executes, now and from now on."""
        await self._open.runs.follow()
        await self._open.conversations.recover()
        await self._open.knowledge.recover()

    async def render_metrics(self) -> bytes:
        """The metrics in Prometheus' text format.

        Raises:
            RuntimeError: The board was not opened with `metrics=True`.
        """
        registry = self.registry

        def is_there(name: str) -> bool:
            return registry.find(name) is not None or bool(registry.environment.why_missing(name))

        return await render_metrics(self._open.metrics, self._open.storage, is_there=is_there)

    @property
    def problem(self) -> str:
        """Why the last reload was refused; empty when the board matches its file."""
        return self._reloading.problem

    @property
    def storage_problem(self) -> str:
        """Why the storage could not be read last, or a write failed in the last minute."""
        return self._open.switches.problem or self._open.storage.problem

    async def call(
        self, name: str, arguments: Arguments = None, ctx: ToolContext[Any] | None = None
    ) -> ToolResult:
        """Call a tool of the board."""
        return await self.registry.call(name, arguments, ctx)

    async def flush(self) -> None:
        """Return once the history contains everything that has happened so far."""
        await self._open.storage.flush()

    async def wait_for_sources(self) -> None:
        """Return once each source has answered or timed out."""
        await self._open.sources.wait_until_settled()

    async def wait_for(self, name: str, *, principal: Principal = LOCAL) -> Tool:
        """The tool of a name or id, once the source that the name belongs to has answered.

        Raises:
            ToolNotFound: There is none of which the caller may know.
            SourceUnavailable: Its source is unavailable; the message has the reason.
        """
        await wait_for_source(self.registry.environment, name)
        return self.find(name, principal=principal)

    def find(self, name: str, *, principal: Principal = LOCAL) -> Tool:
        """The tool of a name or id.

        Raises:
            ToolNotFound: There is none of which the caller may know.
            SourceUnavailable: Its source is unavailable; the message has the reason.
        """
        tool = self.registry.find_for(name, principal)
        if tool is not None:
            return tool
        reason = self.registry.environment.why_missing(name)
        if reason:
            raise SourceUnavailable(f"'{name}' is unavailable: {reason}")
        return self.registry.get(name, principal=principal)

    def explain(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        principal: Principal = LOCAL,
        asker: Principal | None = None,
    ) -> Explanation:
        """Why this caller may or may not call a tool, with these arguments or in general.

        `asker` is who is told; by default the caller.

        Raises:
            ToolNotFound: There is no such tool.
            ToolArgumentError: The arguments do not fit.
            SourceUnavailable: Its source is unavailable; the message has the reason.
        """
        if self.registry.find(name) is None:  # its source may say why
            self.find(name, principal=asker or principal)
        return self.registry.explain(name, arguments, principal=principal, asker=asker)

    async def health(self, *, principal: Principal | None = None) -> list[dict[str, Any]]:
        """Check all sources concurrently and return their states with their health.

        Args:
            principal: As for `observe_sources`.
        """
        for name, health in (await self._open.sources.healths()).items():
            self.tool_health.record_source_check(name, health)
        return self.observe_sources(principal=principal)

    def observe_sources(self, *, principal: Principal | None = None) -> list[dict[str, Any]]:
        """The states of all sources with their last known health.

        Args:
            principal: The caller, whom the health tells nothing of tools that it may not see; None
                for an operator.
        """
        return self._open.parts.observe_sources(self.sources, principal=principal)

    def observe_connectors(self, *, principal: Principal) -> list[dict[str, Any]]:
        """The same of the connectors that a caller may see."""
        states = self.list_connectors(principal=principal)
        return self._open.parts.observe_sources(states, principal=principal)

    def report_settings(self) -> "list[SettingInForce]":
        """The settings in force, with where each comes from."""
        from pegboard.runtime.settings_report import report_settings

        return report_settings(self.settings, environ())

    def list_board_sections(self) -> "list[BoardSection]":
        """What the board file in force sets; empty without one."""
        from pegboard.runtime.settings_report import list_board_sections

        return list_board_sections(self._open.current.loaded)

    def find_unused_rules(self) -> list[UnusedRule]:
        """The rules of the policy that match no tool: misspelt, or their source is unavailable."""
        return self._open.find_unused_rules()

    async def sandbox_findings(self) -> "list[Finding]":
        """Probe each back end of the sandbox and return the findings."""
        return await self._open.sandbox.findings()

    def monotonic(self) -> float:
        """The current time of the clock used for deadlines."""
        return self.registry.environment.monotonic()

    async def reload(self) -> None:
        """Read the board file again; if it is invalid, the board is unchanged.

        Raises:
            ConfigError: What is wrong, with its line.
        """
        await self._reloading.reload()

    def watch(self, every: float = 1.0, *, files: bool | None = None) -> None:
        """Reload whenever the board file changes, until the board is closed.

        Args:
            every: Seconds between two checks.
            files: Whether to watch the modules and scripts of its tools too; None does where the
                setting `reload` is `files`.
        """
        watches_files = self.settings.reload == "files" if files is None else files
        self._reloading.watch(every, files=self._list_files if watches_files else None)

    def _list_files(self) -> list[Path]:
        return self._open.list_files()

    async def _reopen(self, loaded: LoadedBoard, cause: str) -> None:
        await self._open.reopen(with_policy(loaded, self._own_policy), cause=cause)

    def _report_refusal(self, problem: str) -> None:
        self._open.report_refusal(problem)

    @property
    def _open(self) -> OpenBoard:
        if self._opened is None:
            raise RuntimeError("the board is not open: use 'async with Pegboard(...) as board'")
        return self._opened
