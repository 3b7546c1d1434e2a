"""`RemoteBoard`: the board of a server, over its HTTP API."""

import json
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from pegboard.cli.client.addresses import is_loopback
from pegboard.cli.client.board_requests import BoardRequests
from pegboard.cli.client.call_results import read_object, to_failure, to_object, to_result
from pegboard.cli.client.conversations import RemoteConversations
from pegboard.cli.client.credentials import RemoteCredentials
from pegboard.cli.client.files import RemoteFiles
from pegboard.cli.client.knowledge import RemoteKnowledge
from pegboard.cli.client.people import RemotePeople
from pegboard.cli.client.pins import RemotePins
from pegboard.cli.client.port import Answer, Drawing, FoundTools
from pegboard.cli.client.problems import to_error
from pegboard.cli.client.resources import RemoteResources
from pegboard.errors import ConfigError

if TYPE_CHECKING:
    import httpx2

    from pegboard.core.context import Arguments, Progress
    from pegboard.core.ports.call_stores import HistoryQuery
    from pegboard.core.ports.kill_switch_store import SwitchKind
    from pegboard.core.ports.run_store import RunEvent
    from pegboard.core.result import ToolResult
    from pegboard.features.approvals.grants import Scope
    from pegboard.features.conversations import ChatEvent
    from pegboard.features.marketplace import EntryQuery, EntrySelection
    from pegboard.planning import PlanRequest
    from pegboard.registry.dependencies import GraphChange
    from pegboard.registry.search import ToolQuery

_CONNECT_SECONDS = 10.0
_WAIT_SECONDS = 30.0
"""Seconds that one request waits for a run."""
_PAGE = 500
_MAX_INLINE = 1_000_000
"""Bytes of a file that is sent within its message."""
_RUNNING = frozenset({"pending", "ready", "in_progress"})
_OK = 300


def open_client(url: str, token: str | None, *, is_direct: bool = False) -> "httpx2.AsyncClient":
    """A client of the HTTP API of a server; errors and arguments as in `open_remote_board`."""
    import httpx2

    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx2.AsyncClient(
        base_url=f"{url.rstrip('/')}/v1",
        headers=headers,
        timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
        trust_env=not (is_direct or is_loopback(url)),
    )


@asynccontextmanager
async def open_remote_board(
    url: str, token: str | None, *, is_direct: bool = False
) -> AsyncGenerator["RemoteBoard"]:
    """Open the board of a server.

    Args:
        url: The address of the server, with its path prefix if it has one.
        token: The token to send; None for a server without one.
        is_direct: Whether to ignore the proxies of the environment, as for loopback addresses: a
            proxy would see the token, and may be another machine.
    """
    async with open_client(url, token, is_direct=is_direct) as client:
        yield RemoteBoard(client, url)


