"""`BoardClient`: what commands ask of a board, whether they open it or a server has it."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from pegboard.cli.client.knowledge_port import KnowledgeClient
    from pegboard.cli.client.rights import QuotasClient, RolesClient
    from pegboard.core.context import Arguments, Progress
    from pegboard.core.ports.accounts.identity_store import PersonChange
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

Answer = dict[str, Any]
"""JSON-compatible data, as the HTTP API answers it."""
Drawing = Literal["svg", "timeline", "mermaid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTools:
    """Complete specs of tools; unavailable ones have the reason as `unavailable`.

    Attributes:
        skipped: Stages of the search that failed: `meaning`, where it was by words only.
    """

    usable: list[Answer]
    unavailable: list[Answer]
    skipped: tuple[str, ...] = ()


class PinsClient(Protocol):
    """The approved and held definitions of upstream tools as commands use them."""

    async def list(self, *, source: str, limit: int, cursor: str) -> Answer:
        """One page of approved definitions."""
        ...

    async def list_held(self, *, source: str, state: str, limit: int, cursor: str) -> Answer:
        """One page of held definitions."""
        ...

    async def show(self, source: str, tool: str) -> Answer:
        """The held definition of a tool."""
        ...

    async def decide(
        self, source: str, tool: str, decision: Literal["approve", "reject"], *, digest: str
    ) -> Answer:
        """Approve or reject a held definition; without a digest whichever is held."""
        ...

    async def approve_all(self, source: str) -> Sequence[Answer]:
        """Approve all definitions of a source that wait."""
        ...


class PeopleClient(Protocol):
    """The accounts of a board as commands use them."""

    @property
    def quotas(self) -> "QuotasClient":
        """The quotas of accounts and organisations."""
        ...

    @property
    def roles(self) -> "RolesClient":
        """The roles of organisations."""
        ...

    async def list(self) -> Answer:
        """The people that the caller may see."""
        ...

    async def make_link(self, person: str, organisation: str, roles: Sequence[str]) -> Answer:
        """Make a one-time link."""
        ...

    async def change(self, person: str, change: "PersonChange") -> Answer:
        """Disable a person, or enable one again."""
        ...

    async def list_sessions(self) -> Answer:
        """The browsers in which the caller is signed in."""
        ...

    async def end_session(self, session: str) -> None:
        """Sign the caller out of one browser; an empty id means all."""
        ...


class ConversationsClient(Protocol):
    """The conversations of a board as commands use them."""

    async def list(self, *, text: str, limit: int, cursor: str) -> Answer:
        """One page of conversations, the last changed first."""
        ...

    async def list_files(self, conversation: str) -> Answer:
        """The files of a conversation."""
        ...

    def follow_last(self, conversation: str, *, if_open: bool) -> "AsyncGenerator[ChatEvent]":
        """The events of the last answer; none where `if_open` and it has ended."""
        ...

    async def answer_question(
        self, conversation: str, question: str, action: str, content: dict[str, Any] | None = None
    ) -> str:
        """Answer what a tool asks, as `accept` or `decline`; the state of the question then."""
        ...

    async def stop(self, conversation: str) -> None:
        """Withdraw what is queued, and stop the answer in progress."""

    async def withdraw(self, conversation: str, message: str) -> None:
        """Withdraw a message that waits for the answer before it."""
        ...

    def read_file(self, conversation: str, path: str) -> "AsyncGenerator[bytes]":
        """The content of a file, piece by piece."""
        ...


ResourceScope = Literal["visible", "waiting", "market"]
ResourceAction = Literal["test", "publish", "withdraw", "review", "install", "uninstall"]


class ResourcesClient(Protocol):
    """Connectors and agents of people, as commands use them; named by name or id."""

    async def list(self, scope: ResourceScope = "visible") -> Answer:
        """Those that the caller sees, may review, or finds in the market."""
        ...

    async def add(self, wanted: Mapping[str, Any]) -> Answer:
        """Add one."""
        ...

    async def change(self, name: str, changes: Mapping[str, Any]) -> Answer:
        """Change one."""
        ...

    async def act(self, name: str, action: ResourceAction, body: Mapping[str, Any]) -> Answer:
        """Test, publish, withdraw, review, install or uninstall one."""
        ...

    async def remove(self, name: str) -> None:
        """Delete one."""
        ...


class FilesClient(Protocol):
    """The caller's files as commands use them."""

    async def list(self, *, limit: int, cursor: str) -> Answer:
        """One page of files, the newest first."""
        ...

    async def show(self, file: str) -> Answer:
        """What is known of a file."""
        ...

    async def upload(
        self,
        path: Path,
        *,
        name: str,
        purpose: str = "",
        organisation: str = "",
        on_progress: "Callable[[int, int], None]",
    ) -> Answer:
        """Store a file of this machine; an interrupted upload of it goes on."""
        ...

    def read(self, file: str) -> "AsyncGenerator[bytes]":
        """The content of a file, piece by piece."""
        ...

    async def delete(self, file: str) -> None:
        """Delete a file."""
        ...


class CredentialsClient(Protocol):
    """The caller's credentials as commands use them."""

    async def list(self) -> Answer:
        """The credentials of the caller."""
        ...

    async def add(self, wanted: Mapping[str, Any]) -> Answer:
        """Store a credential, given as the body of `POST /credentials`."""
        ...

    async def choose(self, id: str) -> Answer:  # noqa: A002 - it is known by its id
        """Make a credential the default of its source."""
        ...

    async def remove(self, id: str) -> Answer:  # noqa: A002 - it is known by its id
        """Remove a credential."""
        ...

    async def rotate(self) -> Answer:
        """Encrypt all credentials with the newest master key."""
        ...


