"""What a node kind implements, and what it is given to run a node."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Protocol

from pegboard.core.context import ToolContext
from pegboard.core.elicitation import QuestionRules
from pegboard.core.graph import Graph, Node
from pegboard.core.ports.durability import Signal
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun, PendingStep
from pegboard.core.tool import JsonSchema
from pegboard.graphs.failover import SubstituteFinder
from pegboard.graphs.tool_host import ToolHost

SchemaOf = Callable[[Any], JsonSchema]
Work = Callable[[str], Awaitable[NodeRun]]
"""Work with an effect, given its idempotency key; a failure is returned, not raised."""
Part = Callable[["NodeContext"], Awaitable[NodeRun]]
"""Runs one part of a node, given the context of the part."""


class NodeContext(Protocol):
    """One execution of a node (or of one item or round of it) as its kind sees it.

    Attributes are read-only.
    """

    @property
    def node(self) -> Node:
        """What the graph says of the node."""
        ...

    @property
    def step(self) -> str:
        """The node's path in the run: `fetch`, `inner/fetch`, `each[3]`."""
        ...

    @property
    def address(self) -> str:
        """The path under which the step is stored; the id of what it waits for."""
        ...

    @property
    def deadline(self) -> float | None:
        """On the monotonic clock; None for no limit."""
        ...

    @property
    def ready_at(self) -> float | None:
        """Unix seconds at which the node became ready, equal in every attempt; None if unknown."""
        ...

    @property
    def has_stopped(self) -> bool:
        """Whether its graph has stopped, by a failure or a cancellation.

        False when only the attempt ends because the run cannot be recorded.
        """
        ...

    @property
    def board(self) -> ToolHost:
        """The tools that there are."""
        ...

    @property
    def principal(self) -> Principal:
        """The caller for whom the run is executed."""
        ...

    @property
    def find_substitute(self) -> SubstituteFinder | None:
        """Finds a substitute for unavailable tools; None where tools are never replaced."""
        ...

    @property
    def question_rules(self) -> QuestionRules | None:
        """Whether tools may ask a person; None leaves it to the context of the calls."""
        ...

    @property
    def recorded(self) -> NodeRun | None:
        """How the node ended in an earlier attempt; None when it did not."""
        ...

    def now(self) -> float:
        """Unix seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds on the clock of `deadline`."""
        ...

    def value(self, value: Any, /) -> Any:
        """A value with its paths resolved.

        Raises:
            InvalidRequest: A path leads to nothing.
        """
        ...

    def text(self, text: str, /) -> str:
        """A text with its paths resolved. Raises as `value`."""
        ...

    def arguments(self, given: Mapping[str, Any] | None = None, /) -> dict[str, Any]:
        """The node's input, or another one, with its paths resolved. Raises as `value`."""
        ...

    def call_context(self, key: str, *, instead_of: str = "") -> ToolContext[Any]:
        """The context of one tool call.

        Args:
            key: The idempotency key.
            instead_of: The tool that the called one replaces; empty for none.
        """
        ...

    def report(self, run: NodeRun) -> None:
        """Report a state of the node, or of a part of it, to listeners."""
        ...

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        """Report something that happened in the node; it is stored among the run's events.

        Emit it only from work that runs once over all attempts, so that a replay does not repeat
        it.

        Args:
            kind: The kind of event: `text_delta`, `tool_started`, ...
            data: JSON-compatible data; never a secret.
        """
        ...

    async def wait(self, pending: PendingStep, *, topic: str = "") -> Signal | None:
        """Wait for a signal on a topic until `pending.until`; None when that time has come."""
        ...

    async def receive(self, topic: str, *, until: float) -> Signal | None:
        """Wait for a signal within work that is in progress, which keeps the attempt alive.

        Args:
            topic: The topic, of which one task waits at most.
            until: Unix seconds at which the wait ends with None.
        """
        ...

    def take_signals(self, topic: str) -> list[Signal]:
        """The signals on a topic that have arrived and that nothing waits for.

        Take them in work that runs once, and record their ids with its outcome: a later attempt
        receives them again.
        """
        ...

    async def run_parts(
        self, parts: Mapping[str, Part], *, board: ToolHost | None = None
    ) -> list[NodeRun]:
        """Run parts of the node concurrently; how each ended, in their order.

        A part that fails cancels no other. Each has a context of its own, so that it can wait for
        an approval while others go on.

        Args:
            parts: What to run, by names that are unique in the node.
            board: The tools of the parts; None for those of the node.
        """
        ...

    async def compute_once(self, name: str, make: Callable[[], Any]) -> Any:
        """A value computed in the first attempt and recorded for all others: a time, a choice.

        Raises:
            Stopped: The graph has stopped, and no attempt has computed it.
        """
        ...

    async def report_once(self, name: str, report: Callable[[], None]) -> None:
        """Report something once over all attempts, also when the graph has stopped.

        Args:
            name: Distinguishes it from other recorded values of the node.
            report: Reports it.
        """
        ...

    async def run_once(
        self, work: Work, *, label: str = "", repeatable: bool = True, acts: bool = True
    ) -> NodeRun:
        """Run work with an effect once over all attempts, and record how it ended.

        Work that needs an approval waits for it. Work interrupted in an earlier attempt is run
        again when it is repeatable; otherwise a person is asked what happened.

        Args:
            work: Does it.
            label: Distinguishes it from other work of the same node; empty for the first.
            repeatable: Whether running it twice is as good as once.
            acts: Whether it can have an effect. If so, and it is not repeatable, its start is
                recorded before it runs.
        """
        ...

    async def run_graph(
        self,
        graph: Graph,
        params: Mapping[str, Any],
        *,
        kinds: "Mapping[str, NodeKind] | None" = None,
    ) -> NodeRun:
        """Run a graph within the node.

        Args:
            graph: What to run.
            params: What its `params` schema asks for.
            kinds: Node kinds by name; None for those of the graph around it.

        Raises:
            InvalidRequest: The params do not match the graph's schema.
        """
        ...

    async def record(self, run: NodeRun, *, takes: str = "") -> NodeRun:
        """Record how the node ended, so that later attempts find it as `recorded`.

        Args:
            run: How it ended.
            takes: The id of the signal that ended it.
        """
        ...


class NodeKind(Protocol):
    """One kind of node; a runner is given a table of them by name."""

    @property
    def name(self) -> str:
        """The value of `Node.kind`."""
        ...

    @property
    def fields(self) -> frozenset[str]:
        """Which of `tool`, `graph`, `wait`, `config`, `fallbacks`, `retry` a node may use."""
        ...

    def faults(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """Faults of a node by itself: field, code and message."""
        ...

    def output_schema(self, node: Node, schema_of: SchemaOf) -> JsonSchema | None:
        """JSON Schema of the output; None when it is unknown, or when the tool declares it.

        Args:
            node: The node, without its `for_each`.
            schema_of: Infers the schema of a value with paths in it.
        """
        ...

    async def run(self, context: NodeContext, /) -> NodeRun:
        """Run the node once. A `PegboardError` is a failure of the node.

        Whatever has an effect goes through `NodeContext.run_once`, so that it happens once over
        all attempts of the run.
        """
        ...
