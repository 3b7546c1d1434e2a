"""`LocalBoard`: a board that the command has opened, or its stored data alone."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pegboard.cli.client.local_parts import LocalParts
from pegboard.cli.client.port import Answer, Drawing, FoundTools
from pegboard.errors import GraphInvalid, PegboardError, ToolNotFound

if TYPE_CHECKING:
    from pegboard.core.context import Arguments, Progress
    from pegboard.core.ports.call_stores import HistoryQuery
    from pegboard.core.ports.kill_switch_store import SwitchKind
    from pegboard.core.ports.run_store import RunEvent
    from pegboard.core.result import ToolResult
    from pegboard.core.tool import Tool
    from pegboard.features.approvals.grants import Scope
    from pegboard.features.conversations import ChatEvent
    from pegboard.features.marketplace import EntryQuery, EntrySelection
    from pegboard.features.runs import RunView
    from pegboard.planning import PlanRequest
    from pegboard.registry.dependencies import DependencyGraph, GraphChange
    from pegboard.registry.search import ToolQuery


class LocalBoard(LocalParts):
    """Implements `BoardClient` on a board of this process; arguments as in `LocalParts`."""

    async def find_tools(self, query: "ToolQuery") -> FoundTools:
        """Find tools; the limit applies to the usable ones."""
        from pegboard.registry.health import why_unavailable

        registry = self._board.registry
        prepared = await registry.prepare_search(query.query, principal=self._caller)
        return FoundTools(
            usable=[tool.spec.to_dict() for tool in registry.search(query, prepared=prepared)],
            skipped=prepared.skipped,
            unavailable=[
                spec.to_dict() | {"unavailable": why_unavailable(spec)}
                for spec in registry.unavailable(query)
            ],
        )

    async def show_tool(self, name: str) -> Answer:
        """The complete spec of a tool."""
        return (await self._find(name)).spec.to_dict()

    async def explain_tool(self, name: str, arguments: "Arguments" = None) -> Answer:
        """Why a tool may or may not be called, with these arguments or in general."""
        wire_name = (await self._find(name)).spec.name
        told = self._board.explain(wire_name, arguments, principal=self._caller)
        user = await self._board.identity.accounts.find(self._caller)
        return told.to_dict() | {"principal_handle": user.handle if user else ""}

    async def call_tool(
        self,
        name: str,
        arguments: "Arguments",
        *,
        key: str | None,
        seconds: float | None,
        on_progress: "Callable[[Progress], None]",
        account: str = "",
    ) -> "ToolResult":
        """Call a tool, once its source has answered."""
        from pegboard.core.context import ToolContext

        ctx: ToolContext[Any] = ToolContext(
            principal=self._caller,
            idempotency_key=key,
            deadline=self._board.monotonic() + seconds if seconds else None,
            on_progress=on_progress,
            account=account,
        )
        with suppress(PegboardError, TimeoutError):  # what is wrong is told by the call
            async with asyncio.timeout(seconds or None):
                await self._find(name)
        return await self._board.call(name, arguments, ctx)

    async def list_sources(self, *, check: bool) -> Answer:
        """The sources, and the `problem` of the board file."""
        board = self._board
        found = await board.health() if check else board.observe_sources()
        if self._principal is not None:  # connectors are listed for a person
            found += board.observe_connectors(principal=self._principal)
        return {"sources": found, "problem": board.problem}

    async def read_readiness(self) -> Answer:
        """Whether the board accepts calls, and what is wrong with it."""
        board = self._board
        rules = [rule.to_dict() for rule in board.find_unused_rules() if rule.protects]
        return {"tools": len(board.registry), "rules": rules, "problem": board.problem}

    async def list_calls(self, query: "HistoryQuery") -> Answer:
        """One page of the history: the caller's calls, with `audit:read` all of its tenant."""
        from msgspec import structs

        from pegboard.features.permissions import AUDIT_SCOPE, find_visible_owners

        owners = find_visible_owners(self._caller, AUDIT_SCOPE, asked=query.principal)
        if owners is None:
            return {"calls": [], "next_cursor": ""}
        query = structs.replace(query, principal=owners.principal, tenant=owners.tenant)
        page = await self._history.calls(query)
        return {"calls": list(page.calls), "next_cursor": page.next_cursor}

    async def show_error(self, error_id: str) -> Answer | None:
        """The operator's detail behind an error id."""
        from pegboard.features.permissions import check_may_read_audit

        check_may_read_audit(self._caller)
        return await self._history.detail(error_id)

    async def make_plan(self, request: "PlanRequest") -> Answer:
        """Make a plan and store it."""
        from pegboard.features.plans.views import show_plan
        from pegboard.rendering.text import mermaid

        return show_plan(await self._board.plans.make(request, principal=self._caller), mermaid)

    async def check_plan(self, document: Mapping[str, Any]) -> Answer:
        """Check a plan or a graph."""
        from pegboard.features.plans.views import show_check
        from pegboard.rendering.text import mermaid

        return show_check(self._board.plans.check(document, principal=self._caller), mermaid)

    async def start_run(
        self, plan: "str | Mapping[str, Any]", params: Mapping[str, Any], *, key: str
    ) -> tuple[Answer, int]:
        """Start a run of a stored plan or a document."""
        began = self._board.registry.environment.now()
        try:
            view = await self._start(plan, params, key)
        except GraphInvalid:
            await self._board.wait_for_sources()  # what a wrong name meant may be listed only now
            view = await self._start(plan, params, key)
        is_new = view.run.start.created_at >= began
        return view.to_dict(), 0 if is_new else await self.last_event(view.id)

    async def list_runs(
        self, *, state: str, limit: int, cursor: str, assigned: bool = False
    ) -> Answer:
        """One page of runs, or of those of others that ask the caller."""
        from pegboard.core.ports.run_store import RunQuery

        runs = self._board.runs
        find = runs.list_for_assignee if assigned else runs.list
        query = RunQuery(state=state, limit=limit, cursor=cursor)
        page = await find(query, principal=self._caller)
        runs = [view.to_dict() for view in page.runs]
        return {"runs": runs, "next_cursor": page.next_cursor or None}

    async def show_run(self, run_id: str) -> Answer:
        """The current state of a run."""
        return (await self._board.runs.get(run_id, principal=self._caller)).to_dict()

    async def draw_run(self, run_id: str, drawing: Drawing) -> str:
        """A run as a picture or a flow chart."""
        from pegboard.rendering import svg, text

        view = await self._board.runs.get(run_id, principal=self._caller)
        match drawing:
            case "svg":
                return svg.chart(view.graph, view.result)
            case "timeline":
                return svg.timeline(view.result)
            case "mermaid":
                return text.mermaid(view.graph, view.result)

    async def wait_for_run(self, run_id: str) -> Answer:
        """The state of a run once it has ended or is suspended."""
        return (await self._board.runs.wait(run_id, principal=self._caller)).to_dict()

    async def list_agents(self) -> Answer:
        """The agents that can be chosen."""
        return {"agents": await self._board.agents.list(principal=self._caller)}

    async def chat(
        self,
        message: str,
        *,
        conversation: str = "",
        agent: str | None = None,
        model: str | None = None,
        engine: str | None = None,
        files: Sequence[Path] = (),
    ) -> "AsyncGenerator[ChatEvent]":
        """Send a message with files; the events of the answer, until it has ended."""
        from pegboard.features.conversations import MessageFile, NewMessage

        given = [MessageFile(name=path.name, data=path.read_bytes()) for path in files]
        conversations = self._board.conversations
        sent = await conversations.send(
            NewMessage(
                text=message,
                conversation=conversation,
                agent=agent,
                model=model,
                engine=engine,
                files=given,
            ),
            principal=self._caller,
        )
        async for event in conversations.follow(
            sent.conversation, until=sent.id, principal=self._caller
        ):
            yield event

    async def follow_run(self, run_id: str, *, after: int) -> "AsyncGenerator[RunEvent]":
        """The events of a run after this one, until it has ended."""
        async for event in self._board.runs.events(run_id, after=after, principal=self._caller):
            yield event

    async def last_event(self, run_id: str) -> int:
        """The number of the last event of a run."""
        return await self._board.runs.last_event(run_id, principal=self._caller)

    async def control_run(
        self, run_id: str, action: Literal["pause", "resume", "cancel"]
    ) -> Answer:
        """Pause, resume or cancel a run."""
        runs = self._board.runs
        act = {"pause": runs.pause, "resume": runs.resume, "cancel": runs.cancel}[action]
        return (await act(run_id, principal=self._caller)).to_dict()

    async def answer_run(self, run_id: str, pending_id: str, answer: Any) -> Answer:
        """Answer a question of a run."""
        return (
            await self._board.runs.answer(run_id, pending_id, answer, principal=self._caller)
        ).to_dict()

    async def answer_run_question(
        self, run_id: str, question: str, action: str, content: dict[str, Any] | None = None
    ) -> str:
        """Answer what a tool asks, as `accept` or `decline`; the state of the question then."""
        return await self._board.runs.questions.answer(
            run_id,
            question,
            "accept" if action == "accept" else "decline",
            content,
            principal=self._caller,
        )

    async def send_to_run(self, run_id: str, event: str, message: Any) -> Answer:
        """Send a run a message."""
        return (
            await self._board.runs.send(run_id, event, message, principal=self._caller)
        ).to_dict()

    async def show_graph(
        self,
        *,
        version: int | None = None,
        around: str = "",
        depth: int = 1,
        direction: Literal["both", "prerequisites", "dependants"] = "both",
    ) -> Answer:
        """The dependency graph, or the neighbourhood of a tool."""
        service = self._board.dependencies
        graph = service.current if version is None else service.at(version)
        if around:
            graph = graph.around(service.node(around), depth=depth, direction=direction)
        return self._graph_dict(graph)

    async def show_breaks(self, tool: str, *, alternatives: bool) -> Answer:
        """The tools that stop working when a tool fails."""
        from pegboard.features.dependencies import find_impact

        board, service = self._board, self._board.dependencies
        certain = (
            partial(board.tool_health.replacements.find_certain, principal=self._caller)
            if alternatives
            else None
        )
        found = find_impact(service.current, service.node(tool), substitutes_of=certain)
        return found.to_dict(service.names(item.tool for item in found.broken))

    async def show_replacements(self, tool: str) -> Answer:
        """Substitutes for a tool."""
        return self._board.tool_health.replacements.find(tool, principal=self._caller).to_dict()

    async def update_graph(self, change: "GraphChange") -> Answer:
        """Change the dependency graph; returns the new one."""
        return self._graph_dict(
            await self._board.dependencies.update(change, origin="cli", principal=self._caller)
        )

    async def list_approvals(self, *, state: str, tool: str, limit: int, cursor: str) -> Answer:
        """One page of approvals."""
        from pegboard.core.ports.approval_store import ApprovalQuery
        from pegboard.features.approvals.schemas import page_to_dict

        query = ApprovalQuery(state=state, tool=tool, limit=limit, cursor=cursor)
        page = await self._stored.approvals.list(query, principal=self._caller)
        ids = {item.principal for item in page.approvals if self._caller.user}
        people = await self._stored.identity.accounts.read_people(ids)
        shown = page_to_dict(page)
        for item in shown["approvals"]:
            if person := people.get(item["principal"]):
                item |= {"principal_name": person.name, "principal_handle": person.handle}
        return shown

    async def show_approval(self, approval: str) -> Answer:
        """An approval; with what it may be approved for where a board is open."""
        from pegboard.features.approvals.schemas import approval_to_dict
        from pegboard.runtime.wiring.offline import OfflineBoard

        found = await self._stored.approvals.get(approval, principal=self._caller)
        data = approval_to_dict(found)
        if not isinstance(self._opened, OfflineBoard):
            runs = [found.run_id] if found.run_id else []
            known = await self._board.conversations.find_of_runs(runs, principal=self._caller)
            grants = self._board.approvals.grants
            data["scopes"] = grants.list_scopes(
                found, known.get(found.run_id), principal=self._caller
            )
        return data

    async def decide_approval(
        self,
        approval: str,
        decision: Literal["approve", "deny", "edit"],
        *,
        note: str,
        arguments: dict[str, Any] | None = None,
        scope: "Scope" = "once",
    ) -> Answer:
        """Decide an approval."""
        from pegboard.features.approvals.schemas import approval_to_dict

        service = self._stored.approvals
        return approval_to_dict(
            await service.decide(
                approval,
                decision,
                note=note,
                arguments=arguments,
                scope=scope,
                principal=self._caller,
            )
        )

    async def list_switches(self) -> Answer:
        """Everything that is turned off."""
        from pegboard.features.kill_switches.schemas import switches_to_dict

        return switches_to_dict(await self._stored.switches.list(principal=self._caller))

    async def turn_switch(
        self, turn: Literal["on", "off"], kind: "SwitchKind", name: str, *, reason: str
    ) -> Answer:
        """Turn tools off or on."""
        from pegboard.features.kill_switches.schemas import switch_to_dict

        service = self._stored.switches
        if turn == "on":
            return switch_to_dict(await service.on(kind, name, principal=self._caller))
        return switch_to_dict(await service.off(kind, name, reason=reason, principal=self._caller))

    async def list_audit(self, *, after: int, kind: str, limit: int) -> list[Answer]:
        """Records of the audit trail."""
        from pegboard.features.audit.schemas import record_to_dict

        records = await self._stored.audit.records(
            after=after, kind=kind, limit=limit, principal=self._caller
        )
        return [record_to_dict(record) for record in records]

    async def verify_audit(self, anchor: str) -> Answer:
        """Verify the audit trail."""
        from pegboard.features.audit.schemas import anchor_of, report_to_dict

        return report_to_dict(
            await self._stored.audit.verify(anchor=anchor_of(anchor), principal=self._caller)
        )

    async def list_entries(self, query: "EntryQuery") -> Answer:
        """The entries of the board's marketplaces."""
        return await self._board.marketplace.browse(query, principal=self._caller)

    async def review_entry(self, marketplace: str, entry: str, choice: "EntrySelection") -> Answer:
        """Review an entry of a marketplace."""
        return dict(
            (
                await self._board.marketplace.review(
                    marketplace, entry, choice, principal=self._caller
                )
            ).shown
        )

    async def _find(self, name: str) -> "Tool":
        """Find a tool by name or id, waiting only for its own source."""
        try:
            return await self._board.wait_for(name)
        except ToolNotFound:
            await self._board.wait_for_sources()
            return self._board.find(name)

    async def _start(
        self, plan: "str | Mapping[str, Any]", params: Mapping[str, Any], key: str
    ) -> "RunView":
        if isinstance(plan, str):
            return await self._board.runs.start_plan(plan, params, key=key, principal=self._caller)
        from pegboard.graphs.documents.read import is_plan, read_graph

        return await self._board.runs.start_graph(
            read_graph(plan), params, key=key, as_plan=is_plan(plan), principal=self._caller
        )

    def _graph_dict(self, found: "DependencyGraph") -> Answer:
        from pegboard.features.dependencies import graph_dict

        return graph_dict(found, self._board.dependencies.names(found.nodes))