class BoardClient(Protocol):
    """A board as commands use it.

    Every method raises the `PegboardError` that the library raises. A remote board raises
    `Unavailable` when the server cannot be reached, and `ConfigError` for a wrong token.
    """

    @property
    def is_logged(self) -> bool:
        """Whether the log of this process says more about a source than its reason."""
        ...

    @property
    def people(self) -> "PeopleClient":
        """The accounts of the board."""
        ...

    @property
    def pins(self) -> "PinsClient":
        """The approved and held definitions of upstream tools."""
        ...

    @property
    def conversations(self) -> "ConversationsClient":
        """The conversations of the caller."""
        ...

    @property
    def resources(self) -> "ResourcesClient":
        """The connectors and agents of people."""
        ...

    @property
    def files(self) -> "FilesClient":
        """The files of the caller."""
        ...

    @property
    def knowledge(self) -> "KnowledgeClient":
        """The knowledge bases that the caller sees."""
        ...

    @property
    def credentials(self) -> "CredentialsClient":
        """The credentials of the caller."""
        ...

    async def find_tools(self, query: "ToolQuery") -> FoundTools:
        """Find tools; the limit applies to the usable ones."""
        ...

    async def show_tool(self, name: str) -> Answer:
        """The complete spec of a tool."""
        ...

    async def explain_tool(self, name: str, arguments: "Arguments" = None) -> Answer:
        """Why a tool may or may not be called, with these arguments or in general."""
        ...

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
        """Call a tool; a failed call is a result as well."""
        ...

    async def list_sources(self, *, check: bool) -> Answer:
        """The sources, and the `problem` of the board file."""
        ...

    async def read_readiness(self) -> Answer:
        """Whether the board accepts calls, and what is wrong with it."""
        ...

    async def list_calls(self, query: "HistoryQuery") -> Answer:
        """One page of the history."""
        ...

    async def show_error(self, error_id: str) -> Answer | None:
        """The operator's detail behind an error id; None when unknown."""
        ...

    async def make_plan(self, request: "PlanRequest") -> Answer:
        """Make a plan and store it."""
        ...

    async def check_plan(self, document: Mapping[str, Any]) -> Answer:
        """Check a plan or a graph."""
        ...

    async def start_run(
        self, plan: "str | Mapping[str, Any]", params: Mapping[str, Any], *, key: str
    ) -> tuple[Answer, int]:
        """Start a run of a stored plan or a document.

        Returns:
            The run, and the number of its last event if it existed before; else 0.
        """
        ...

    async def list_runs(
        self, *, state: str, limit: int, cursor: str, assigned: bool = False
    ) -> Answer:
        """One page of runs, or of those of others that ask the caller."""
        ...

    async def show_run(self, run_id: str) -> Answer:
        """The current state of a run."""
        ...

    async def draw_run(self, run_id: str, drawing: Drawing) -> str:
        """A run as a picture or a flow chart."""
        ...

    async def wait_for_run(self, run_id: str) -> Answer:
        """The state of a run once it has ended or is suspended."""
        ...

    async def list_agents(self) -> Answer:
        """The agents that can be chosen."""
        ...

    def chat(
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
        ...

    def follow_run(self, run_id: str, *, after: int) -> "AsyncGenerator[RunEvent]":
        """The events of a run after this one, until it has ended."""
        ...

    async def last_event(self, run_id: str) -> int:
        """The number of the last event of a run."""
        ...

    async def control_run(
        self, run_id: str, action: Literal["pause", "resume", "cancel"]
    ) -> Answer:
        """Pause, resume or cancel a run."""
        ...

    async def answer_run(self, run_id: str, pending_id: str, answer: Any) -> Answer:
        """Answer a question of a run."""
        ...

    async def answer_run_question(
        self, run_id: str, question: str, action: str, content: dict[str, Any] | None = None
    ) -> str:
        """Answer what a tool asks, as `accept` or `decline`; the state of the question then."""
        ...

    async def send_to_run(self, run_id: str, event: str, message: Any) -> Answer:
        """Send a run a message."""
        ...

    async def show_graph(
        self,
        *,
        version: int | None = None,
        around: str = "",
        depth: int = 1,
        direction: Literal["both", "prerequisites", "dependants"] = "both",
    ) -> Answer:
        """The dependency graph, or the neighbourhood of a tool."""
        ...

    async def show_breaks(self, tool: str, *, alternatives: bool) -> Answer:
        """The tools that stop working when a tool fails."""
        ...

    async def show_replacements(self, tool: str) -> Answer:
        """Substitutes for a tool."""
        ...

    async def update_graph(self, change: "GraphChange") -> Answer:
        """Change the dependency graph; returns the new one."""
        ...

    async def list_approvals(self, *, state: str, tool: str, limit: int, cursor: str) -> Answer:
        """One page of approvals."""
        ...

    async def show_approval(self, approval: str) -> Answer:
        """An approval."""
        ...

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
        ...

    async def list_switches(self) -> Answer:
        """Everything that is turned off."""
        ...

    async def turn_switch(
        self, turn: Literal["on", "off"], kind: "SwitchKind", name: str, *, reason: str
    ) -> Answer:
        """Turn tools off or on."""
        ...

    async def list_audit(self, *, after: int, kind: str, limit: int) -> list[Answer]:
        """Records of the audit trail."""
        ...

    async def verify_audit(self, anchor: str) -> Answer:
        """Verify the audit trail."""
        ...

    async def list_entries(self, query: "EntryQuery") -> Answer:
        """The entries of the board's marketplaces."""
        ...

    async def review_entry(self, marketplace: str, entry: str, choice: "EntrySelection") -> Answer:
        """Review an entry of a marketplace."""
        ...