class RemoteBoard(BoardRequests):
    """Implements `BoardClient` over the HTTP API.

    Args:
        client: Sends the requests; its base is `/v1` of the server.
        url: The address of the server, for messages.
    """

    @property
    def is_logged(self) -> bool:
        """The log of a server is not that of this process."""
        return False

    @property
    def people(self) -> RemotePeople:
        """The accounts of the server."""
        return RemotePeople(self._ask, self._check, url=self._url)

    @property
    def pins(self) -> RemotePins:
        """The approved and held definitions of upstream tools."""
        return RemotePins(self._ask, self._check)

    @property
    def conversations(self) -> RemoteConversations:
        """The conversations of the caller on the server."""
        return RemoteConversations(
            self._client, self._ask, self._check, self._unreachable, self._stream
        )

    @property
    def resources(self) -> RemoteResources:
        """The connectors and agents of people."""
        return RemoteResources(self._ask, self._check)

    @property
    def files(self) -> RemoteFiles:
        """The files of the caller."""
        return RemoteFiles(self._client, self._ask, self._check, self._unreachable)

    @property
    def knowledge(self) -> RemoteKnowledge:
        """The knowledge bases of the server."""
        return RemoteKnowledge(self._ask, self._check, self.files)

    @property
    def credentials(self) -> RemoteCredentials:
        """The credentials of the caller."""
        return RemoteCredentials(self._ask, self._check)

    async def find_tools(self, query: "ToolQuery") -> FoundTools:
        """Find tools; the limit applies to the usable ones."""
        wanted = {
            "q": query.query,
            "capability": query.capability,
            "tag": list(query.tags),
            "category": query.category,
            "source": query.source,
            "effect": query.effect,
            "status": query.status,
        }
        found: list[Answer] = []
        skipped: tuple[str, ...] = ()
        cursor: str | None = ""
        while cursor is not None:
            page = await self._get(
                "/tools", **wanted, detail=True, unavailable=True, limit=_PAGE, cursor=cursor
            )
            found += page["tools"]
            skipped = tuple(page.get("skipped", ()))
            cursor = page["next_cursor"]
        usable = [spec for spec in found if not spec.get("unavailable")]
        return FoundTools(
            usable=usable[: query.limit],
            unavailable=[spec for spec in found if spec.get("unavailable")],
            skipped=skipped,
        )

    async def show_tool(self, name: str) -> Answer:
        """The complete spec of a tool."""
        return await self._get(f"/tools/{_quote(name)}")

    async def explain_tool(self, name: str, arguments: "Arguments" = None) -> Answer:
        """Why a tool may or may not be called, with these arguments or in general."""
        text = None if arguments is None else json.dumps(to_object(arguments))
        return await self._get(f"/tools/{_quote(name)}/explain", arguments=text)

    async def call_tool(
        self,
        name: str,
        arguments: "Arguments",
        *,
        key: str | None,
        seconds: float | None,
        on_progress: "Callable[[Progress], None]",  # noqa: ARG002 - one answer has no progress
        account: str = "",
    ) -> "ToolResult":
        """Call a tool; its progress is not reported."""
        config = {
            "idempotency_key": key,
            "timeout_ms": seconds * 1000 if seconds else None,
            "account": account,
        }
        body = {
            "name": name,
            "input": to_object(arguments),
            "execution_config": {name: value for name, value in config.items() if value},
        }
        status, answer = await self._ask("POST", "/execute", body=body)
        if status < _OK:
            return to_result(answer)
        error = to_error(status, answer, url=self._url)
        if isinstance(error, ConfigError) or not answer.get("code"):
            raise error  # it is not about the call
        return to_failure(error, answer)

    async def list_sources(self, *, check: bool) -> Answer:
        """The sources, and the `problem` of the board file."""
        return await self._get("/sources", health=check)

    async def read_readiness(self) -> Answer:
        """Whether the server accepts calls, as its probe says it."""
        return await self._get("/readyz")

    async def list_calls(self, query: "HistoryQuery") -> Answer:
        """One page of the history."""
        return await self._get(
            "/history",
            tool=query.tool,
            source=query.source,
            status=query.status,
            run_id=query.run_id,
            instead_of=query.instead_of,
            unfinished=query.unfinished,
            limit=query.limit,
            cursor=query.cursor,
        )

    async def show_error(self, error_id: str) -> Answer | None:
        """The operator's detail behind an error id."""
        status, answer = await self._ask("GET", f"/history/errors/{_quote(error_id)}")
        if answer.get("code") == "not_found":
            return None
        return self._check(status, answer)

    async def make_plan(self, request: "PlanRequest") -> Answer:
        """Make a plan and store it."""
        body: Answer = {"goal": request.goal, "params": dict(request.params)}
        if request.capabilities:
            body["capabilities_needed"] = list(request.capabilities)
        return await self._post("/plan", {name: value for name, value in body.items() if value})

    async def check_plan(self, document: Mapping[str, Any]) -> Answer:
        """Check a plan or a graph."""
        return await self._post("/plan/check", dict(document))

    async def start_run(
        self, plan: "str | Mapping[str, Any]", params: Mapping[str, Any], *, key: str
    ) -> tuple[Answer, int]:
        """Start a run of a stored plan or a document."""
        what = {"plan_id": plan} if isinstance(plan, str) else {"graph": dict(plan)}
        run = await self._post("/runs", {**what, "params": dict(params)}, key=key)
        return run, await self.last_event(run["run_id"]) if key else 0

    async def list_runs(
        self, *, state: str, limit: int, cursor: str, assigned: bool = False
    ) -> Answer:
        """One page of runs, or of those of others that ask the caller."""
        which = {"assigned": "true"} if assigned else {}
        return await self._get("/runs", state=state, limit=limit, cursor=cursor, **which)

    async def show_run(self, run_id: str) -> Answer:
        """The current state of a run."""
        return await self._get(f"/runs/{_quote(run_id)}")

    async def draw_run(self, run_id: str, drawing: Drawing) -> str:
        """A run as a picture or a flow chart."""
        response = await self._send("GET", f"/runs/{_quote(run_id)}", query={"format": drawing})
        if response.status_code >= _OK:
            self._check(response.status_code, read_object(response))
        return response.text

    async def wait_for_run(self, run_id: str) -> Answer:
        """The state of a run once it has ended or is suspended."""
        path = f"/runs/{_quote(run_id)}"
        run = await self._get(path, wait=_WAIT_SECONDS)
        while run["state"] in _RUNNING:
            run = await self._get(path, wait=_WAIT_SECONDS)
        return run

    async def list_agents(self) -> Answer:
        """The agents that can be chosen."""
        return await self._get("/agents")

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
        from pegboard.features.conversations import ChatEvent

        sent_files = [await self._send_file(path) for path in files]
        given: Answer = {"message": message, "conversation": conversation, "agent": agent}
        given |= {"model": model, "engine": engine, "files": sent_files}
        body = {name: value for name, value in given.items() if value}
        async with aclosing(self._stream("POST", "/chat", json=body, timeout=None)) as sent:
            async for _, kind, data in sent:
                yield ChatEvent(event=kind, data=data)

    async def _send_file(self, path: Path) -> Answer:
        """A file of a message; a large one is uploaded before it."""
        if (content := _read_small(path)) is not None:
            return {"name": path.name, "data": b64encode(content).decode()}
        stored = await self.files.upload(
            path, name=path.name, purpose="chat", on_progress=lambda _done, _size: None
        )
        return {"upload": stored["id"], "name": path.name}

    async def follow_run(self, run_id: str, *, after: int) -> "AsyncGenerator[RunEvent]":
        """The events of a run after this one, until it has ended."""
        from pegboard.core.ports.run_store import RunEvent

        path, query = f"/runs/{_quote(run_id)}/events", {"after": after}
        async with aclosing(self._stream("GET", path, params=query)) as sent:
            async for id_, _, item in sent:
                known = {"kind": item.pop("kind"), "at": item.pop("at")}
                yield RunEvent(**known, data=item, sequence=int(id_))

    async def _stream(
        self, method: str, path: str, **options: Any
    ) -> "AsyncGenerator[tuple[str, str, Answer]]":
        """Id, kind and data of the events of a stream in the format of EventSource."""
        import httpx2

        id_ = kind = ""
        try:
            async with self._client.stream(method, path, **options) as response:
                if response.status_code >= _OK:
                    await response.aread()
                    self._check(response.status_code, read_object(response))
                async for line in response.aiter_lines():
                    name, _, value = line.partition(": ")
                    if name == "id":
                        id_ = value
                    elif name == "event":
                        kind = value
                    elif name == "data":
                        yield id_, kind, json.loads(value)
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error

    async def last_event(self, run_id: str) -> int:
        """The number of the last event of a run."""
        response = await self._send("GET", f"/runs/{_quote(run_id)}")
        self._check(response.status_code, read_object(response))
        return int(response.headers.get("Last-Event-ID", 0))

    async def control_run(
        self, run_id: str, action: Literal["pause", "resume", "cancel"]
    ) -> Answer:
        """Pause, resume or cancel a run."""
        return await self._post(f"/runs/{_quote(run_id)}/{action}")

    async def answer_run(self, run_id: str, pending_id: str, answer: Any) -> Answer:
        """Answer a question of a run."""
        body = {"pending_id": pending_id, "answer": answer}
        return await self._post(f"/runs/{_quote(run_id)}/answers", body)

    async def answer_run_question(
        self, run_id: str, question: str, action: str, content: dict[str, Any] | None = None
    ) -> str:
        """Answer what a tool asks, as `accept` or `decline`; the state of the question then."""
        path = f"/runs/{_quote(run_id)}/questions/{_quote(question)}"
        return str((await self._post(path, {"action": action, "content": content}))["state"])

    async def send_to_run(self, run_id: str, event: str, message: Any) -> Answer:
        """Send a run a message."""
        body = {"event": event, "message": message}
        return await self._post(f"/runs/{_quote(run_id)}/messages", body)

    async def show_graph(
        self,
        *,
        version: int | None = None,
        around: str = "",
        depth: int = 1,
        direction: Literal["both", "prerequisites", "dependants"] = "both",
    ) -> Answer:
        """The dependency graph, or the neighbourhood of a tool."""
        return await self._get(
            "/graph", version=version, around=around, depth=depth, direction=direction
        )

    async def show_breaks(self, tool: str, *, alternatives: bool) -> Answer:
        """The tools that stop working when a tool fails."""
        return await self._get("/graph/breaks", tool=tool, alternatives=alternatives)

    async def show_replacements(self, tool: str) -> Answer:
        """Substitutes for a tool."""
        return await self._get(f"/tools/{_quote(tool)}/replacements")

    async def update_graph(self, change: "GraphChange") -> Answer:
        """Change the dependency graph; returns the new one."""
        await self._post(
            "/graph/update",
            {
                "add_nodes": list(change.add_nodes),
                "remove_nodes": list(change.remove_nodes),
                "add_edges": [list(edge) for edge in change.add_edges],
                "remove_edges": [list(edge) for edge in change.remove_edges],
            },
        )
        return await self.show_graph()

    async def list_approvals(self, *, state: str, tool: str, limit: int, cursor: str) -> Answer:
        """One page of approvals."""
        return await self._get("/approvals", state=state, tool=tool, limit=limit, cursor=cursor)

    async def show_approval(self, approval: str) -> Answer:
        """An approval."""
        return await self._get(f"/approvals/{_quote(approval)}")

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
        body: Answer = {"decision": decision, "note": note, "scope": scope}
        if arguments is not None:
            body["arguments"] = arguments
        return await self._post(f"/approvals/{_quote(approval)}", body)

    async def list_switches(self) -> Answer:
        """Everything that is turned off."""
        return await self._get("/switches")

    async def turn_switch(
        self, turn: Literal["on", "off"], kind: "SwitchKind", name: str, *, reason: str
    ) -> Answer:
        """Turn tools off or on."""
        body = {"turn": turn, "kind": kind, "name": name, "reason": reason}
        return await self._post("/switches", body)

    async def list_audit(self, *, after: int, kind: str, limit: int) -> list[Answer]:
        """Records of the audit trail."""
        return (await self._get("/audit", after=after, kind=kind, limit=limit))["records"]

    async def verify_audit(self, anchor: str) -> Answer:
        """Verify the audit trail."""
        return await self._get("/audit/verify", anchor=anchor)

    async def list_entries(self, query: "EntryQuery") -> Answer:
        """The entries of the server's marketplaces."""
        return await self._get(
            "/marketplace",
            query=query.query,
            capability=query.capability,
            marketplace=query.marketplace,
            limit=query.limit,
            cursor=query.cursor,
        )

    async def review_entry(self, marketplace: str, entry: str, choice: "EntrySelection") -> Answer:
        """Review an entry of a marketplace."""
        return await self._get(
            f"/marketplace/{_quote(marketplace)}/{quote(entry)}",
            way=choice.way,
            tools=list(choice.tools),
            name=choice.name,
        )


def _quote(part: str) -> str:
    return quote(part, safe="")


def _read_small(path: Path) -> bytes | None:
    """A file that is sent within its message; None for a larger one."""
    return path.read_bytes() if path.stat().st_size <= _MAX_INLINE else None
